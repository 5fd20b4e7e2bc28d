import {createSshSignatures} from '../../cache/ssh-keygen.ts';
import {BailiffError} from '../../core/errors.ts';
import {visibleLine} from '../../core/visible-text.ts';
import {readTrustedKey, readTrustFile} from '../../evidence/attestation-keys.ts';
import {manifestLimits} from '../../evidence/manifest.ts';
import {type AttestationAnswer, verifyAttestation} from '../../evidence/verify-attestation.ts';
import {toAbsolute} from '../arguments.ts';
import type {CommandCall, Reply} from '../command-spec.ts';
import {exitCodes} from '../exit-codes.ts';
import {readInputFile} from '../input-file.ts';
import {problemLines} from '../problem-lines.ts';

/** `bailiff evidence verify-attestation`: whether a signer whom the reviewer names signed exactly this manifest (E-EXP-3). */
export async function evidenceVerifyAttestation(call: CommandCall): Promise<Reply> {
	const {options} = call;
	const allowedSigners = options.text('allowedSigners');
	const trustedKeys = options.list('trustedKey');
	if (allowedSigners === null && trustedKeys.length === 0) {
		throw new BailiffError('CLI_USAGE', 'say whom you trust: --allowed-signers FILE for SSH signatures, --trusted-key FILE for DSSE envelopes');
	}

	const trust = {
		allowedSigners: allowedSigners === null ? null : readTrustFile(toAbsolute(allowedSigners)),
		trustedKeys: trustedKeys.map(file => readTrustedKey(toAbsolute(file))),
		signer: options.text('signer'),
	};
	const manifest = readInputFile(options.required('manifest'), manifestLimits.maxBytes).bytes;
	const attestation = readInputFile(options.required('attestation'), 2 * manifestLimits.maxBytes).bytes;
	const answer = await verifyAttestation({manifest, attestation}, trust, createSshSignatures({agentSocket: null}));
	const isYes = answer.verdict === 'verified' && (!options.flag('requirePassed') || answer.result === 'passed');
	return {
		exitCode: isYes ? exitCodes.yes : exitCodes.no,
		json: {...answer, problems: [...answer.problems]},
		text: describe(answer),
	};
}

function describe({verdict, kind, signer, result, manifest_sha256: sha256, problems}: AttestationAnswer): string {
	const meaning =
		verdict === 'verified'
			? `${visibleLine(signer ?? '', 300)} signed this manifest (${kind ?? ''}); its run ${result ?? ''}`
			: 'nobody whom you trust is shown to have signed this manifest';
	return [`${verdict}: ${meaning}`, `manifest sha256 ${sha256}`, ...problemLines(problems)].join('\n');
}
