import {BailiffError} from '../core/errors.ts';
import {type ForegroundEnd, spawnForeground} from '../runner/spawn.ts';
import {descriptorsOf} from './lock-session.ts';
import type {Profile} from './profile.ts';
import {type ReadyLook, requireReady} from './worktree-look.ts';
import {newWorkflowId, writeWorktreeRecord} from './worktree-record.ts';
import {unreadWorktree, type WorktreeReport} from './worktree-report.ts';
import {requireOwnRole, standingProblems} from './worktree-standing.ts';
import {
	inspectFor,
	lookFor,
	readMirrorFor,
	takeIssueLock,
	takeRepositoryLock,
	type WorktreeRequest,
	type WorktreeWork,
	workOnWorktree,
} from './worktree-work.ts';

/** A command of a person or an agent, to be run in the worktree under the issue lock. */
export type ExecRequest = WorktreeRequest & {
	/** Whose worktree it is, and whom commits name as author. The authority is not asked. */
	readonly profile: Profile;
	readonly argv: readonly string[];
	/** What the command inherits; ours is put over it. */
	readonly environment: Readonly<Record<string, string>>;
	/** Where the command's own output goes. */
	readonly stdout: 'inherit' | 'stderr';
	/** Into whose runtime the records go; a new one where absent. */
	readonly runId?: string;
	/** Told when the command runs: hands over how to signal it. */
	readonly onStarted?: (signal: (name: NodeJS.Signals) => void) => void;
};

/** How the command ended, and where it is recorded what the worktree held before and after. */
export type ExecResult = {readonly report: WorktreeReport; readonly end: ForegroundEnd | null; readonly records: readonly string[]};

/** A tool that finds these would work on another repository, or speak with somebody else's credential. */
const droppedNames = /^(?:GIT_(?!TRACE|PAGER|EDITOR|SEQUENCE_EDITOR)|(?:GITEA|GITHUB|GH|GITLAB)_TOKEN$)/;

/**
 * Runs a command in the worktree of an issue and holds the issue lock for as long as it runs; its exit code is data: `bailiff worktree exec`.
 *
 * The lock's descriptor goes to the command: killing bailiff does not free the issue while it works. Under a lease the broker holds the lock: where it is lost, the command gets TERM. It gets HUSKY=0 and its identity as author and
 * committer by environment, since a setting would be written into the mirror's config. Refuses (in the report): as resume, without the authority; an
 * unfinished operation is no hindrance, since it is finished here. Source: C-LOCK-4, C-DEL-1, C-HARD-2, C-HARD-5, C-CRED-2.
 */
export async function execInWorktree(request: ExecRequest): Promise<ExecResult> {
	const runId = request.runId ?? newWorkflowId(request.clock);
	const records: string[] = [];
	let end: ForegroundEnd | null = null;
	const report = await workOnWorktree('worktree exec', request, async work => {
		const {draft, paths} = work;
		const lock = await takeIssueLock(work);
		const ready = await requireWorkable(work, request.profile);
		const label = newWorkflowId(request.clock).slice(2);
		const record = (when: 'before' | 'after'): void => {
			records.push(writeWorktreeRecord(paths, draft.worktree, {runId, label: `exec-${label}-${when}`, clock: request.clock}));
		};
		record('before');
		request.signal?.throwIfAborted();
		lock.assertHeld();
		end = await spawnForeground({
			argv: request.argv,
			cwd: paths.checkout,
			env: environmentOf(request),
			descriptors: descriptorsOf(lock),
			stdout: request.stdout,
			umask: 0o022,
			onStarted: signal => {
				// The lease was lost: somebody else may hold the issue from now on.
				work.request.signal?.addEventListener('abort', () => {
					signal('SIGTERM');
				});
				request.onStarted?.(signal);
			},
		});
		requireStarted(request, end);
		lock.assertHeld();
		draft.isComplete = await readAgain(work, ready);
		record('after');
		return 'ok';
	});
	return {report, end, records};
}

/** The repository lock is held only while we look: other issues go on meanwhile. */
async function requireWorkable(work: WorktreeWork, profile: Profile): Promise<ReadyLook> {
	const {draft, paths} = work;
	const repository = await takeRepositoryLock(work);
	try {
		const mirror = await readMirrorFor(work, null);
		draft.stopOn(mirror.problems);
		const look = lookFor(work, mirror);
		draft.stopOn(look.problems);
		const ready = requireReady(paths, look);
		requireOwnRole(ready.stored, profile.role);
		const found = await inspectFor(work, {admin: ready.admin, base: ready.stored.state.base_sha});
		draft.stopOn(standingProblems(paths, ready, found).filter(({code}) => code === 'CACHE_WORKTREE_ATTACHED' || code === 'CACHE_STALE_GIT_LOCK'));
		return ready;
	} finally {
		await repository.release();
	}
}

/** Shows what the command left, with its problems, which are no refusal of what was done already. False: it could not be read. */
async function readAgain(work: WorktreeWork, ready: ReadyLook): Promise<boolean> {
	const {draft, paths} = work;
	const mirror = await readMirrorFor(work, null);
	draft.problems.push(...mirror.problems);
	if (mirror.refs === null) {
		// The command made the mirror one that may not be opened: what stands in the worktree now nobody read.
		Object.assign(draft.worktree, unreadWorktree(paths.checkout));
		return false;
	}

	const look = lookFor(work, mirror);
	draft.problems.push(...look.problems);
	if (look.word === 'ready' && look.admin !== null) {
		const found = await inspectFor(work, {admin: look.admin, base: ready.stored.state.base_sha});
		draft.problems.push(...standingProblems(paths, {admin: look.admin}, found).filter(({code}) => !draft.problems.some(known => known.code === code)));
	}

	return true;
}

function environmentOf({environment, profile}: ExecRequest): Record<string, string> {
	const kept = Object.entries(environment).filter(([name]) => !droppedNames.test(name));
	const email = `${profile.login}@${hostOf(profile)}`;
	return {
		...Object.fromEntries(kept),
		HUSKY: '0',
		GIT_NO_REPLACE_OBJECTS: '1',
		GIT_AUTHOR_NAME: profile.login,
		GIT_AUTHOR_EMAIL: email,
		GIT_COMMITTER_NAME: profile.login,
		GIT_COMMITTER_EMAIL: email,
	};
}

function hostOf({provider}: Profile): string {
	return provider.kind === 'local' ? 'localhost' : `users.noreply.${new URL(provider.url).hostname}`;
}

function requireStarted({argv}: ExecRequest, end: ForegroundEnd): void {
	if (end.startErrno !== null) {
		throw new BailiffError(
			'RUN_EXECUTABLE_MISSING',
			`${JSON.stringify(argv[0] ?? '')} cannot be started in the worktree (${end.startErrno}): look at its name and PATH`,
			{
				details: {errno: end.startErrno},
			},
		);
	}
}
