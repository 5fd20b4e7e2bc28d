import {accessSync, constants, mkdtempSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {BailiffError} from '../core/errors.ts';
import {createPrivateFile} from '../core/files.ts';
import type {SshSignatures, SshVerdict} from '../evidence/ports.ts';
import {type ProgramResult, spawnProgram} from '../runner/spawn.ts';

const places = ['/usr/local/bin/ssh-keygen', '/usr/bin/ssh-keygen', '/bin/ssh-keygen'];
const limits = {maxStdoutBytes: 65_536, maxStderrBytes: 65_536, timeoutMs: 60_000, graceMs: 2000} as const;

/** Where an agent listens, for keys that it alone holds. */
export type SshKeygenOptions = {readonly agentSocket: string | null};

/**
 * Signing and verifying by the ssh-keygen of this machine, looked for when it is needed, with an environment of ours. Nothing but the given signers is ever trusted: `check-novalidate`, which
 * takes any key, is not used.
 *
 * Refuses: CACHE_SSH_KEYGEN_MISSING, CACHE_SSH_SIGN_FAILED. Source: E-EXP-3.
 */
export function createSshSignatures({agentSocket}: SshKeygenOptions): SshSignatures {
	const env = {
		PATH: '/usr/bin:/bin',
		LC_ALL: 'C',
		HOME: '/nonexistent',
		SSH_ASKPASS: '/bin/false',
		SSH_ASKPASS_REQUIRE: 'force',
		...(agentSocket === null ? {} : {SSH_AUTH_SOCK: agentSocket}),
	};
	const run = async (args: readonly string[], input: Uint8Array): Promise<ProgramResult> =>
		spawnProgram({file: findProgram(), args: ['-Y', ...args], cwd: '/', env, input, ...limits});
	return {
		sign: async ({keyFile, namespace, message}) => {
			const result = await run(['sign', '-f', keyFile, '-n', namespace], message);
			if (result.exitCode !== 0) {
				throw new BailiffError(
					'CACHE_SSH_SIGN_FAILED',
					`ssh-keygen could not sign with ${JSON.stringify(keyFile)}: ${lastLine(result)} (a key with a passphrase signs through its agent: name the .pub file)`,
					{
						details: {path: keyFile, exit_code: result.exitCode},
					},
				);
			}

			return result.stdout;
		},
		verify: async ({allowedSigners, signer, namespace, message, signature}) =>
			withFiles({signers: allowedSigners, signature}, async files => {
				const who = signer === null ? await findSigner(run, files) : signer;
				if (who === null) {
					return {
						isGood: false,
						reason: 'signer',
						message: 'the key of this signature belongs to no allowed signer, or only to a pattern (name the signer then)',
					};
				}

				const result = await run(['verify', '-f', files.signers, '-I', who, '-n', namespace, '-s', files.signature], message);
				return verdictOf(result, who);
			}),
	};
}

type Files = {readonly signers: string; readonly signature: string};
type Run = (args: readonly string[], input: Uint8Array) => Promise<ProgramResult>;

/** The first name of an allowed signer who holds the key; a pattern is no name. */
async function findSigner(run: Run, files: Files): Promise<string | null> {
	const result = await run(['find-principals', '-f', files.signers, '-s', files.signature], new Uint8Array());
	if (result.exitCode !== 0) {
		return null;
	}

	const names = result.stdout.toString('utf8').split('\n');
	return names.find(name => name !== '' && !/[*?!]/.test(name)) ?? null;
}

function verdictOf(result: ProgramResult, signer: string): SshVerdict {
	if (result.exitCode === 0) {
		return {isGood: true, signer};
	}

	const told = result.stderr.toString('utf8');
	if (told.includes('namespace does not match')) {
		return {isGood: false, reason: 'namespace', message: 'the signature was made for another purpose than evidence of bailiff'};
	}

	if (told.includes('incorrect signature')) {
		return {isGood: false, reason: 'signature', message: 'the signature is not over these bytes: the manifest is another one or was altered'};
	}

	if (told.includes("Couldn't parse signature")) {
		return {isGood: false, reason: 'form', message: 'ssh-keygen does not read this as a signature'};
	}

	return {isGood: false, reason: 'signer', message: `the allowed signers do not let ${JSON.stringify(signer)} sign this: ${lastLine(result)}`};
}

function lastLine({stderr, startErrno, didTimeOut}: ProgramResult): string {
	const lines = stderr.toString('utf8').trim().split('\n');
	return didTimeOut ? 'it took longer than a minute' : (startErrno ?? lines.at(-1) ?? '').slice(0, 300);
}

async function withFiles<T>(contents: {readonly signers: Uint8Array; readonly signature: Uint8Array}, use: (files: Files) => Promise<T>): Promise<T> {
	const directory = mkdtempSync(path.join(tmpdir(), 'bailiff-signature-'));
	try {
		const files = {signers: path.join(directory, 'signers'), signature: path.join(directory, 'signature')};
		createPrivateFile(files.signers, contents.signers);
		createPrivateFile(files.signature, contents.signature);
		return await use(files);
	} finally {
		rmSync(directory, {recursive: true, force: true});
	}
}

function findProgram(): string {
	const found = places.find(place => {
		try {
			accessSync(place, constants.X_OK);
			return true;
		} catch {
			return false;
		}
	});
	if (found === undefined) {
		throw new BailiffError(
			'CACHE_SSH_KEYGEN_MISSING',
			`there is no ssh-keygen at ${places.join(', ')}: install the client of OpenSSH, or use an Ed25519 key (DSSE)`,
		);
	}

	return found;
}
