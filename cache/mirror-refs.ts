import {BailiffError} from '../core/errors.ts';
import type {Git} from './git-command.ts';
import {commandLine, placeProblem} from './mirror-problem.ts';
import {displayPath} from './path-display.ts';
import {readRefFiles} from './ref-files.ts';
import type {RefPairs} from './refs-record.ts';
import type {CacheProblem} from './report.ts';

/** The refs of the mirror, and what about them can never be right. */
export type LocalRefs = {readonly pairs: RefPairs; readonly problems: readonly CacheProblem[]};

/** Refs by which commits show other content, or which a prune would delete from under a worker. */
const forbidden = /^refs\/(?:replace\/|stash$)/;

/**
 * Every ref of the mirror with the id that it names, by its files: a second reader beside git, and one that costs no process.
 *
 * Broken refs, symbolic refs (a fetch would write through them), replace refs, the stash and names that are no text are problems.
 * Refuses: CACHE_MIRROR_CORRUPT. Source: C-HARD-1, C-HARD-4.
 */
export function readLocalRefs(mirror: string): LocalRefs {
	const pairs: Array<readonly [string, string]> = [];
	const problems: CacheProblem[] = [];
	for (const [bytes, value] of readRefFiles(mirror)) {
		const name = Buffer.from(bytes, 'latin1').toString('utf8');
		if ('broken' in value) {
			problems.push(placeProblem('CACHE_MIRROR_CORRUPT', `repository.git/${name}`, `${name} is ${value.broken}`, {details: {ref: name}}));
		} else if ('target' in value) {
			problems.push(symbolicRef(name, value.target));
		} else {
			pairs.push([name, value.sha]);
			problems.push(...nameProblems(mirror, bytes, [name, value.sha]));
		}
	}

	return {pairs, problems};
}

/**
 * The same refs as git reads them, for a proof that looks twice.
 *
 * Refuses: CACHE_GIT_ codes. Source: C-HARD-7.
 */
export async function readRefsByGit(git: Git, mirror: string): Promise<RefPairs> {
	const {stdout} = await git.run({command: ['for-each-ref', '--format=%(objectname) %(refname)'], gitDir: mirror});
	const lines = stdout.toString('utf8').split('\n');
	return lines.filter(line => line !== '').map(line => [line.slice(line.indexOf(' ') + 1), line.slice(0, line.indexOf(' '))]);
}

function nameProblems(mirror: string, bytes: string, [name, sha]: RefPairs[number]): CacheProblem[] {
	if (forbidden.test(name)) {
		return [forbiddenRef(name, commandLine(['git', `--git-dir=${mirror}`, 'update-ref', '-d', name, sha]))];
	}

	return Buffer.from(name).toString('latin1') === bytes
		? []
		: [placeProblem('CACHE_FOREIGN_REF', `repository.git/${name}`, `a ref has a name that is no UTF-8: ${displayPath(bytes)}`)];
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
