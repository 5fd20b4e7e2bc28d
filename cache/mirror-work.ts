import type {Clock} from '../core/clock.ts';
import {BailiffError} from '../core/errors.ts';
import type {RepositoryName} from '../core/ids.ts';
import {type AuthoritySession, type AuthorityState, identityOf, readAuthorityState} from './authority-state.ts';
import type {Git} from './git-command.ts';
import {type RepositoryPaths, repositoryPaths} from './layout.ts';
import {type LeaseOpener, underLease} from './leased-work.ts';
import type {LockWait} from './lock.ts';
import {type HeldLock, LockSession} from './lock-session.ts';
import type {LeaseLocks} from './lock-source.ts';
import {type CacheReport, type ReportDraft, type ReportStatus, reportOn} from './report.ts';
import {openRoot, rootOf} from './root.ts';

/** What a command is doing now, for a progress display. */
export type MirrorStep = 'authority' | 'waiting' | 'checking' | 'cloning' | 'fetching' | 'verifying' | 'publishing' | 'repacking';

/** One call of a command on one mirror. */
export type MirrorRequest = {
	readonly contractPath: string;
	readonly name: RepositoryName;
	readonly git: Git;
	/** Opens role and authority; called once. Its refusal becomes the report's. Absent only where a command can do without. */
	readonly openAuthority?: () => Promise<AuthoritySession>;
	readonly wait?: LockWait;
	readonly clock?: Clock;
	readonly signal?: AbortSignal;
	readonly onStep?: (step: MirrorStep) => void;
	/** Opens a broker's lease on an issue of this repository, under which the command then works (BR-7). */
	readonly openLease?: LeaseOpener;
};

/** A request at work: places, locks and report. */
export type MirrorWork = {
	readonly request: MirrorRequest;
	readonly paths: RepositoryPaths;
	readonly locks: LockSession;
	/** The lease that the locks come from, where there is one. */
	readonly lease: LeaseLocks | undefined;
	readonly draft: ReportDraft;
};

/**
 * Opens the root, does the work, gives every lock back and returns the report whole.
 *
 * Refuses (thrown): CORE_ID_ codes and bugs alone. Source: C-ROOT-1..4, C-LOCK-6, authority.md section 6.
 */
export async function workOnMirror(request: MirrorRequest, draft: ReportDraft, work: (work: MirrorWork) => Promise<ReportStatus>): Promise<CacheReport> {
	const paths = repositoryPaths(rootOf(request.contractPath).root, request.name);
	draft.cache.path = paths.mirror;
	return reportOn(draft, async () => {
		openRoot(request.contractPath);
		return underLease(request, async (leased, lease) => {
			const locks = new LockSession(paths, lease);
			try {
				return await work({request: leased, paths, locks, lease, draft});
			} finally {
				await locks.release();
			}
		});
	});
}

/** Reads the authority and says so in the report; null without a profile. Refuses: what opening and `readAuthorityState` refuse. */
export async function readAuthorityFor({request, draft}: MirrorWork): Promise<AuthorityState | null> {
	if (request.openAuthority === undefined) {
		return null;
	}

	request.onStep?.('authority');
	const session = await request.openAuthority();
	const state = await readAuthorityState(session, request.name);
	draft.identity = identityOf(state);
	draft.repository = {...draft.repository, id: state.repository.id};
	draft.defaultBranch.name = state.defaultBranch;
	draft.credential.used = state.access.readToken !== null;
	draft.credential.channel = state.access.readToken === null ? 'none' : 'askpass';
	return state;
}

/** The same for a command that cannot do without. Refuses: also CACHE_PROFILE_INVALID where no profile was given. */
export async function requireAuthorityFor(work: MirrorWork): Promise<AuthorityState> {
	const state = await readAuthorityFor(work);
	if (state === null) {
		throw new BailiffError('CACHE_PROFILE_INVALID', 'this command needs a profile: give --profile DIR');
	}

	return state;
}

/** Takes the repository lock, alone or inside the outer one that the caller holds. Refuses: CACHE_LOCK_ codes. Source: C-SYNC-1. */
export async function takeRepositoryLock({request, locks, lease, draft}: MirrorWork): Promise<HeldLock> {
	if (lease !== undefined) {
		await locks.issue(lease.issueLock);
		draft.locks.push('issue');
	}

	const lock = await locks.repository(waitOf(request));
	draft.locks.push('repository');
	return lock;
}

/** How to wait for a lock: as asked, and said as a step. */
export function waitOf({wait = {}, signal, onStep}: MirrorRequest): LockWait {
	return {
		...wait,
		...(signal === undefined ? {} : {signal}),
		onWait: busy => {
			onStep?.('waiting');
			wait.onWait?.(busy);
		},
	};
}
