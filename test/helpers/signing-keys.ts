import {execFileSync} from 'node:child_process';
import {generateKeyPairSync, type KeyObject} from 'node:crypto';
import {existsSync, readFileSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import test from 'ava';

/** A test with ssh-keygen: left out where it is missing (.ci/test-tools installs it), which `BAILIFF_MUST_SANDBOX=1` turns into a failure (reporter.ts). */
export const sshTest = existsSync('/usr/bin/ssh-keygen') ? test : test.skip;

/** Makes an SSH key without a passphrase and gives its file and its public line. */
export function makeSshKey(directory: string, name: string, type = 'ed25519'): {readonly file: string; readonly publicLine: string} {
	const file = path.join(directory, name);
	execFileSync('ssh-keygen', ['-q', '-t', type, '-N', '', '-C', 'test', '-f', file]);
	return {file, publicLine: readFileSync(`${file}.pub`, 'utf8').trim()};
}

/** Makes an Ed25519 pair and writes both halves in PEM. */
export function makePemKey(
	directory: string,
	name: string,
): {readonly file: string; readonly publicFile: string; readonly privateKey: KeyObject; readonly publicKey: KeyObject} {
	const {privateKey, publicKey} = generateKeyPairSync('ed25519');
	const file = path.join(directory, `${name}.pem`);
	const publicFile = path.join(directory, `${name}.pub.pem`);
	writeFileSync(file, privateKey.export({type: 'pkcs8', format: 'pem'}), {mode: 0o600});
	writeFileSync(publicFile, publicKey.export({type: 'spki', format: 'pem'}), {mode: 0o644});
	return {file, publicFile, privateKey, publicKey};
}
