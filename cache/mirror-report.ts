import {existsSync, readdirSync, readFileSync} from 'node:fs';
import type {AuthorityState} from './authority-state.ts';
import type {RepositoryPaths} from './layout.ts';
import {type MirrorState, relocations} from './mirror-check.ts';
import {shaOf} from './refs-record.ts';
import type {ReportDraft} from './report.ts';
import {stagingLeftovers} from './staging.ts';
import {statusIfThere} from './trust.ts';

/** Writes what was read of a mirror into the report. The problems are not taken over. Source: authority.md section 6. */
export function describeMirror(draft: ReportDraft, paths: RepositoryPaths, state: MirrorState): void {
	const {cache} = draft;
	const {config, record, refs, files} = state;
	cache.state = state.problems.length === 0 ? 'usable' : 'unusable';
	cache.bare = state.isBare;
	cache.object_format = state.objectFormat;
	cache.origin = withoutUser(config?.origin ?? null);
	cache.origin_identity = hasOwnOrigin(state) ? `${paths.name.owner}/${paths.name.repository}` : null;
	cache.verified_at = record?.verified_at ?? null;
	cache.refs = refs?.pairs.length ?? null;
	cache.packs = files.packs;
	cache.bytes = files.bytes;
	cache.temporary_packs = files.temporaryPacks;
	cache.staging_leftovers = stagingLeftovers(paths);
	draft.worktrees = worktreesOf(paths, state);
	describeBranch(draft, state);
	for (const problem of relocations(state, paths)) {
		if (!draft.problems.some(known => known.message === problem.message)) {
			draft.problems.push(problem);
		}
	}
}

function describeBranch({defaultBranch}: ReportDraft, {record, refs}: MirrorState): void {
	defaultBranch.name ??= record?.default_branch ?? null;
	defaultBranch.local_sha = refs === null ? null : shaOf(refs.pairs, `refs/heads/${defaultBranch.name ?? ''}`);
}

function hasOwnOrigin({config, problems}: MirrorState): boolean {
	return config !== null && config.origin !== null && problems.every(problem => problem.code !== 'CACHE_ORIGIN_MISMATCH');
}

/** Looks for a credential in what lies on disk of the mirror and says so in the report. The token is read once more, compared and forgotten. Source: C-CRED-2. */
export function searchCredential(draft: ReportDraft, paths: RepositoryPaths, state: AuthorityState | null): void {
	const token = state?.access.readToken?.() ?? null;
	const login = state?.access.login ?? '';
	const forms =
		token === null ? [] : [token, encodeURIComponent(token), Buffer.from(token).toString('base64'), Buffer.from(`${login}:${token}`).toString('base64')];
	const places = [`${paths.mirror}/config`, paths.refsRecord, ...filesBelow(`${paths.mirror}/logs`)];
	draft.credential.searched = ['config', 'logs', 'refs.json', 'own stderr'];
	draft.credential.left = places.some(place => {
		const text = existsSync(place) ? readFileSync(place, 'latin1') : '';
		return forms.some(form => text.includes(form)) || /[a-z][a-z0-9+.-]*:\/\/[^/\s"@]*@/i.test(place.endsWith('/config') ? text : '');
	});
}

function worktreesOf(paths: RepositoryPaths, state: MirrorState): ReportDraft['worktrees'] {
	return state.registrations
		.map(({issue}) => ({issue, registered: true, state_file: issue !== null && statusIfThere(`${paths.worktrees}/issue-${issue}/state.json`) !== null}))
		.toSorted((left, right) => (left.issue ?? 0) - (right.issue ?? 0));
}

function withoutUser(origin: string | null): string | null {
	return origin?.replace(/^([a-z][a-z0-9+.-]*:\/\/)[^/@]*@/i, '$1[REDACTED]@') ?? null;
}

function filesBelow(directory: string): string[] {
	try {
		return readdirSync(directory, {recursive: true, withFileTypes: true})
			.filter(entry => entry.isFile())
			.map(entry => `${entry.parentPath}/${entry.name}`);
	} catch {
		return [];
	}
}
