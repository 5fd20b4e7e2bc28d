import {createSshSignatures} from '../../cache/ssh-keygen.ts';
import {sha256Hex} from '../../core/digest.ts';
import {visibleLine} from '../../core/visible-text.ts';
import {attestRun} from '../../evidence/attest.ts';
import {readSigningKey} from '../../evidence/attestation-keys.ts';
import {readContractPath, readTarget, toAbsolute} from '../arguments.ts';
import type {CommandCall, Reply} from '../command-spec.ts';
import {evidencePlace} from '../evidence-place.ts';
import {exitCodes} from '../exit-codes.ts';
import {writeNewFile} from '../new-file.ts';

/** `bailiff evidence attest`: a signature over one run, into a new file or to stdout; the evidence stays as it is (E-EXP-3). */
export async function evidenceAttest(call: CommandCall): Promise<Reply> {
	const {options} = call;
	const runId = options.required('run');
	const place = evidencePlace(readContractPath(options), readTarget(options));
	const key = readSigningKey(toAbsolute(options.required('key')));
	const ssh = createSshSignatures({agentSocket: process.env['SSH_AUTH_SOCK'] ?? null});
	const {kind, manifestSha256, result, bytes} = await attestRun({place, runId}, key, ssh);
	const output = options.text('output');
	const file = output === null ? null : writeNewFile(output, bytes, null);
	const about = {run_id: runId, kind, manifest_sha256: manifestSha256, result, sha256: sha256Hex(bytes), file};
	return {
		exitCode: exitCodes.yes,
		json: file === null ? {...about, content: bytes.toString('utf8')} : about,
		text: file === null ? bytes : `signed (${kind}): run ${visibleLine(runId, 128)}, which ${result}, in ${visibleLine(file, 1000)}`,
	};
}
