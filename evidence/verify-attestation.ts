import type {KeyObject} from 'node:crypto';
import {sha256Hex} from '../core/digest.ts';
import {attestationNamespace} from './attest.ts';
import {canonicalBase64, openEnvelope} from './dsse.ts';
import {readManifest} from './manifest-reader.ts';
import type {Manifest} from './manifest-schema.ts';
import type {SshSignatures} from './ports.ts';
import {ProblemList} from './problem-list.ts';
import type {Problem, ProblemCode} from './problems.ts';
import {statementBytes} from './statement.ts';

/** Whom the reviewer trusts. Nothing of it may come from what is verified. */
export type AttestationTrust = {
	/** Bytes of a file in the form of ssh-keygen's ALLOWED SIGNERS. */
	readonly allowedSigners: Uint8Array | null;
	/** Ed25519 public keys. */
	readonly trustedKeys: readonly KeyObject[];
	/** Only this signer of the allowed ones. */
	readonly signer: string | null;
};

/** What a signature vouches for. */
export type AttestationAnswer = {
	readonly verdict: 'verified' | 'not-verified';
	readonly kind: 'ssh' | 'dsse' | null;
	/** Name of the allowed signer, or id of the trusted key; null when nobody trusted signed. */
	readonly signer: string | null;
	readonly manifest_sha256: string;
	/** Of the run; null unless verified. */
	readonly result: 'passed' | 'failed' | null;
	readonly problems: readonly Problem[];
};

/** The two files to hold against each other. */
export type SignedManifest = {readonly manifest: Buffer; readonly attestation: Buffer};

/** An armored signature of any key is far below this. */
const maxArmorBytes = 65_536;
const armorStart = '-----BEGIN SSH SIGNATURE-----\n';
const armorEnd = '\n-----END SSH SIGNATURE-----\n';

/**
 * Verifies that a signer whom the reviewer trusts signed exactly this manifest. Offline; total for any bytes.
 *
 * An SSH signature must be over these very bytes, in our namespace, by an allowed signer. An envelope must hold the very bytes of the statement that this
 * manifest gives. `verified` says who vouches for the manifest; whether its run holds is a question for validateRun. Source: E-EXP-3.
 */
export async function verifyAttestation(signed: SignedManifest, trust: AttestationTrust, ssh: Pick<SshSignatures, 'verify'>): Promise<AttestationAnswer> {
	const problems = new ProblemList();
	const manifest = readManifest(signed.manifest, problems)?.manifest ?? null;
	const isArmor = signed.attestation.toString('latin1', 0, 5) === '-----';
	const signer = isArmor ? await verifyArmor(signed, trust, {ssh, problems}) : verifyEnvelope(signed, trust, {manifest, problems});
	const isVerified = manifest !== null && signer !== null && problems.isSound;
	return {
		verdict: isVerified ? 'verified' : 'not-verified',
		kind: isArmor ? 'ssh' : 'dsse',
		signer: isVerified ? signer : null,
		manifest_sha256: sha256Hex(signed.manifest),
		result: isVerified ? manifest.result : null,
		problems: problems.all(),
	};
}

async function verifyArmor(
	{manifest: message, attestation: signature}: SignedManifest,
	trust: AttestationTrust,
	use: {readonly ssh: Pick<SshSignatures, 'verify'>; readonly problems: ProblemList},
): Promise<string | null> {
	const fault = armorFault(signature);
	if (fault !== null) {
		use.problems.add(fault);
		return null;
	}

	if (trust.allowedSigners === null) {
		use.problems.add(problem('EVIDENCE_ATTESTATION_SIGNER', 'this is an SSH signature and no allowed signers were named: nobody is trusted'));
		return null;
	}

	const {allowedSigners, signer} = trust;
	const verdict = await use.ssh.verify({allowedSigners, signer, namespace: attestationNamespace, message, signature});
	if (!verdict.isGood) {
		const codes = {
			signer: 'EVIDENCE_ATTESTATION_SIGNER',
			namespace: 'EVIDENCE_ATTESTATION_NAMESPACE',
			signature: 'EVIDENCE_ATTESTATION_SIGNATURE',
			form: 'EVIDENCE_ATTESTATION_FORM',
		} as const;
		use.problems.add(problem(codes[verdict.reason], verdict.message));
		return null;
	}

	return verdict.signer;
}

/** The armor has one spelling: lines of 70 base64 characters, canonical, nothing before or behind. */
function armorFault(signature: Buffer): Problem | null {
	const text = signature.toString('latin1');
	if (signature.length > maxArmorBytes || !text.startsWith(armorStart) || !text.endsWith(armorEnd)) {
		return problem('EVIDENCE_ATTESTATION_FORM', 'this is not exactly one armored SSH signature');
	}

	const lines = text.slice(armorStart.length, -armorEnd.length).split('\n');
	const isFolded = lines.every((line, index) => (index < lines.length - 1 ? line.length === 70 : line.length > 0 && line.length <= 70));
	return isFolded && canonicalBase64(lines.join('')) !== null
		? null
		: problem('EVIDENCE_ATTESTATION_BASE64', 'the armor is not base64 in its one canonical form (lines of 70 characters)');
}

function verifyEnvelope(
	{manifest: bytes, attestation}: SignedManifest,
	trust: AttestationTrust,
	read: {readonly manifest: Manifest | null; readonly problems: ProblemList},
): string | null {
	const envelope = openEnvelope(attestation, trust.trustedKeys);
	if (!envelope.isGood) {
		read.problems.add(problem(envelope.code, envelope.message));
		return null;
	}

	if (read.manifest === null || !statementBytes(read.manifest, sha256Hex(bytes)).equals(envelope.payload)) {
		read.problems.add(problem('EVIDENCE_ATTESTATION_STATEMENT', 'the signed statement is not that of this manifest'));
		return null;
	}

	return envelope.keyId;
}

function problem(code: ProblemCode, message: string): Problem {
	return {code, path: null, pointer: '', message};
}
