import {execFileSync, spawn} from 'node:child_process';
import {existsSync, mkdtempSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {createSshSignatures} from '../../cache/ssh-keygen.ts';
import {BailiffError} from '../../core/errors.ts';
import {eventually} from '../helpers/eventually.ts';
import {makeSshKey, sshTest} from '../helpers/signing-keys.ts';
import {temporaryDirectory} from '../helpers/temporary-directory.ts';

const ssh = createSshSignatures({agentSocket: null});
const message = Buffer.from('a manifest\n');
const namespace = 'test@bailiff';

for (const type of ['ed25519', 'ecdsa', 'rsa']) {
	sshTest(`an ${type} key signs, and exactly its signer, bytes and namespace verify`, async t => {
		const key = makeSshKey(temporaryDirectory(t), 'key', type);
		const signature = await ssh.sign({keyFile: key.file, namespace, message});
		const request = {allowedSigners: Buffer.from(`alice,bob ${key.publicLine}\n`), signer: null, namespace, message, signature};
		t.deepEqual(await ssh.verify(request), {isGood: true, signer: 'alice'});
		t.deepEqual(await ssh.verify({...request, signer: 'bob'}), {isGood: true, signer: 'bob'});
		t.like(await ssh.verify({...request, signer: 'carol'}), {isGood: false, reason: 'signer'});
		t.like(await ssh.verify({...request, namespace: 'git'}), {isGood: false, reason: 'namespace'});
		t.like(await ssh.verify({...request, message: Buffer.from('another\n')}), {isGood: false, reason: 'signature'});
		t.like(await ssh.verify({...request, signature: Buffer.from('junk'), signer: 'alice'}), {isGood: false, reason: 'form'});
	});
}

sshTest('a key that is gone is a refusal that names it', async t => {
	const keyFile = path.join(temporaryDirectory(t), 'none');
	const error = await t.throwsAsync(ssh.sign({keyFile, namespace, message}), {instanceOf: BailiffError});
	t.is(error.code, 'CACHE_SSH_SIGN_FAILED');
	t.is(error.details['path'], keyFile);
});

sshTest('a key that an agent holds signs through its public half', async t => {
	// A socket has a short path at most.
	const directory = mkdtempSync(path.join(tmpdir(), 'b-'));
	const agentSocket = path.join(directory, 'agent');
	const agent = spawn('ssh-agent', ['-D', '-a', agentSocket], {stdio: 'ignore'});
	t.teardown(() => {
		agent.kill();
		rmSync(directory, {recursive: true, force: true});
	});
	await eventually('the socket of the agent', () => existsSync(agentSocket));
	const key = makeSshKey(directory, 'key');
	execFileSync('ssh-add', ['-q', key.file], {env: {PATH: process.env['PATH'], SSH_AUTH_SOCK: agentSocket}, stdio: 'ignore'});
	rmSync(key.file);
	const signature = await createSshSignatures({agentSocket}).sign({keyFile: `${key.file}.pub`, namespace, message});
	const allowedSigners = Buffer.from(`alice ${key.publicLine}\n`);
	t.deepEqual(await ssh.verify({allowedSigners, signer: null, namespace, message, signature}), {isGood: true, signer: 'alice'});
	await t.throwsAsync(ssh.sign({keyFile: `${key.file}.pub`, namespace, message}), {instanceOf: BailiffError}, 'without the agent nobody can sign');
});
