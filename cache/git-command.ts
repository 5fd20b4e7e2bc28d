import {accessSync, constants, statSync} from 'node:fs';
import {isAbsolute, join} from 'node:path';
import {BailiffError, type ErrorDetails} from '../core/errors.ts';
import {type ProgramResult, spawnProgram} from '../runner/spawn.ts';

/** One git command. Repository and work tree are always named, never discovered (C-HARD-3). */
export type GitRequest = {
	/** The subcommand and its arguments. */
	readonly command: readonly string[];
	/** Absolute path of the git directory; null only for a command that works on none. */
	readonly gitDir: string | null;
	readonly workTree?: string;
	/** What git may speak; 'none' unless said otherwise. ssh and ext are never allowed. */
	readonly protocol?: 'none' | 'file' | 'https';
	/** Further `-c` settings, for this command only. */
	readonly config?: ReadonlyArray<readonly [key: string, value: string]>;
	/** Further environment, for the credential channel only. Never a secret. */
	readonly env?: Readonly<Record<string, string>>;
	readonly input?: Uint8Array;
	/** Written once to a pipe that git gets as 3: the token, for askpass alone (C-HARD-6). */
	readonly channel?: Uint8Array;
	/** Open descriptors that git gets as 3, 4, ... (from 4 on where there is a channel): a mutating command carries the lock's (C-HARD-5). */
	readonly descriptors?: readonly number[];
	/** Exit codes that are an answer; [0] unless said otherwise. */
	readonly acceptedExitCodes?: readonly number[];
	readonly maxOutputBytes?: number;
	readonly timeoutMs?: number;
	/** Values that must not show in an error. */
	readonly secrets?: readonly string[];
	/** Ends git; what it carries as reason is thrown. */
	readonly signal?: AbortSignal;
	/** What git makes is for its owner alone, whatever our own mask is (C-TRUST-6). */
	readonly isPrivate?: boolean;
};

/** The answer of a git command whose exit code was accepted. */
export type GitAnswer = {readonly exitCode: number; readonly stdout: Buffer};

/** The git of this machine, found once. */
export type Git = {
	readonly path: string;
	readonly version: string;
	/** Refuses: CACHE_GIT_FAILED, CACHE_GIT_MISSING, CACHE_GIT_OUTPUT, CACHE_GIT_TIMEOUT. */
	readonly run: (request: GitRequest) => Promise<GitAnswer>;
};

/** Where git is looked for, and how long one command may take. */
export type GitOptions = {
	/** Colon-separated, only absolute entries count. */
	readonly searchPath?: string;
	readonly timeoutMs?: number;
};

const defaultSearchPath = '/usr/local/bin:/usr/bin:/bin';
const defaultTimeoutMs = 120_000;
const defaultMaxOutputBytes = 256 * 1024 * 1024;
const maxErrorBytes = 64 * 1024;
const killGraceMs = 2000;
/** Older ones lack fixes for running planted code and options that are needed here. */
const oldestVersion = [2, 39, 4] as const;

/** The whole environment of git: nothing of ours is passed on, no file outside the repository is read. */
const baseEnvironment: Readonly<Record<string, string>> = {
	PATH: '/usr/bin:/bin',
	HOME: '/nonexistent',
	XDG_CONFIG_HOME: '/nonexistent',
	LC_ALL: 'C',
	TZ: 'UTC',
	GIT_CONFIG_NOSYSTEM: '1',
	GIT_CONFIG_SYSTEM: '/dev/null',
	GIT_CONFIG_GLOBAL: '/dev/null',
	GIT_ATTR_NOSYSTEM: '1',
	GIT_TERMINAL_PROMPT: '0',
	GIT_ASKPASS: '/bin/false',
	SSH_ASKPASS: '/bin/false',
	GIT_EDITOR: '/bin/false',
	GIT_PAGER: 'cat',
	GIT_NO_REPLACE_OBJECTS: '1',
	// Not /dev/null: git 2.39 then prints a hint about grafts.
	GIT_GRAFT_FILE: '/nonexistent/grafts',
	GIT_NO_LAZY_FETCH: '1',
	GIT_OPTIONAL_LOCKS: '0',
	GIT_PROTOCOL_FROM_USER: '0',
};

/** Every setting of a repository by which git would start a program, or see other content. The last word is the command line's. */
const hardening = [
	'core.hooksPath=/dev/null',
	'core.fsmonitor=false',
	'core.untrackedCache=false',
	'core.sshCommand=/bin/false',
	'core.gitProxy=',
	'core.askPass=',
	'core.editor=/bin/false',
	'core.pager=cat',
	'credential.helper=',
	'core.alternateRefsCommand=exit 0 #',
	'core.attributesFile=/dev/null',
	'core.excludesFile=/dev/null',
	'core.ignoreCase=false',
	'core.useReplaceRefs=false',
	'core.commitGraph=false',
	'core.fsync=all',
	'core.fsyncMethod=fsync',
	'gc.auto=0',
	'gc.autoDetach=false',
	'maintenance.auto=false',
	'fetch.writeCommitGraph=false',
	'fetch.recurseSubmodules=false',
	'submodule.recurse=false',
	'http.followRedirects=false',
	'transfer.bundleURI=false',
	'transfer.fsckObjects=true',
	'diff.external=',
	'commit.gpgSign=false',
	'push.gpgSign=false',
	'safe.bareRepository=explicit',
].flatMap(setting => ['-c', setting]);

/**
 * Finds git on `searchPath` once and checks its version.
 *
 * Refuses: CACHE_GIT_MISSING, CACHE_GIT_VERSION (older than 2.39.4). Source: C-HARD, facts of git 2.39.5.
 */
