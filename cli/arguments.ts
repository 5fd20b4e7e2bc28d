import path from 'node:path';
import {contractSuffix} from '../cache/layout.ts';
import type {LockWait} from '../cache/lock.ts';
import {BailiffError} from '../core/errors.ts';
import {checkRepositoryName, checkTarget, type RepositoryName, type Target} from '../core/ids.ts';
import type {OptionValues} from './option-values.ts';

/**
 * The contract path that names the root: `--contract-path`, or `--root DIR` as shorthand for the file under DIR.
 *
 * Refuses: CLI_USAGE without either or with both; CACHE_ROOT_INVALID for a relative path, with the absolute form in the message. Source: C-ROOT-1.
 */
export function readContractPath(options: OptionValues): string {
	const root = options.text('root');
	const contractPath = options.text('contractPath');
	if (root !== null && contractPath !== null) {
		throw new BailiffError('CLI_USAGE', '--root and --contract-path name the same thing: give one of them');
	}

	if (root === null && contractPath === null) {
		throw new BailiffError('CLI_USAGE', 'the root is missing: give --root DIR or --contract-path FILE');
	}

	if (contractPath !== null) {
		return requireAbsolute('--contract-path', contractPath);
	}

	// Not path.join: it would tidy up a form that C-ROOT-3 refuses.
	return `${requireAbsolute('--root', root ?? '').replace(/(?<=.)\/$/, '')}/${contractSuffix}`;
}

/**
 * The issue that a command is about: `--target owner/repository#issue`, or the three flags.
 *
 * Refuses: CLI_USAGE when it is missing, mixed or malformed; CORE_ID_OWNER, CORE_ID_REPOSITORY, CORE_ID_ISSUE. Source: C-ID-1.
 */
export function readTarget(options: OptionValues): Target {
	const target = options.text('target');
	const owner = options.text('owner');
	const repository = options.text('repository');
	const issue = options.number('issue');
	if (target === null) {
		if (owner === null || repository === null || issue === null) {
			throw new BailiffError('CLI_USAGE', 'the issue is missing: give --target OWNER/REPOSITORY#ISSUE, or --owner, --repository and --issue');
		}

		return checkTarget({owner, repository, issue});
	}

	if (owner !== null || repository !== null || issue !== null) {
		throw new BailiffError('CLI_USAGE', '--target stands for --owner, --repository and --issue: give it alone');
	}

	return parseTarget(target);
}

/**
 * As much of the issue as was given, for a command that can guess the rest.
 *
 * Refuses: as readTarget, but nothing for what is missing.
 */
export function readPartialTarget(options: OptionValues): Partial<Target> {
	if (options.text('target') !== null) {
		return readTarget(options);
	}

	const owner = options.text('owner');
	const repository = options.text('repository');
	const issue = options.number('issue');
	return {...(owner === null ? {} : {owner}), ...(repository === null ? {} : {repository}), ...(issue === null ? {} : {issue})};
}

/**
 * Reads `owner/repository#issue`.
 *
 * Refuses: CLI_USAGE for another form, and what checkTarget refuses.
 */
export function parseTarget(text: string): Target {
	const match = /^([^/]+)\/(.+)#([1-9]\d{0,15})$/s.exec(text);
	const [, owner, repository, issue] = match ?? [];
	if (owner === undefined || repository === undefined || issue === undefined) {
		throw new BailiffError('CLI_USAGE', `${JSON.stringify(text)} is no target: OWNER/REPOSITORY#ISSUE was expected, for example acme/widget#7`);
	}

	return checkTarget({owner, repository, issue: Number(issue)});
}

/**
 * Reads `owner/repository`.
 *
 * Refuses: CLI_USAGE for another form, and what checkRepositoryName refuses. Source: C-ID-1.
 */
export function parseRepositoryName(text: string): RepositoryName {
	const [, owner, repository] = /^([^/]+)\/([^/#]+)$/.exec(text) ?? [];
	if (owner === undefined || repository === undefined) {
		throw new BailiffError('CLI_USAGE', `${JSON.stringify(text)} is no repository: OWNER/REPOSITORY was expected, for example acme/widget`);
	}

	return checkRepositoryName({owner, repository});
}

/**
 * The absolute form of a path that a person may give relative to where they stand (plans, checkouts, outputs; never the root).
 *
 * Refuses: CLI_USAGE for a relative one where that directory is gone.
 */
export function toAbsolute(given: string): string {
	return path.isAbsolute(given) ? path.resolve(given) : path.resolve(whereWeStand(given), given);
}

function whereWeStand(given: string): string {
	try {
		return process.cwd();
	} catch (error) {
		throw new BailiffError(
			'CLI_USAGE',
			`the directory in which bailiff was started is gone, so ${JSON.stringify(given)} names nothing: give an absolute path`,
			{
				cause: error,
			},
		);
	}
}

/** How long to wait for a lock: `--lock-timeout SECONDS`, or not at all. Source: C-LOCK-7. */
export function readLockWait(options: OptionValues): LockWait {
	return {timeoutMs: Math.round((options.number('lockTimeout') ?? 0) * 1000)};
}

function requireAbsolute(flag: string, given: string): string {
	if (!path.isAbsolute(given)) {
		throw new BailiffError('CACHE_ROOT_INVALID', `${flag} must be absolute, not ${JSON.stringify(given)}: perhaps ${JSON.stringify(toAbsolute(given))}`);
	}

	return given;
}
