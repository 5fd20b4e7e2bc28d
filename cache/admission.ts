import {BailiffError} from '../core/errors.ts';
import {type Admission, admit, assertSameSnapshot, issueBodySha256} from './approval.ts';
import {type AuthorityState, requireSameRepository} from './authority-state.ts';
import {type Base, chooseBase, readBaseRelation} from './base-choice.ts';
import {readObjects} from './git-objects.ts';
import {asSound, type SoundMirror} from './mirror-check.ts';
import {commandLine} from './mirror-problem.ts';
import {shaOf} from './refs-record.ts';
import {walkObjects} from './verified-fetch.ts';
import {readMirrorFor, type WorktreeWork} from './worktree-work.ts';

/**
 * Reads issue and approvals and says so in the report.
 *
 * Refuses: CACHE_ISSUE_CLOSED, CACHE_NOT_APPROVED, CACHE_APPROVAL_AMBIGUOUS, CACHE_AUTHORITY_ codes. Source: C-ADM-1.
 */
export async function readAdmissionFor({request, draft}: WorktreeWork, {authority, profile}: AuthorityState): Promise<Admission> {
	const {target} = request;
	const issue = await authority.issue(target, target.issue);
	const approvals = await authority.approvals(target, target.issue);
	// What was read is shown also where it is no admission.
	Object.assign(draft.issue, {updated_at: issue.updatedAt, body_sha256: issueBodySha256(issue)});
	const admission = admit(issue, approvals, profile);
	draft.issue.approvals = admission.snapshot.approvalIds;
	return admission;
}

/**
 * Reads issue and approvals again; nothing may have changed since.
 *
 * Refuses: CACHE_ISSUE_CHANGED, and what `readAdmission` refuses. Source: C-ADM-4.
 */
export async function requireUnchanged(work: WorktreeWork, state: AuthorityState, before: Admission): Promise<void> {
	const now = await readAdmissionFor(work, state);
	assertSameSnapshot(work.request.target.issue, before.snapshot, now.snapshot);
}

/**
 * The mirror, without a problem, and in the state that the authority has now: only then may it be used.
 *
 * The repository lock must be held. Refuses: every CACHE_ code of a mirror that is not sound, CACHE_ORIGIN_MISMATCH, CACHE_REPOSITORY_REPLACED,
 * CACHE_DEFAULT_BRANCH_MISMATCH, CACHE_WITNESS_MISMATCH. Source: C-SYNC-5, C-ADM-1.
 */
export async function requireAgreeingMirror(work: WorktreeWork, state: AuthorityState): Promise<SoundMirror> {
	const {draft, request} = work;
	request.onStep?.('checking');
	const [found, branch, witness] = await Promise.all([
		readMirrorFor(work, state),
		state.authority.branch(state.name, state.defaultBranch),
		state.authority.witnessRef(state.repository, `refs/heads/${state.defaultBranch}`),
	]);
	draft.stopOn(found.problems);
	const mirror = asSound(found);
	requireSameRepository(mirror.record, state);
	const {record, refs} = mirror;
	const local = shaOf(refs.pairs, `refs/heads/${branch.name}`);
	if (branch.sha !== local || branch.sha !== record.pinned_sha || record.default_branch !== state.defaultBranch) {
		throw notInStep(work, {branch: branch.name, provider: branch.sha, local});
	}

	if (witness !== branch.sha) {
		throw new BailiffError(
			'CACHE_WITNESS_MISMATCH',
			`the authority has ${branch.name} at ${branch.sha}, the second reader sees ${witness ?? 'no such ref'}: look at the remote`,
			{details: {branch: branch.name, sha: branch.sha, witness}},
		);
	}

	return mirror;
}

/** The commit that a new worktree begins at: vouched for, there, and proven by its own bytes. */
export type AdmittedBase = Base;

/**
 * Chooses the base by the authority's word and proves its commit in the mirror.
 *
 * Refuses: CACHE_BASE_AMBIGUOUS, CACHE_BASE_WITHOUT_AUTHORITY, CORE_ID_COMMIT, CACHE_OBJECT_INVALID, CACHE_MIRROR_CORRUPT. Source: C-ADM-2, C-HARD-7.
 */
export async function admitBase(
	work: WorktreeWork,
	{mirror, admission, chosen}: {readonly mirror: SoundMirror; readonly admission: Admission; readonly chosen: Base | null},
): Promise<AdmittedBase> {
	const {request, paths, draft} = work;
	const {git} = request;
	const base = await chooseBase({
		defaultBranchSha: mirror.record.pinned_sha,
		approvedBase: admission.approvedBase,
		chosen,
		relate: async (defaultBranchSha, approvedBase) => readBaseRelation(git, paths.mirror, {defaultBranchSha, approvedBase}),
	});
	await requireCommit(work, base.sha);
	await walkObjects(
		git,
		paths.mirror,
		[base.sha],
		mirror.record.verified.map(([, sha]) => sha),
	);
	draft.worktree.base_sha = base.sha;
	draft.worktree.base_source = base.source;
	return base;
}

async function requireCommit({request, paths}: WorktreeWork, sha: string): Promise<void> {
	let type: string | undefined;
	try {
		type = (await readObjects(request.git, paths.mirror, [sha])).get(sha)?.type;
	} catch (error) {
		if (!(error instanceof BailiffError) || error.code !== 'CACHE_OBJECT_INVALID') {
			throw error;
		}
	}

	if (type !== 'commit') {
		throw new BailiffError(
			'CACHE_OBJECT_INVALID',
			`the base ${sha} is no commit of the mirror${type === undefined ? '' : ` but a ${type}`}: "bailiff cache sync", then try again`,
			{
				details: {id: sha},
			},
		);
	}
}

function notInStep({paths}: WorktreeWork, at: {readonly branch: string; readonly provider: string; readonly local: string | null}): BailiffError {
	const {owner, repository} = paths.name;
	return new BailiffError(
		'CACHE_DEFAULT_BRANCH_MISMATCH',
		`${at.branch} is at ${at.provider} at the authority and at ${at.local ?? 'no commit'} in the verified mirror: "bailiff cache sync" brings it up to date`,
		{
			details: {
				branch: at.branch,
				provider_sha: at.provider,
				local_sha: at.local,
				remedy: `${commandLine(['bailiff', 'cache', 'sync', '--root', paths.root, '--target', `${owner}/${repository}`])} --profile DIR`,
			},
		},
	);
}
