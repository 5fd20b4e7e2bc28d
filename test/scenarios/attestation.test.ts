import {readdirSync, readFileSync, statSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import test from 'ava';
import {runCli} from '../helpers/run-cli.ts';
import {RunGround} from '../helpers/run-ground.ts';
import {makePemKey, makeSshKey, sshTest} from '../helpers/signing-keys.ts';

async function groundWithRun(
	t: Parameters<typeof RunGround.make>[0],
): Promise<{readonly ground: RunGround; readonly manifest: string; readonly attest: readonly string[]}> {
	const ground = await RunGround.make(t);
	t.is((await ground.run(ground.plan([{id: 'one', argv: ['true']}]), '--run-id', 'r1')).exitCode, 0);
	const attest = ['evidence', 'attest', '--root', ground.root, '--target', 'acme/widget#7', '--run', 'r1'];
	return {ground, manifest: path.join(ground.runDirectory('r1'), 'manifest.json'), attest};
}

sshTest('evidence attest with an SSH key, and verify-attestation by the reviewer’s own file of signers', async t => {
	const {ground, manifest, attest} = await groundWithRun(t);
	const key = makeSshKey(ground.directory, 'key');
	const signature = path.join(ground.directory, 'manifest.sig');
	const made = await runCli([...attest, '--key', key.file, '--output', signature]);
	t.is(made.exitCode, 0, made.stderr);
	t.deepEqual(readdirSync(ground.runDirectory('r1')).toSorted(), ['manifest.json', 'output', 'plan.json'], 'the evidence stays as it is');
	const signers = path.join(ground.directory, 'signers');
	writeFileSync(signers, `alice@example.org ${key.publicLine}\n`);
	const verify = ['evidence', 'verify-attestation', '--manifest', manifest, '--attestation', signature];
	const yes = await runCli([...verify, '--allowed-signers', signers, '--require-passed']);
	t.is(yes.exitCode, 0, yes.stdout);
	t.regex(yes.stdout, /^verified: alice@example\.org signed this manifest \(ssh\); its run passed\n/);

	const other = makeSshKey(ground.directory, 'other');
	writeFileSync(signers, `bob@example.org ${other.publicLine}\n`);
	const no = await runCli([...verify, '--allowed-signers', signers, '--json']);
	t.is(no.exitCode, 1);
	t.like(no.json(), {verdict: 'not-verified', kind: 'ssh', signer: null, result: null});
	t.is((await runCli(verify)).exitCode, 2, 'without anybody to trust');
	t.is((await runCli([...verify, '--allowed-signers', path.join(ground.directory, 'none')])).exitCode, 3);
});

test('evidence attest with an Ed25519 key; a failed run is a no where a passed one is asked for', async t => {
	const {ground, manifest, attest} = await groundWithRun(t);
	const key = makePemKey(ground.directory, 'key');
	const made = await runCli([...attest, '--key', key.file, '--json']);
	t.is(made.exitCode, 0, made.stderr);
	const envelope = path.join(ground.directory, 'statement.dsse.json');
	writeFileSync(envelope, String(made.json()['content']));
	const verify = ['evidence', 'verify-attestation', '--manifest', manifest, '--attestation', envelope, '--trusted-key', key.publicFile];
	t.like((await runCli([...verify, '--json'])).json(), {verdict: 'verified', kind: 'dsse', result: 'passed', problems: []});

	t.is((await ground.run(ground.plan([{id: 'one', argv: ['false']}]), '--run-id', 'r2')).exitCode, 1);
	const failed = (await runCli([...attest.slice(0, -1), 'r2', '--key', key.file])).stdout;
	writeFileSync(envelope, failed);
	const of = (file: string): string[] => verify.with(3, path.join(ground.runDirectory(file), 'manifest.json'));
	t.is((await runCli(of('r2'))).exitCode, 0, 'the record of a failed run is signed all the same');
	t.is((await runCli([...of('r2'), '--require-passed'])).exitCode, 1);
	const replayed = await runCli(of('r1'));
	t.is(replayed.exitCode, 1, 'the statement of one run says nothing about another');
	t.regex(replayed.stdout, /EVIDENCE_ATTESTATION_STATEMENT/);
	t.true(readFileSync(manifest).length > 0 && (statSync(manifest).mode & 0o777) === 0o600);
});
