import {closeSync, constants, fsyncSync, openSync, renameSync, unlinkSync} from 'node:fs';
import path from 'node:path';
import {sha256Hex} from '../core/digest.ts';
import {BailiffError, errnoOf} from '../core/errors.ts';
import {flushDirectory, writeFully} from '../core/files.ts';
import type {Git} from './git-command.ts';
import {zeroTerminated} from './git-output.ts';
import {placeProblem} from './mirror-problem.ts';
import type {CacheProblem} from './report.ts';
import {statusIfThere} from './trust.ts';
import {readRegular} from './worktree-file.ts';

/**
 * Every setting of a mirror but its origin. `mirror = false` and `push.default = nothing`: what `clone --mirror` writes would let a bare push delete
 * the remote's branches.
 */
const ownSettings: ReadonlyArray<readonly [section: string, key: string, value: string]> = [
	['core', 'repositoryformatversion', '0'],
	['core', 'filemode', 'true'],
	['core', 'bare', 'true'],
	['core', 'useReplaceRefs', 'false'],
	['remote "origin"', 'fetch', '+refs/*:refs/*'],
	['remote "origin"', 'mirror', 'false'],
	['push', 'default', 'nothing'],
	['gc', 'auto', '0'],
	['gc', 'worktreePruneExpire', 'never'],
	['maintenance', 'auto', 'false'],
];
const maxConfigBytes = 1_048_576;
const configMode = 0o600;

/** The config of a mirror as it lies there. */
export type MirrorConfig = {
	readonly sha256: string;
	/** The origin that it names, or null where it names none or several. */
	readonly origin: string | null;
	readonly isBare: boolean;
	/** Settings that are not ours, or are missing; empty: it is our own. */
	readonly differences: readonly string[];
};

/** The text of our own config for an origin. Source: C-HARD-2. */
export function ownConfigText(origin: string): string {
	const lines: string[] = [];
	let last = '';
	for (const [section, key, value] of ownSettings) {
		if (section !== last) {
			lines.push(`[${section}]`);
			last = section;
			if (section.startsWith('remote')) {
				lines.push(`\turl = ${quoted(origin)}`);
			}
		}

		lines.push(`\t${key} = ${value}`);
	}

	return `${lines.join('\n')}\n`;
}

/**
 * Reads the config and compares it with the allowlist: exactly our settings and one origin, whatever their order.
 *
 * Nothing is executed and no include is followed. Refuses: CACHE_FOREIGN_CONFIG where it is no plain file, CACHE_GIT_ codes where git cannot read it.
 * Source: C-HARD-2.
 */
export async function readMirrorConfig(git: Git, mirror: string): Promise<MirrorConfig> {
	const file = path.join(mirror, 'config');
	const bytes = statusIfThere(file)?.isFile() === true ? readRegular(file, maxConfigBytes) : null;
	if (bytes === null) {
		throw new BailiffError('CACHE_FOREIGN_CONFIG', `${file} is not there or no plain file of at most ${maxConfigBytes} bytes`, {
			details: {path: 'repository.git/config'},
		});
	}

	const own = ownConfig(bytes);
	if (own !== null) {
		return own;
	}

	const command = ['config', '--file', file, '--no-includes', '-z', '--list'];
	const settings = settingsOf((await git.run({command, gitDir: null})).stdout);
	const origins = settings.filter(([key]) => key === 'remote.origin.url').map(([, value]) => value);
	const [origin = null] = origins;
	return {
		sha256: sha256Hex(bytes),
		origin: origins.length === 1 ? origin : null,
		isBare: settings.some(([key, value]) => key === 'core.bare' && value === 'true'),
		differences: differencesOf(settings, origins.length),
	};
}

/** What is wrong with a config, with the command that writes our own again. Source: C-HARD-2. */
export function configProblem(config: MirrorConfig, restoreCommand: string): CacheProblem {
	return placeProblem(
		'CACHE_FOREIGN_CONFIG',
		'repository.git/config',
		`the config of the mirror is not our own: ${config.differences.join(', ')}; ordinary tools write there (npm install with husky sets core.hooksPath, git config user.name in a worktree)`,
		{details: {sha256: config.sha256, differences: config.differences.slice(0, 100)}, remedy: `${restoreCommand} --expect-sha256 ${config.sha256}`},
	);
}

/**
 * Writes our own config by way of git's own lock file, so that a `git config` at the same time fails instead of being lost.
 *
 * Refuses: CACHE_STALE_GIT_LOCK where `config.lock` is there, CACHE_WRITE_FAILED. Durability: flushed. Source: C-HARD-2.
 */
export function writeOwnConfig(mirror: string, origin: string): void {
	const lock = path.join(mirror, 'config.lock');
	let isOurs = false;
	try {
		const descriptor = openSync(lock, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW, configMode);
		isOurs = true;
		try {
			writeFully(descriptor, Buffer.from(ownConfigText(origin)), 0);
			fsyncSync(descriptor);
		} finally {
			closeSync(descriptor);
		}

		renameSync(lock, path.join(mirror, 'config'));
		isOurs = false;
		flushDirectory(mirror);
	} catch (error) {
		if (isOurs) {
			unlinkSync(lock);
		}

		const errno = errnoOf(error);
		throw new BailiffError(
			errno === 'EEXIST' ? 'CACHE_STALE_GIT_LOCK' : 'CACHE_WRITE_FAILED',
			`${lock} cannot be written (${errno ?? 'unknown'})${errno === 'EEXIST' ? ': another git works on the config, or was killed while it did' : ''}`,
			{cause: error, details: {path: 'repository.git/config.lock', errno}},
		);
	}
}

/** Byte for byte what we write for the origin that it names: no git is needed to say so. */
function ownConfig(bytes: Buffer): MirrorConfig | null {
	const origin = /^\turl = "([^"\\\n]*)"$/m.exec(bytes.toString('utf8'))?.[1];
	return origin !== undefined && bytes.equals(Buffer.from(ownConfigText(origin))) ? {sha256: sha256Hex(bytes), origin, isBare: true, differences: []} : null;
}

function settingsOf(output: Buffer): ReadonlyArray<readonly [key: string, value: string | null]> {
	return Array.from(zeroTerminated(output), entry => {
		const end = entry.indexOf('\n');
		return end === -1 ? [entry, null] : [entry.slice(0, end), entry.slice(end + 1)];
	});
}

function differencesOf(settings: ReadonlyArray<readonly [string, string | null]>, origins: number): string[] {
	const wanted = new Map(ownSettings.map(([section, key, value]) => [`${section.replace(/ "(.*)"$/, '.$1')}.${key}`.toLowerCase(), value]));
	const differences: string[] = origins === 1 ? [] : [`remote.origin.url stands ${origins} times`];
	for (const [key, value] of settings) {
		if (key === 'remote.origin.url') {
			continue;
		}

		const expected = wanted.get(key.toLowerCase());
		wanted.delete(key.toLowerCase());
		if (expected === undefined) {
			differences.push(`${JSON.stringify(key)} is set`);
		} else if (value !== expected) {
			differences.push(`${key} is not ${expected}`);
		}
	}

	return [...differences, ...Array.from(wanted.keys(), key => `${key} is missing`)];
}

function quoted(value: string): string {
	return `"${value.replaceAll(/["\\]/g, character => `\\${character}`)}"`;
}
