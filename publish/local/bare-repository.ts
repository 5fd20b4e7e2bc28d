import {type AdvertisedRefs, type Git, type Repository, readLinkFile, zeroTerminated} from '../../cache/index.ts';
import {BailiffError} from '../../core/errors.ts';

const maxRefsBytes = 64 * 1024 * 1024;

/** The object format of a bare repository. Refuses: CACHE_GIT_ codes. */
export async function readObjectFormat(git: Git, gitDir: string): Promise<Repository['objectFormat']> {
	// Only an extension in its own config makes it another one: a plain config is answered without a process, twice in every sync (C-PERF-1).
	const config = readLinkFile(`${gitDir}/config`);
	if (config !== null && !/extensions|include/i.test(config)) {
		return 'sha1';
	}

	const {stdout} = await git.run({command: ['rev-parse', '--show-object-format'], gitDir, maxOutputBytes: 1000});
	const format = stdout.toString('latin1').trim();
	return format === 'sha1' || format === 'sha256' ? format : 'unknown';
}

/**
 * The full id of the commit at `refs/heads/<branch>`, or null where there is none.
 *
 * Refuses: CACHE_GIT_ codes. Source: authority.md section 1.
 */
export async function readBranchId(git: Git, gitDir: string, branch: string): Promise<string | null> {
	const command = ['rev-parse', '--verify', '--quiet', '--end-of-options', `refs/heads/${branch}^{commit}`];
	const {exitCode, stdout} = await git.run({command, gitDir, acceptedExitCodes: [0, 1], maxOutputBytes: 1000});
	const id = stdout.toString('latin1').trim();
	return exitCode === 0 && /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(id) ? id : null;
}

/**
 * Every ref of a bare repository with its id, sorted by the bytes of the name.
 *
 * Refuses: CACHE_AUTHORITY_MALFORMED for a name that is no UTF-8, CACHE_GIT_ codes. Source: authority.md section 3 (advertisedRefs).
 */
export async function readRefs(git: Git, gitDir: string): Promise<AdvertisedRefs> {
	const command = ['for-each-ref', '--sort=refname', '--format=%(objectname) %(refname)%00'];
	const {stdout} = await git.run({command, gitDir, maxOutputBytes: maxRefsBytes});
	return [...zeroTerminated(stdout)].filter(row => row.trim() !== '').map(row => toPair(row, gitDir));
}

/** git ends every row with a line feed of its own, which then begins the next one. */
function toPair(row: string, gitDir: string): readonly [string, string] {
	const match = /^\n?([0-9a-f]{40}|[0-9a-f]{64}) (refs\/.+)$/s.exec(row);
	const bytes = Buffer.from(match?.[2] ?? '', 'latin1');
	const name = bytes.toString('utf8');
	if (match?.[1] === undefined || !Buffer.from(name).equals(bytes)) {
		throw new BailiffError('CACHE_AUTHORITY_MALFORMED', `${gitDir} has a ref whose name is no UTF-8: ${JSON.stringify(name)}`, {details: {path: gitDir}});
	}

	return [name, match[1]];
}
