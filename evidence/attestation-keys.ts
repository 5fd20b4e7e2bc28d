import {createPrivateKey, createPublicKey, type KeyObject} from 'node:crypto';
import {realpathSync} from 'node:fs';
import path from 'node:path';
import {BailiffError, errnoOf} from '../core/errors.ts';
import {type FileFault, faultSentence, fileFaultOf} from '../core/file-fault.ts';
import {closing, SafeDirectory} from '../core/safe-file.ts';

const maxBytes = 65_536;
const othersMayWrite = 0o022n;

/** A key to sign with: Ed25519 in memory, or a file that ssh-keygen reads itself (a public key: its agent signs). */
export type SigningKey = {readonly kind: 'dsse'; readonly key: KeyObject} | {readonly kind: 'ssh'; readonly file: string};

/**
 * Reads the key to attest with: PKCS8 PEM of an Ed25519 key, an OpenSSH private key, or an OpenSSH public key whose private half an agent holds.
 *
 * Shape: an absolute path of a regular file, no link; a private key is owned by the caller with mode 0600.
 * Refuses: EVIDENCE_KEY_INVALID with file and mend, never with content. Source: E-EXP-3, C-TRUST-4.
 */
export function readSigningKey(file: string): SigningKey {
	const {bytes, mode, uid} = readKeyFile(file);
	const text = bytes.toString('latin1');
	if (/^(?:ssh-|ecdsa-|sk-)/.test(text)) {
		return {kind: 'ssh', file};
	}

	if ((mode & 0o777n) !== 0o600n || uid !== BigInt(process.geteuid?.() ?? -1)) {
		throw refused(file, `must belong to you with mode 0600: chmod 600 ${JSON.stringify(file)}`);
	}

	if (text.startsWith('-----BEGIN OPENSSH PRIVATE KEY-----')) {
		return {kind: 'ssh', file};
	}

	const key = parseKey(file, () => createPrivateKey(bytes));
	return {kind: 'dsse', key: ed25519(file, key)};
}

/**
 * Reads one public Ed25519 key (SPKI PEM) that the reviewer trusts.
 *
 * Shape: a regular file, no link, that nobody but its owner (the caller or root) may write.
 * Refuses: EVIDENCE_KEY_INVALID; a private key, too: it has no business with a verifier. Source: E-EXP-3.
 */
export function readTrustedKey(file: string): KeyObject {
	const bytes = readTrustFile(file);
	if (!bytes.toString('latin1').startsWith('-----BEGIN PUBLIC KEY-----')) {
		throw refused(file, 'must hold one public key (BEGIN PUBLIC KEY): openssl pkey -in key.pem -pubout makes it');
	}

	return ed25519(
		file,
		parseKey(file, () => createPublicKey(bytes)),
	);
}

/** The bytes of a file that the reviewer's trust rests on. Refuses: EVIDENCE_KEY_INVALID when it is missing, a link, or others may write it. Source: E-EXP-3. */
export function readTrustFile(file: string): Buffer {
	const {bytes, mode, uid} = readKeyFile(file);
	if ((mode & othersMayWrite) !== 0n || (uid !== 0n && uid !== BigInt(process.geteuid?.() ?? -1))) {
		throw refused(file, 'must belong to you or root and be writable by nobody else: trust rests on it');
	}

	return bytes;
}

function readKeyFile(file: string): {readonly bytes: Buffer; readonly mode: bigint; readonly uid: bigint} {
	try {
		const directory = SafeDirectory.open(realpathSync(path.dirname(file)));
		return closing(directory, opened =>
			closing(opened.file(path.basename(file)), entry => {
				const fault = entry.faults({maxBytes})[0];
				if (fault !== undefined) {
					throw refused(file, sentenceOf(fault));
				}

				return {bytes: entry.read(maxBytes).bytes, mode: entry.status.mode, uid: entry.status.uid};
			}),
		);
	} catch (error) {
		const fault = fileFaultOf(error);
		if (fault !== null) {
			throw refused(file, sentenceOf(fault), error);
		}

		if (error instanceof BailiffError || errnoOf(error) === null) {
			throw error;
		}

		throw refused(file, `cannot be read (${errnoOf(error) ?? ''})`, error);
	}
}

function sentenceOf(fault: FileFault): string {
	return fault === 'too-large' ? `is larger than ${maxBytes} bytes` : faultSentence(fault);
}

function parseKey(file: string, parse: () => KeyObject): KeyObject {
	try {
		return parse();
	} catch (error) {
		// What OpenSSL says could quote the content.
		throw refused(
			file,
			`holds no key that can be used (${error instanceof Error && 'code' in error ? String(error.code) : 'unknown'}): an unencrypted Ed25519 PEM was expected`,
			error,
		);
	}
}

function ed25519(file: string, key: KeyObject): KeyObject {
	if (key.asymmetricKeyType !== 'ed25519') {
		throw refused(file, `holds a key of the kind ${key.asymmetricKeyType ?? 'unknown'}, Ed25519 was expected: openssl genpkey -algorithm ed25519 makes one`);
	}

	return key;
}

function refused(file: string, reason: string, cause?: unknown): BailiffError {
	return new BailiffError('EVIDENCE_KEY_INVALID', `the key file ${JSON.stringify(file)} ${reason}`, {
		details: {path: file},
		...(cause === undefined ? {} : {cause}),
	});
}
