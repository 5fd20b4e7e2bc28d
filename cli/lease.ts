import {type LeaseOpener, openTenancy, readHandle, type TenancyRequest} from '../cache/index.ts';
import {toAbsolute} from './arguments.ts';
import type {OptionValues} from './option-values.ts';

/** Whose work it is; the role is read when the lease is opened, so that its refusal stands in the report. */
export type LeaseQuestion = Pick<TenancyRequest, 'contractPath' | 'target'> & {readonly role: () => string | null};

/** How a command opens the lease of `--handle FILE`, as a part of its request; nothing where it was not given. Source: BR-7. */
export function readLease(options: OptionValues, {contractPath, target, role}: LeaseQuestion): {readonly openLease?: LeaseOpener} {
	const handle = options.text('handle');
	if (handle === null) {
		return {};
	}

	return {
		openLease: async onLost => {
			const known = role();
			return openTenancy({contractPath, handleFile: toAbsolute(handle), target, onLost, ...(known === null ? {} : {role: known})});
		},
	};
}

/** The workflow whose runtime a command writes to: `--run-id ID`, or that of the lease. Refuses: as `readHandle`. Source: C-DEL-1. */
export function readWorkflowId(options: OptionValues): string | null {
	const handle = options.text('handle');
	return options.text('runId') ?? (handle === null ? null : readHandle(toAbsolute(handle)).run_id);
}
