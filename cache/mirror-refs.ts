import {BailiffError} from '../core/errors.ts';
import type {Git} from './git-command.ts';
import {commandLine} from './mirror-problem.ts';
import type {RefPairs} from './refs-record.ts';
import type {CacheProblem} from './report.ts';

/** The refs of the mirror, and what about them can never be right. */
export type LocalRefs = {readonly pairs: RefPairs; readonly problems: readonly CacheProblem[]};

/** Refs by which commits show other content, or which a prune would delete from under a worker. */
const forbidden = /^refs\/(?:replace\/|stash$)/;

/**
 * Every ref of the mirror with the id that it names, by one git.
 *
 * Symbolic refs (a fetch would write through them), replace refs and the stash are problems. Refuses: CACHE_GIT_ codes. Source: C-HARD-1, C-HARD-4.
 */
export async function readLocalRefs(git: Git, mirror: string): Promise<LocalRefs> {
	const {stdout} = await git.run({command: ['for-each-ref', '--format=%(objectname) %(refname) %(symref)'], gitDir: mirror});
	const pairs: Array<readonly [string, string]> = [];
	const problems: CacheProblem[] = [];
	for (const line of stdout.toString('utf8').split('\n')) {
		const [sha = '', name = '', target = ''] = line.split(' ');
		if (name === '') {
			continue;
		}

		pairs.push([name, sha]);
		if (target !== '') {
			problems.push(symbolicRef(name, target));
		} else if (forbidden.test(name)) {
			problems.push(forbiddenRef(name, commandLine(['git', `--git-dir=${mirror}`, 'update-ref', '-d', name, sha])));
		}
	}

	return {pairs, problems};
}

/**
 * Stops before a fetch that would bring replace refs or a stash.
 *
 * Refuses: CACHE_REPLACE_REF. Source: C-HARD-1.
 */
export function refuseForbiddenRefs(advertised: RefPairs): void {
	const found = advertised.find(([name]) => forbidden.test(name))?.[0];
	if (found !== undefined) {
		throw new BailiffError(
			'CACHE_REPLACE_REF',
			`the remote has ${found}, by which its commits would show other content: have it deleted there; nothing was fetched`,
			{
				details: {ref: found},
			},
		);
	}
}

/** A pair that nobody vouches for. */
export function foreignRef(mirror: string, [name, sha]: RefPairs[number]): CacheProblem {
	return {
		code: 'CACHE_FOREIGN_REF',
		path: `repository.git/${name}`,
		message: `${name} at ${sha} is neither in the last verified state nor at the remote; a fetch would delete or overwrite it`,
		details: {ref: name, sha},
		remedy: commandLine(['git', `--git-dir=${mirror}`, 'update-ref', '-d', name, sha]),
	};
}

function symbolicRef(name: string, target: string): CacheProblem {
	return {
		code: 'CACHE_FOREIGN_REF',
		path: `repository.git/${name}`,
		message: `${name} is a symbolic ref to ${target}; a fetch would write through it`,
		details: {ref: name, target},
		remedy: null,
	};
}

function forbiddenRef(name: string, remedy: string): CacheProblem {
	const isStash = name === 'refs/stash';
	return {
		code: isStash ? 'CACHE_FOREIGN_REF' : 'CACHE_REPLACE_REF',
		path: `repository.git/${name}`,
		message: isStash ? 'refs/stash is there: a worker stashed, and a fetch would delete it; commit instead' : `${name} makes a commit show other content`,
		details: {ref: name},
		remedy,
	};
}
