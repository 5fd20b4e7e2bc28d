import {lstatSync, type Stats} from 'node:fs';
import path from 'node:path';
import {fileURLToPath, pathToFileURL} from 'node:url';
import {contractSuffix, type RepositoryRef} from '../../cache/index.ts';
import {BailiffError, errnoOf} from '../../core/errors.ts';
import {checkRepositoryName, ownerProblem, repositoryProblem} from '../../core/ids.ts';

/** The places of one repository of a local authority. */
export type LocalPlaces = {
	readonly owner: string;
	readonly directory: string;
	readonly gitDir: string;
	readonly record: string;
	readonly issues: string;
	readonly approvals: string;
};

const gitDirName = 'repository.git';

/**
 * The directory that a `file://` URL of a local authority names.
 *
 * Refuses: CACHE_AUTHORITY_MALFORMED for a URL in another form than `authorityUrl` gives. Source: authority.md section 1.
 */
export function authorityDirectory(url: string): string {
	try {
		const directory = fileURLToPath(url);
		if (path.resolve(directory) === directory && authorityUrl(directory) === url) {
			return directory;
		}
	} catch (error) {
		throw new BailiffError('CACHE_AUTHORITY_MALFORMED', `${JSON.stringify(url)} is no file:// URL of a directory`, {cause: error, details: {url}});
	}

	throw new BailiffError('CACHE_AUTHORITY_MALFORMED', `${JSON.stringify(url)} is not the plain file:// URL of an absolute path`, {details: {url}});
}

/** The URL of a local authority: its absolute path, percent-encoded. Source: authority.md section 1. */
export function authorityUrl(directory: string): string {
	return pathToFileURL(directory).href;
}

/** Where everything of a repository lies. Refuses: CORE_ID_OWNER, CORE_ID_REPOSITORY. Source: authority.md section 1. */
export function localPlaces(authority: string, ref: RepositoryRef): LocalPlaces {
	checkRepositoryName(ref);
	if (ref.repository.startsWith('.')) {
		throw new BailiffError('CORE_ID_REPOSITORY', `${JSON.stringify(ref.repository)} is no repository of a local authority: its name starts with a dot`);
	}

	const owner = path.join(authority, ref.owner);
	const directory = path.join(owner, ref.repository);
	return {
		owner,
		directory,
		gitDir: path.join(directory, gitDirName),
		record: path.join(directory, 'repository.json'),
		issues: path.join(directory, 'issues'),
		approvals: path.join(directory, 'approvals'),
	};
}

/** The URL that git clones a repository from. Source: authority.md section 1. */
export function originUrlOf(authority: string, ref: RepositoryRef): string {
	return pathToFileURL(localPlaces(authority, ref).gitDir).href;
}

/** The repository of this authority that an origin URL names, or undefined. Looks at nothing but the text. Source: C-SYNC-2. */
export function identifyLocal(authority: string, originUrl: string): RepositoryRef | undefined {
	if (!URL.canParse(originUrl)) {
		return undefined;
	}

	const url = new URL(originUrl);
	if (url.protocol !== 'file:' || [url.host, url.username, url.password, url.search, url.hash].some(part => part !== '')) {
		return undefined;
	}

	const parts = path.posix.relative(authority, plainPath(url)).split('/');
	const [owner = '', repository = '', last = ''] = parts;
	const isNamed = parts.length === 3 && last === gitDirName && ownerProblem(owner) === null && repositoryProblem(repository) === null;
	return isNamed ? {owner, repository} : undefined;
}

/**
 * Checks a directory of a local authority: ours, no link, writable by nobody else.
 *
 * Refuses: CACHE_AUTHORITY_NOT_FOUND, CACHE_AUTHORITY_UNTRUSTED, CACHE_AUTHORITY_UNREADABLE. Source: authority.md section 1.
 */
export function checkLocalDirectory(place: string): void {
	const status = statusOf(place);
	if (status === null) {
		throw new BailiffError('CACHE_AUTHORITY_NOT_FOUND', `${place} is not there: lay it out with "bailiff local init"`, {details: {path: place}});
	}

	const fault = directoryFault(status);
	if (fault !== null) {
		throw new BailiffError('CACHE_AUTHORITY_UNTRUSTED', `${place} ${fault}`, {details: {path: place}});
	}
}

/**
 * Checks that a directory does not lie inside a root of bailiff.
 *
 * Refuses: CACHE_AUTHORITY_UNTRUSTED. Source: authority.md section 1 ("never inside <root>").
 */
export function checkOutsideRoots(directory: string): void {
	for (let here = directory; here !== '/'; here = path.dirname(here)) {
		if (statusOf(path.join(here, contractSuffix)) !== null) {
			throw new BailiffError('CACHE_AUTHORITY_UNTRUSTED', `${directory} lies inside the root ${here}: an authority stands apart from what it decides about`, {
				details: {path: directory, root: here},
			});
		}
	}
}

/** lstat, or null where nothing is there. */
export function statusOf(place: string): Stats | null {
	try {
		return lstatSync(place);
	} catch (error) {
		const errno = errnoOf(error);
		if (errno === 'ENOENT' || errno === 'ENOTDIR') {
			return null;
		}

		throw new BailiffError('CACHE_AUTHORITY_UNREADABLE', `${place} cannot be looked at (${errno ?? 'unknown'})`, {cause: error, details: {path: place, errno}});
	}
}

function directoryFault(status: Stats): string | null {
	if (!status.isDirectory()) {
		return status.isSymbolicLink() ? 'is a symbolic link' : 'is no directory';
	}

	const uid = process.geteuid?.() ?? -1;
	if (status.uid !== uid) {
		return `belongs to uid ${status.uid}, but bailiff runs as uid ${uid}: a local authority serves one account`;
	}

	return (status.mode & 0o022) === 0 ? null : 'may be written by others: a person may take that right away with "chmod go-w"';
}

function plainPath(url: URL): string {
	try {
		const given = fileURLToPath(url);
		return path.resolve(given) === given ? given : '/';
	} catch {
		return '/';
	}
}
