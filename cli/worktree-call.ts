import {openGit, readProfile, type WorktreeReport, type WorktreeRequest, type WorktreeStep} from '../cache/index.ts';
import {holdersText} from '../cache/lock-holders.ts';
import {systemClock} from '../core/clock.ts';
import {readContractPath, readLockWait, readTarget, toAbsolute} from './arguments.ts';
import {openSession} from './cache-call.ts';
import type {CommandCall, Reply} from './command-spec.ts';
import {readLease} from './lease.ts';
import {withNamedProfile} from './named-profile.ts';
import {writeError} from './output.ts';
import {withInterrupts} from './work-signals.ts';
import {replyOfWorktree} from './worktree-reply.ts';

/** What a person waits for. */
const saidSteps: Partial<Readonly<Record<WorktreeStep, string>>> = {
	creating: 'making the checkout',
	removing: 'removing the checkout',
};

/**
 * Runs one command of `worktree` on the issue that was named and answers with its report.
 *
 * Refuses: CLI_USAGE, CORE_ID_ codes, CACHE_GIT_MISSING; everything else stands in the report. Source: authority.md section 6.
 */
export async function onWorktree(call: CommandCall, command: (request: WorktreeRequest) => Promise<WorktreeReport>): Promise<Reply> {
	return withInterrupts(async signal => replyOfWorktree(withNamedProfile(await command(await readWorktreeRequest(call, signal)), call.options)));
}

/** The request that every command on a worktree begins with. Refuses: CLI_USAGE, CORE_ID_ codes, CACHE_ROOT_INVALID, CACHE_GIT_MISSING. */
export async function readWorktreeRequest({options, isJson}: CommandCall, signal: AbortSignal): Promise<WorktreeRequest> {
	const git = await openGit();
	const profile = options.text('profile');
	const contractPath = readContractPath(options);
	const target = readTarget(options);
	return {
		contractPath,
		target,
		...readLease(options, {contractPath, target, role: () => (profile === null ? null : readProfile(toAbsolute(profile)).role)}),
		git,
		signal,
		clock: systemClock,
		wait: {
			...readLockWait(options),
			onWait: ({path, holders, timeoutMs}) => {
				if (!isJson) {
					writeError(`bailiff: waiting up to ${timeoutMs / 1000} s for ${path}, which is ${holdersText(holders)}`);
				}
			},
		},
		onStep: step => {
			const said = saidSteps[step];
			if (said !== undefined && !isJson) {
				writeError(`bailiff: ${said}`);
			}
		},
		...(profile === null ? {} : {openAuthority: async () => openSession(toAbsolute(profile), git)}),
	};
}
