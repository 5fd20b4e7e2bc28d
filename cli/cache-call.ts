import {type CacheReport, type MirrorRequest, openGit, readProfile} from '../cache/index.ts';
import {systemClock} from '../core/clock.ts';
import {BailiffError} from '../core/errors.ts';
import {checkRepositoryName, type RepositoryName} from '../core/ids.ts';
import {parseRepositoryName, readContractPath, readLockWait, toAbsolute} from './arguments.ts';
import {openAuthority} from './authority.ts';
import {CacheProgress} from './cache-progress.ts';
import {replyOfReports} from './cache-reply.ts';
import type {CommandCall, Reply} from './command-spec.ts';
import {readLease} from './lease.ts';
import {withNamedProfile} from './named-profile.ts';
import {stderrStream} from './output.ts';
import {terminalSink} from './progress.ts';
import {withInterrupts} from './work-signals.ts';

const atOnce = 4;

/**
 * Runs one command of `cache` on every repository that was named, at most four at once, with one progress display, and answers with the reports.
 *
 * Refuses: CLI_USAGE, CORE_ID_ codes, CACHE_GIT_MISSING; everything else stands in the reports. Source: authority.md section 6.
 */
export async function onMirrors(call: CommandCall, command: (request: MirrorRequest) => Promise<CacheReport>): Promise<Reply> {
	const {options} = call;
	const contractPath = readContractPath(options);
	const names = readRepositoryNames(call);
	const git = await openGit();
	const profile = options.text('profile');
	const progress = call.isJson ? null : new CacheProgress(terminalSink(stderrStream(), process.env), names.length);
	return withInterrupts(async signal => {
		const work = async (name: RepositoryName): Promise<CacheReport> => {
			const report = await command({
				contractPath,
				name,
				git,
				signal,
				clock: systemClock,
				wait: readLockWait(options),
				onStep: step => progress?.step(name, step),
				...readLease(options, {contractPath, target: name, role: () => (profile === null ? null : readProfile(toAbsolute(profile)).role)}),
				...(profile === null ? {} : {openAuthority: async () => openSession(toAbsolute(profile), git)}),
			});
			progress?.end(name, report.status);
			return withNamedProfile(report, options);
		};
		return replyOfReports(await inTurn(names, work));
	});
}

/** Opens a role and its authority. Refuses: what the profile refuses, CACHE_PROFILE_INVALID for a kind that is not spoken to yet. */
export async function openSession(directory: string, git: MirrorRequest['git']): ReturnType<NonNullable<MirrorRequest['openAuthority']>> {
	const profile = readProfile(directory);
	return {profile, authority: openAuthority(profile, git)};
}

function readRepositoryNames({options}: CommandCall): readonly RepositoryName[] {
	const targets = options.list('target');
	const owner = options.text('owner');
	const repository = options.text('repository');
	if (targets.length === 0 && owner !== null && repository !== null) {
		return [checkRepositoryName({owner, repository})];
	}

	if (targets.length === 0 || owner !== null || repository !== null) {
		throw new BailiffError('CLI_USAGE', 'name the repository by --target OWNER/REPOSITORY, or by --owner and --repository');
	}

	const names = targets.map(target => parseRepositoryName(target));
	if (new Set(targets).size !== targets.length) {
		throw new BailiffError('CLI_USAGE', 'one repository is named twice');
	}

	return names;
}

async function inTurn<Result>(names: readonly RepositoryName[], work: (name: RepositoryName) => Promise<Result>): Promise<Result[]> {
	const results: Result[] = [];
	let next = 0;
	const worker = async (): Promise<void> => {
		for (let index = next++; index < names.length; index = next++) {
			const name = names[index];
			if (name !== undefined) {
				results[index] = await work(name);
			}
		}
	};
	await Promise.all(Array.from({length: Math.min(atOnce, names.length)}, worker));
	return results;
}
