import {brokerLimits, brokerRolePattern, type LeaseEnd, serveBroker} from '../../cache/index.ts';
import {BailiffError} from '../../core/errors.ts';
import {readContractPath, readLockWait, readTarget} from '../arguments.ts';
import type {CommandCall, Reply} from '../command-spec.ts';
import {type ExitCode, exitCodeOf, exitCodes, isBailiffError} from '../exit-codes.ts';
import type {OptionValues} from '../option-values.ts';
import {writeJson} from '../output.ts';
import {withInterrupts} from '../work-signals.ts';

/** `bailiff broker serve`: takes the issue lock, says in one line of JSON where it listens, and serves until the lease ends (BR-1). */
export async function brokerServe(call: CommandCall): Promise<Reply> {
	const {options} = call;
	const request = {
		contractPath: readContractPath(options),
		target: readTarget(options),
		role: readRole(options),
		runId: options.required('runId'),
		ttlSeconds: readTtl(options),
	};
	const lifeline = options.flag('lifeline') ? openLifeline() : null;
	try {
		return await withInterrupts(async signal => {
			const end = await serveBroker({
				...request,
				wait: {...readLockWait(options), signal},
				...(lifeline === null ? {} : {lifeline}),
				onReady: ready => {
					writeJson(ready);
				},
			});
			return replyOf(end, signal.reason);
		});
	} finally {
		if (lifeline !== null) {
			process.stdin.destroy();
		}
	}
}

/** `--ttl SECONDS`, 900 unless given. Refuses: CLI_USAGE. */
export function readTtl(options: OptionValues): number {
	const ttl = options.number('ttl') ?? brokerLimits.defaultTtlSeconds;
	if (ttl < brokerLimits.minTtlSeconds || ttl > brokerLimits.maxTtlSeconds) {
		throw new BailiffError('CLI_USAGE', `--ttl is ${brokerLimits.minTtlSeconds} to ${brokerLimits.maxTtlSeconds} seconds, not ${ttl}`);
	}

	return ttl;
}

function readRole(options: OptionValues): string {
	const role = options.required('role');
	if (!brokerRolePattern.test(role)) {
		throw new BailiffError('CLI_USAGE', 'a role has 1 to 64 lower-case ASCII letters, digits or "-" and starts with a letter');
	}

	return role;
}

function openLifeline(): AbortSignal {
	const controller = new AbortController();
	const cut = (): void => {
		controller.abort();
	};
	process.stdin.on('end', cut).on('close', cut).on('error', cut).resume();
	return controller.signal;
}

function replyOf(end: LeaseEnd, reason: unknown): Reply {
	switch (end) {
		case 'released':
			return {exitCode: exitCodes.yes, json: {}, text: '', isAnswered: true};
		case 'lifeline':
			return endedBy(exitCodes.yes, 'stdin ended, and the lease with it');
		case 'expired':
			return endedBy(exitCodes.uncertain, 'the lease was not renewed in time');
		case 'holder-lost':
			return endedBy(exitCodes.uncertain, 'the holder of the lease went away without releasing it');
		case 'signal':
			return endedBy(isBailiffError(reason) ? exitCodeOf(reason) : exitCodes.uncertain, 'a signal ended the lease');
		default:
			return end satisfies never;
	}
}

function endedBy(exitCode: ExitCode, why: string): Reply {
	return {exitCode, json: {}, text: '', isAnswered: true, note: `bailiff: ${why}: every lock was given back`};
}
