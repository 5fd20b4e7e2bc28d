import type {SigningKey} from './attestation-keys.ts';
import {sealEnvelope} from './dsse.ts';
import type {SshSignatures} from './ports.ts';
import {readSoundManifest} from './sound-manifest.ts';
import {statementBytes} from './statement.ts';
import type {VerificationPlace} from './verification-directory.ts';

/** The namespace of our SSH signatures: a signature that was made for git or for a file is none of ours. */
export const attestationNamespace = 'evidence-manifest-v3@bailiff';

/** What was signed, and the attestation. */
export type Attestation = {
	readonly kind: 'ssh' | 'dsse';
	readonly manifestSha256: string;
	readonly result: 'passed' | 'failed';
	/** SSHSIG armor over the manifest bytes, or a DSSE envelope. */
	readonly bytes: Buffer;
};

/**
 * Signs one published run: with an SSH key the exact bytes of its manifest, with an Ed25519 key its in-toto Statement in a DSSE envelope. Writes nothing.
 *
 * A signature says who vouches for a manifest; it does not say that anything ran. Refuses: EVIDENCE_RUN_NOT_FOUND, EVIDENCE_UNSOUND, and what `ssh` refuses.
 * Source: E-EXP-3.
 */
export async function attestRun(
	run: {readonly place: VerificationPlace; readonly runId: string},
	key: SigningKey,
	ssh: Pick<SshSignatures, 'sign'>,
): Promise<Attestation> {
	const {manifest, bytes: message, sha256: manifestSha256} = readSoundManifest(run.place, run.runId);
	const bytes =
		key.kind === 'dsse'
			? sealEnvelope(statementBytes(manifest, manifestSha256), key.key)
			: await ssh.sign({keyFile: key.file, namespace: attestationNamespace, message});
	return {kind: key.kind, manifestSha256, result: manifest.result, bytes};
}
