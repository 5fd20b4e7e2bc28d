import {BailiffError} from '../core/errors.ts';
import {commitIdPattern} from '../core/ids.ts';
import type {Git} from './git-command.ts';

/** Where a base comes from: the default branch as it is now, or the revision that an approved discovery pinned. */
export type BaseSource = 'default-branch' | 'discovery';

/** A base and who vouches for it. */
export type Base = {readonly sha: string; readonly source: BaseSource};

/** How two candidates lie to each other in the mirror. */
export type BaseRelation = {
	readonly ancestry: 'approved-is-ancestor' | 'default-is-ancestor' | 'diverged' | 'unknown';
	/** Commits that only the default branch has; null where an object is missing. */
	readonly onlyDefault: number | null;
	/** Commits that only the approved base has. */
	readonly onlyApproved: number | null;
};

/** What is known of the base of an issue. */
export type BaseQuestion = {
	readonly defaultBranchSha: string;
	/** The approval's base_sha, or null. */
	readonly approvedBase: string | null;
	/** What a person chose by `--base` and `--base-source`, or null. */
	readonly chosen: Base | null;
	/** Asked only where the two differ. */
	readonly relate: (defaultBranchSha: string, approvedBase: string) => Promise<BaseRelation>;
};

/**
 * The base that the authority vouches for. A choice is never made here: where default branch and approval differ, a person makes it.
 *
 * Refuses: CACHE_BASE_AMBIGUOUS with both ids, ancestry and the commits between; CACHE_BASE_WITHOUT_AUTHORITY; CORE_ID_COMMIT. Source: C-ADM-2.
 */
export async function chooseBase(question: BaseQuestion): Promise<Base> {
	const {defaultBranchSha, approvedBase, chosen} = question;
	if (chosen !== null) {
		return checkChosen(chosen, defaultBranchSha, approvedBase);
	}

	if (approvedBase === null || approvedBase === defaultBranchSha) {
		return {sha: defaultBranchSha, source: 'default-branch'};
	}

	const relation = await question.relate(defaultBranchSha, approvedBase);
	throw new BailiffError(
		'CACHE_BASE_AMBIGUOUS',
		`the default branch is at ${defaultBranchSha}, the approval names ${approvedBase} (${relationText(relation)}): go on with "--base ${defaultBranchSha} --base-source default-branch" or "--base ${approvedBase} --base-source discovery"`,
		{
			details: {
				default_branch_sha: defaultBranchSha,
				approved_base: approvedBase,
				ancestry: relation.ancestry,
				only_default: relation.onlyDefault,
				only_approved: relation.onlyApproved,
			},
		},
	);
}

/**
 * How two commits lie to each other, counted in the mirror.
 *
 * Refuses: CACHE_GIT_ codes; a commit that the mirror does not have makes the relation unknown. Source: C-ADM-2.
 */
export async function readBaseRelation(
	git: Git,
	gitDir: string,
	pair: {readonly defaultBranchSha: string; readonly approvedBase: string},
): Promise<BaseRelation> {
	const range = `${pair.defaultBranchSha}...${pair.approvedBase}`;
	const answer = await git.run({command: ['rev-list', '--count', '--left-right', '--end-of-options', range, '--'], gitDir, acceptedExitCodes: [0, 128]});
	const counts = /^(\d+)\t(\d+)\n$/.exec(answer.stdout.toString('latin1'));
	if (answer.exitCode !== 0 || counts === null) {
		return {ancestry: 'unknown', onlyDefault: null, onlyApproved: null};
	}

	const onlyDefault = Number(counts[1]);
	const onlyApproved = Number(counts[2]);
	const ancestry = onlyApproved === 0 ? 'approved-is-ancestor' : onlyDefault === 0 ? 'default-is-ancestor' : 'diverged';
	return {ancestry, onlyDefault, onlyApproved};
}

function checkChosen(chosen: Base, defaultBranchSha: string, approvedBase: string | null): Base {
	if (!commitIdPattern.test(chosen.sha)) {
		throw new BailiffError('CORE_ID_COMMIT', `${JSON.stringify(chosen.sha)} is no full commit id: 40 lower-case hexadecimal digits were expected`);
	}

	const vouched = chosen.source === 'default-branch' ? defaultBranchSha : approvedBase;
	if (chosen.sha !== vouched) {
		throw new BailiffError(
			'CACHE_BASE_WITHOUT_AUTHORITY',
			`${chosen.sha} is not what the authority has as ${chosen.source}: the default branch is at ${defaultBranchSha}, the approval names ${approvedBase ?? 'no base'}`,
			{details: {base: chosen.sha, base_source: chosen.source, default_branch_sha: defaultBranchSha, approved_base: approvedBase}},
		);
	}

	return chosen;
}

function relationText(relation: BaseRelation): string {
	switch (relation.ancestry) {
		case 'approved-is-ancestor':
			return `an ancestor, ${relation.onlyDefault ?? 0} commits behind`;
		case 'default-is-ancestor':
			return `a descendant, ${relation.onlyApproved ?? 0} commits ahead`;
		case 'diverged':
			return `diverged: ${relation.onlyDefault ?? 0} commits only there, ${relation.onlyApproved ?? 0} only here`;
		case 'unknown':
			break;
	}

	return 'the mirror does not have both commits';
}