export async function openGit(options: GitOptions = {}): Promise<Git> {
	const path = findGit(options.searchPath ?? defaultSearchPath);
	const timeoutMs = options.timeoutMs ?? defaultTimeoutMs;
	const run = async (request: GitRequest): Promise<GitAnswer> => runGit(path, {timeoutMs, ...request});
	const {stdout} = await run({command: ['--version'], gitDir: null, maxOutputBytes: 1000});
	const version = /^git version (\d+\.\d+\.\d+)/.exec(stdout.toString('latin1'))?.[1];
	if (version === undefined || isOlder(version)) {
		throw new BailiffError('CACHE_GIT_VERSION', `${path} is git ${version ?? 'of an unknown version'}, install ${oldestVersion.join('.')} or newer`, {
			details: {path, version: version ?? null, oldest: oldestVersion.join('.')},
		});
	}

	return {path, version, run};
}

/** A text that git or a server wrote, fit to be shown: secrets and URL credentials out, control characters out, at most 2,000 characters (C-CRED-2). */
export function scrubGitText(text: string, secrets: readonly string[] = []): string {
	let scrubbed = text;
	for (const secret of secrets) {
		for (const form of secret === '' ? [] : [secret, encodeURIComponent(secret), Buffer.from(secret).toString('base64')]) {
			scrubbed = scrubbed.replaceAll(form, '[REDACTED]');
		}
	}

	const line = scrubbed
		.replaceAll(/([a-z][a-z0-9+.-]*:\/\/)[^/\s'"@]*@/gi, '$1[REDACTED]@')
		.replaceAll(/[^\P{C}\n]/gu, '')
		.trim()
		.replaceAll(/\s*\n\s*/g, '; ');
	return line.length > 2000 ? `${line.slice(0, 2000)}…` : line;
}

async function runGit(path: string, request: GitRequest & {readonly timeoutMs: number}): Promise<GitAnswer> {
	request.signal?.throwIfAborted();
	const result = await spawnProgram({
		file: path,
		args: gitArguments(request),
		cwd: '/',
		env: {...baseEnvironment, GIT_ALLOW_PROTOCOL: request.protocol ?? 'none', ...request.env},
		maxStdoutBytes: request.maxOutputBytes ?? defaultMaxOutputBytes,
		maxStderrBytes: maxErrorBytes,
		timeoutMs: request.timeoutMs,
		graceMs: killGraceMs,
		...(request.input === undefined ? {} : {input: request.input}),
		...(request.channel === undefined ? {} : {channel: request.channel}),
		...(request.descriptors === undefined ? {} : {descriptors: request.descriptors}),
		...(request.signal === undefined ? {} : {signal: request.signal}),
		...(request.isPrivate === true ? {umask: 0o077} : {}),
	});
	request.signal?.throwIfAborted();
	return acceptAnswer(path, request, result);
}

function gitArguments(request: GitRequest): string[] {
	return [
		...hardening,
		...(request.config ?? []).flatMap(([key, value]) => ['-c', `${key}=${value}`]),
		'--no-pager',
		...(request.gitDir === null ? [] : [`--git-dir=${request.gitDir}`]),
		...(request.workTree === undefined ? [] : [`--work-tree=${request.workTree}`]),
		...request.command,
	];
}

function acceptAnswer(path: string, request: GitRequest & {readonly timeoutMs: number}, result: ProgramResult): GitAnswer {
	const name = `git ${request.command[0] ?? ''}`;
	const details: ErrorDetails = {command: name, git_dir: request.gitDir};
	if (result.startErrno !== null) {
		throw new BailiffError('CACHE_GIT_MISSING', `${path} could not be started: ${result.startErrno}`, {details: {...details, errno: result.startErrno}});
	}

	if (result.didTimeOut) {
		throw new BailiffError('CACHE_GIT_TIMEOUT', `${name} did not end within ${request.timeoutMs} ms and was ended`, {
			details: {...details, timeout_ms: request.timeoutMs},
		});
	}

	if (result.isTruncated) {
		const limit = request.maxOutputBytes ?? defaultMaxOutputBytes;
		throw new BailiffError('CACHE_GIT_OUTPUT', `${name} wrote more than ${limit} bytes, or more than ${maxErrorBytes} bytes of errors, and was ended`, {
			details: {...details, limit},
		});
	}

	if (result.exitCode === null || !(request.acceptedExitCodes ?? [0]).includes(result.exitCode)) {
		const text = scrubGitText(result.stderr.toString('utf8'), request.secrets);
		const how = result.exitCode === null ? `died of ${result.signal ?? 'an unknown signal'}` : `ended with ${result.exitCode}`;
		throw new BailiffError('CACHE_GIT_FAILED', `${name} ${how}${text === '' ? '' : `: ${text}`}`, {
			details: {...details, exit_code: result.exitCode, signal: result.signal, stderr: text},
		});
	}

	return {exitCode: result.exitCode, stdout: result.stdout};
}

function findGit(searchPath: string): string {
	const found = searchPath
		.split(':')
		.filter(directory => isAbsolute(directory))
		.map(directory => join(directory, 'git'))
		.find(isProgram);
	if (found === undefined) {
		throw new BailiffError('CACHE_GIT_MISSING', `no git in ${searchPath}, install git ${oldestVersion.join('.')} or newer`, {
			details: {search_path: searchPath},
		});
	}

	return found;
}

function isProgram(path: string): boolean {
	try {
		accessSync(path, constants.X_OK);
		return statSync(path).isFile();
	} catch {
		return false;
	}
}

function isOlder(version: string): boolean {
	const parts = version.split('.').map(Number);
	const position = oldestVersion.findIndex((part, index) => parts[index] !== part);
	return position !== -1 && (parts[position] ?? 0) < (oldestVersion[position] ?? 0);
}
