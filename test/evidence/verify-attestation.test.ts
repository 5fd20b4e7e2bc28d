import {execFileSync} from 'node:child_process';
import {chmodSync, readFileSync, symlinkSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import test, {type ExecutionContext} from 'ava';
import {createSshSignatures} from '../../cache/ssh-keygen.ts';
import {BailiffError} from '../../core/errors.ts';
import {attestationNamespace, attestRun} from '../../evidence/attest.ts';
import {readSigningKey, readTrustedKey, readTrustFile} from '../../evidence/attestation-keys.ts';
import {sealEnvelope} from '../../evidence/dsse.ts';
import {type AttestationTrust, verifyAttestation} from '../../evidence/verify-attestation.ts';
import {example, RunCopy} from '../helpers/example-run.ts';
import {makePemKey, makeSshKey, sshTest} from '../helpers/signing-keys.ts';
import {temporaryDirectory} from '../helpers/temporary-directory.ts';

const ssh = createSshSignatures({agentSocket: null});
const nobody: AttestationTrust = {allowedSigners: null, trustedKeys: [], signer: null};

function copyOf(t: ExecutionContext): {
	readonly place: {readonly verificationDir: string; readonly target: typeof example.target};
	readonly manifest: Buffer;
	readonly copy: RunCopy;
} {
	const copy = new RunCopy();
	t.teardown(() => copy.remove());
	return {place: {verificationDir: copy.verification, target: example.target}, manifest: readFileSync(copy.path('manifest.json')), copy};
}

const signersOf = (...lines: readonly string[]): Buffer => Buffer.from(`${lines.join('\n')}\n`);

sshTest('an SSH signature is over the exact manifest bytes, in our namespace, and stock ssh-keygen verifies it', async t => {
	const directory = temporaryDirectory(t);
	const {place, manifest} = copyOf(t);
	const key = makeSshKey(directory, 'key');
	const {bytes, kind} = await attestRun({place, runId: example.runId}, readSigningKey(key.file), ssh);
	t.is(kind, 'ssh');
	const files = {signers: path.join(directory, 'signers'), signature: path.join(directory, 'manifest.sig')};
	writeFileSync(files.signers, `alice ${key.publicLine}\n`);
	writeFileSync(files.signature, bytes);
	const args = ['-Y', 'verify', '-f', files.signers, '-I', 'alice', '-n', attestationNamespace, '-s', files.signature];
	t.regex(execFileSync('ssh-keygen', args, {input: manifest, encoding: 'utf8'}), /^Good .* signature for alice/);
	const answer = await verifyAttestation({manifest, attestation: bytes}, {...nobody, allowedSigners: readTrustFile(files.signers)}, ssh);
	t.like(answer, {verdict: 'verified', kind: 'ssh', signer: 'alice', result: 'failed', problems: []});
});

sshTest('an SSH signature is refused for what it is not', async t => {
	t.timeout(60_000);
	const directory = temporaryDirectory(t);
	const {place, manifest} = copyOf(t);
	const [key, other] = [makeSshKey(directory, 'key'), makeSshKey(directory, 'other', 'ecdsa')];
	const {bytes} = await attestRun({place, runId: example.runId}, readSigningKey(key.file), ssh);
	const forGit = await ssh.sign({keyFile: key.file, namespace: 'git', message: manifest});
	const alice = signersOf(`alice ${key.publicLine}`);
	const alteredManifest = Buffer.from(manifest.toString().replace('"passed":false', '"passed":true '));
	const cases: ReadonlyArray<readonly [title: string, attestation: Buffer, trust: Partial<AttestationTrust>, code: string, signed?: Buffer]> = [
		['another namespace', forGit, {allowedSigners: alice}, 'EVIDENCE_ATTESTATION_NAMESPACE'],
		['another signer', bytes, {allowedSigners: signersOf(`bob ${other.publicLine}`)}, 'EVIDENCE_ATTESTATION_SIGNER'],
		['a signer who may sign for git alone', bytes, {allowedSigners: signersOf(`alice namespaces="git" ${key.publicLine}`)}, 'EVIDENCE_ATTESTATION_SIGNER'],
		['a signer who is not the one asked for', bytes, {allowedSigners: alice, signer: 'bob'}, 'EVIDENCE_ATTESTATION_SIGNER'],
		['a name that is only a pattern', bytes, {allowedSigners: signersOf(`*@x ${key.publicLine}`)}, 'EVIDENCE_ATTESTATION_SIGNER'],
		['an empty file of signers', bytes, {allowedSigners: Buffer.alloc(0)}, 'EVIDENCE_ATTESTATION_SIGNER'],
		['no signers at all', bytes, {}, 'EVIDENCE_ATTESTATION_SIGNER'],
		['an altered manifest', bytes, {allowedSigners: alice}, 'EVIDENCE_ATTESTATION_SIGNATURE', alteredManifest],
		['a byte in front', Buffer.concat([Buffer.from('-'), bytes]), {allowedSigners: alice}, 'EVIDENCE_ATTESTATION_FORM'],
		['a second signature behind', Buffer.concat([bytes, bytes]), {allowedSigners: alice}, 'EVIDENCE_ATTESTATION_BASE64'],
		[
			'armor of other line lengths',
			Buffer.from(bytes.toString().replace(/(?<=URE-----\n.{10})/, '\n')),
			{allowedSigners: alice},
			'EVIDENCE_ATTESTATION_BASE64',
		],
		[
			'armor around nothing of SSH',
			Buffer.from('-----BEGIN SSH SIGNATURE-----\naGVsbG8=\n-----END SSH SIGNATURE-----\n'),
			{allowedSigners: alice},
			'EVIDENCE_ATTESTATION_SIGNER',
		],
	];
	for (const [title, attestation, trust, code, signed] of cases) {
		const answer = await verifyAttestation({manifest: signed ?? manifest, attestation}, {...nobody, ...trust}, ssh);
		t.is(answer.verdict, 'not-verified', title);
		t.is(answer.signer, null, title);
		t.is(answer.result, null, title);
		t.true(
			answer.problems.some(problem => problem.code === code),
			`${title}: ${JSON.stringify(answer.problems)}`,
		);
	}

	const named = await verifyAttestation({manifest, attestation: bytes}, {...nobody, allowedSigners: signersOf(`*@x ${key.publicLine}`), signer: 'ann@x'}, ssh);
	t.like(named, {verdict: 'verified', signer: 'ann@x'});
});

test('an envelope vouches for exactly the manifest whose statement it holds', async t => {
	const directory = temporaryDirectory(t);
	const {place, manifest, copy} = copyOf(t);
	const key = makePemKey(directory, 'key');
	const {bytes, kind} = await attestRun({place, runId: example.runId}, readSigningKey(key.file), ssh);
	t.is(kind, 'dsse');
	const trust = {...nobody, trustedKeys: [readTrustedKey(key.publicFile)]};
	t.like(await verifyAttestation({manifest, attestation: bytes}, trust, ssh), {verdict: 'verified', kind: 'dsse', result: 'failed', problems: []});

	copy.rewrite({...JSON.parse(manifest.toString()), finished_at: '2026-08-01T12:00:01.536Z'});
	const later = readFileSync(copy.path('manifest.json'));
	const refused = await verifyAttestation({manifest: later, attestation: bytes}, trust, ssh);
	t.like(refused, {verdict: 'not-verified', signer: null, result: null});
	t.deepEqual(
		refused.problems.map(({code}) => code),
		['EVIDENCE_ATTESTATION_STATEMENT'],
	);
	const foreign = sealEnvelope(Buffer.from('{}'), key.privateKey);
	t.is((await verifyAttestation({manifest, attestation: foreign}, trust, ssh)).problems[0]?.code, 'EVIDENCE_ATTESTATION_STATEMENT');
	const noManifest = await verifyAttestation({manifest: Buffer.from('{}'), attestation: bytes}, trust, ssh);
	t.is(noManifest.verdict, 'not-verified');
});

test('nobody can put a name to a run that contradicts itself', async t => {
	const {place, copy} = copyOf(t);
	copy.write('output/000.log', 'other');
	const key = readSigningKey(makePemKey(temporaryDirectory(t), 'key').file);
	const error = await t.throwsAsync(attestRun({place, runId: example.runId}, key, ssh), {instanceOf: BailiffError});
	t.is(error.code, 'EVIDENCE_UNSOUND');
	const missing = await t.throwsAsync(attestRun({place, runId: 'r9'}, key, ssh), {instanceOf: BailiffError});
	t.is(missing.code, 'EVIDENCE_RUN_NOT_FOUND');
});

test('key files are refused when they are open to others, links, of another kind or missing', t => {
	const directory = temporaryDirectory(t);
	const key = makePemKey(directory, 'key');
	const file = (name: string, content: string | Buffer, mode: number): string => {
		const place = path.join(directory, name);
		writeFileSync(place, content);
		chmodSync(place, mode);
		return place;
	};
	const link = path.join(directory, 'link.pem');
	symlinkSync(key.file, link);
	const pem = readFileSync(key.file);
	const refusals: ReadonlyArray<readonly [title: string, read: () => unknown, message: RegExp]> = [
		['mode 0644', () => readSigningKey(file('open.pem', pem, 0o644)), /chmod 600/],
		['a link', () => readSigningKey(link), /symbolic link/],
		['a missing file', () => readSigningKey(path.join(directory, 'none')), /not there/],
		['a directory', () => readSigningKey(directory), /not of the expected kind/],
		['no key', () => readSigningKey(file('text.pem', 'hello', 0o600)), /no key that can be used/],
		['a private key as a trusted one', () => readTrustedKey(key.file), /must hold one public key/],
		['a trusted key that others may write', () => readTrustedKey(file('wide.pem', readFileSync(key.publicFile), 0o666)), /writable by nobody else/],
		['a missing file of signers', () => readTrustFile(path.join(directory, 'signers')), /not there/],
		['signers that a group may write', () => readTrustFile(file('signers', 'x', 0o664)), /writable by nobody else/],
	];
	for (const [title, read, message] of refusals) {
		const error = t.throws(read, {instanceOf: BailiffError, message}, title);
		t.is(error?.code, 'EVIDENCE_KEY_INVALID', title);
	}
});

sshTest('a key with a passphrase is refused at once: there is nobody to ask', async t => {
	const directory = temporaryDirectory(t);
	const {place} = copyOf(t);
	const file = path.join(directory, 'locked');
	execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', 'long passphrase', '-f', file]);
	const error = await t.throwsAsync(attestRun({place, runId: example.runId}, readSigningKey(file), ssh), {instanceOf: BailiffError});
	t.is(error.code, 'CACHE_SSH_SIGN_FAILED');
});
