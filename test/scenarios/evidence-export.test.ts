import {execFileSync, spawn, spawnSync} from 'node:child_process';
import {once} from 'node:events';
import {
	chmodSync,
	cpSync,
	existsSync,
	linkSync,
	mkdirSync,
	readdirSync,
	readFileSync,
	rmSync,
	statSync,
	symlinkSync,
	truncateSync,
	writeFileSync,
} from 'node:fs';
import path from 'node:path';
import test, {type ExecutionContext} from 'ava';
import {sha256Hex} from '../../core/digest.ts';
import {type BagFile, bagBase, bagFile, isPayloadPath, tagFiles} from '../../evidence/bagit.ts';
import {exportReceiptSchema, receiveReceiptSchema} from '../../evidence/receipt.ts';
import {ustarEnd, ustarHeader, ustarPadding} from '../../evidence/ustar.ts';
import {CorpusGround, cloneCorpusSource} from '../helpers/evidence-corpus.ts';
import {type CliResult, runCli} from '../helpers/run-cli.ts';
import {temporaryDirectory} from '../helpers/temporary-directory.ts';

const isRoot = process.geteuid?.() === 0;
const otherUser = 65_534;
const issue = 'repositories/acme/widget/worktrees/issue-7';

type Exported = {readonly ground: CorpusGround; readonly directory: string; readonly output: string; readonly sha256: string; readonly result: CliResult};

async function exported(t: ExecutionContext, name: string): Promise<Exported> {
	const directory = temporaryDirectory(t);
	const ground = new CorpusGround(directory, 'v3', cloneCorpusSource(directory));
	const output = path.join(directory, name);
	const result = await runCli(exportArguments(ground, output));
	t.is(result.exitCode, 0, result.stderr + result.stdout);
	return {ground, directory, output, sha256: digestOf(output), result};
}

function exportArguments(ground: CorpusGround, output: string): string[] {
	const source = ['--repo-root', ground.checkout];
	return ['evidence', 'export', '--root', ground.root, '--target', 'acme/widget#7', '--run', ground.runId, '--output', output, ...source, '--json'];
}

/** What a receiver is told: worked out by the stock tool. */
function digestOf(bundle: string): string {
	const file = statSync(bundle).isDirectory() ? path.join(bundle, 'tagmanifest-sha256.txt') : bundle;
	return execFileSync('sha256sum', [file], {encoding: 'utf8'}).slice(0, 64);
}

async function receive(root: string, bundle: string, sha256: string, uid?: number): Promise<CliResult> {
	const own = uid === undefined ? {} : {uid};
	await runCli(['init', '--root', root], own);
	return runCli(['evidence', 'receive', '--root', root, '--bundle', bundle, '--expected-sha256', sha256, '--json'], own);
}

function codeOf(result: CliResult): unknown {
	return (result.json()['error'] as {code?: string} | undefined)?.code;
}

/** A bag as a directory, whichever form it was exported in. */
function unpacked({directory, output}: Exported): string {
	if (statSync(output).isDirectory()) {
		return output;
	}

	execFileSync('tar', ['-xf', output], {cwd: directory});
	return path.join(directory, bagBase);
}

for (const name of ['evidence.tar', 'evidence']) {
	test(`${name}: stock tools find every file of the bundle whole, and the bundle can be read by everybody and changed by nobody`, async t => {
		const bundle = await exported(t, name);
		const bag = unpacked(bundle);
		for (const algorithm of ['sha256', 'sha512']) {
			for (const list of ['manifest', 'tagmanifest']) {
				execFileSync(`${algorithm}sum`, ['--check', '--strict', '--quiet', `${list}-${algorithm}.txt`], {cwd: bag});
			}
		}

		t.is(statSync(bundle.output).mode & 0o777, name === 'evidence' ? 0o755 : 0o444);
		if (name === 'evidence') {
			t.is(statSync(path.join(bag, 'data/run/manifest.json')).mode & 0o777, 0o444);
		} else {
			t.regex(execFileSync('tar', ['-tvf', bundle.output], {encoding: 'utf8'}), /^(?:-rw------- 0\/0 .*\n)+$/);
		}

		const payload = readdirSync(path.join(bag, 'data/run'), {recursive: true, encoding: 'utf8'}).toSorted();
		t.deepEqual(payload, readdirSync(bundle.ground.run, {recursive: true, encoding: 'utf8'}).toSorted());
	});

	test(`${name}: its receipt names every file of the written bundle, the digest, the manifest and the head of the ledger`, async t => {
		const {output, sha256, ground, result} = await exported(t, name);
		const receipt = exportReceiptSchema.parse(JSON.parse(readFileSync(`${output}.receipt.json`, 'utf8')));
		t.deepEqual(result.json()['receipt'], receipt);
		t.is(receipt.bundle.sha256, sha256);
		t.is(receipt.manifest_sha256, sha256Hex(readFileSync(path.join(ground.run, 'manifest.json'))));
		const lines = readFileSync(path.join(ground.verification, 'ledger.jsonl'), 'utf8').trimEnd().split('\n');
		t.deepEqual(receipt.ledger, {n: lines.length, sha256: sha256Hex(lines.at(-1) ?? '')});
		t.is(receipt.entries.length, 11 + 6);
		t.is(statSync(`${output}.receipt.json`).mode & 0o777, 0o444);
	});

	test(`${name}: another root takes the run in, and it is valid there; its modes are those of evidence`, async t => {
		const {directory, output, sha256, ground} = await exported(t, name);
		const root = path.join(directory, 'reviewer');
		const received = await receive(root, output, sha256);
		t.is(received.exitCode, 0, received.stdout);
		const flags = ['--repo-root', ground.checkout, '--target', 'acme/widget#7', '--run', ground.runId, '--json'];
		const validated = (await runCli(['validate', '--root', root, ...flags])).json();
		t.like(validated, {verdict: 'valid-v3', result: 'passed', problems: []});
		const beside = path.join(root, issue, 'runtime', `received-${ground.runId}`);
		const receipt = receiveReceiptSchema.parse(JSON.parse(readFileSync(path.join(beside, 'receipt.json'), 'utf8')));
		t.is(receipt.bundle.sha256, sha256);
		t.deepEqual(readdirSync(beside).toSorted(), ['receipt.json', 'source.pack']);
		t.is(codeOf(await receive(root, output, sha256)), 'EVIDENCE_RUN_EXISTS');
	});

	test(`${name}: validate --receipt is a no where the ledger lost the line that the receipt names`, async t => {
		const {output, ground} = await exported(t, name);
		const argv = ['validate', '--root', ground.root, '--repo-root', ground.checkout, '--target', 'acme/widget#7', '--run', ground.runId, '--json'];
		t.like((await runCli([...argv, '--receipt', `${output}.receipt.json`])).json(), {verdict: 'valid-v3', problems: []});
		t.like((await runCli([...argv, '--receipt', path.join(ground.run, 'plan.json')])).json(), {error: {code: 'EVIDENCE_RECEIPT_INVALID'}});
		const ledger = path.join(ground.verification, 'ledger.jsonl');
		truncateSync(ledger, readFileSync(ledger).indexOf(0x0a) + 1);
		t.is((await runCli(argv)).json()['verdict'], 'valid-v3');
		const cut = await runCli([...argv, '--receipt', `${output}.receipt.json`]);
		t.is(cut.exitCode, 1);
		t.regex(cut.stdout, /EVIDENCE_LEDGER_CUT/);
	});

	test(`${name}: without the digest that was told nothing is taken`, async t => {
		const {directory, output, sha256} = await exported(t, name);
		const root = path.join(directory, 'reviewer');
		const refused = await receive(
			root,
			output,
			sha256.replace(/^./, digit => (digit === '0' ? '1' : '0')),
		);
		t.is(refused.exitCode, 3);
		t.is(codeOf(refused), 'EVIDENCE_BUNDLE_DIGEST');
		t.false(existsSync(path.join(root, 'repositories')));
		t.is((await receive(root, output, sha256.toUpperCase())).exitCode, 2);
	});

	const asRoot = isRoot ? test : test.skip;
	asRoot(`${name}: a reviewer with another uid takes in what the producer cannot be read for`, async t => {
		const {directory, output, sha256, ground} = await exported(t, name);
		chmodSync(directory, 0o755);
		const root = path.join(directory, 'reviewer');
		mkdirSync(root, {mode: 0o755});
		execFileSync('chown', [`${otherUser}:${otherUser}`, root]);
		t.throws(() => execFileSync('cat', [path.join(ground.run, 'manifest.json')], {uid: otherUser, stdio: 'ignore'}));
		const received = await receive(root, output, sha256, otherUser);
		t.is(received.exitCode, 0, received.stdout + received.stderr);
		const run = path.join(root, issue, 'verification', ground.runId);
		t.deepEqual([statSync(run).uid, statSync(run).mode & 0o777], [otherUser, 0o700]);
		const own = cloneCorpusSource(root);
		execFileSync('chown', ['-R', `${otherUser}:${otherUser}`, own]);
		const flags = ['--repo-root', own, '--target', 'acme/widget#7', '--run', ground.runId, '--json'];
		t.like((await runCli(['validate', '--root', root, ...flags], {uid: otherUser})).json(), {verdict: 'valid-v3', problems: []});
	});
}

test('a BagIt validator of other make finds the bag valid', async t => {
	const directory = temporaryDirectory(t);
	const install = spawnSync('python3', ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '--target', path.join(directory, 'py'), 'bagit'], {
		encoding: 'utf8',
		timeout: 60_000,
	});
	if (install.status !== 0) {
		t.log(`left out: the python package bagit cannot be installed here (${install.error?.message ?? install.stderr.trim().split('\n').at(-1)})`);
		t.pass();
		return;
	}

	const bag = unpacked(await exported(t, 'evidence.tar'));
	const env = {...process.env, PYTHONPATH: path.join(directory, 'py')};
	const validated = spawnSync('python3', ['-m', 'bagit', '--validate', bag], {env, encoding: 'utf8'});
	t.is(validated.status, 0, validated.stderr);
	writeFileSync(path.join(bag, 'data/run/output/000.log'), 'ok 2\n');
	t.not(spawnSync('python3', ['-m', 'bagit', '--validate', bag], {env, encoding: 'utf8'}).status, 0);
});

test('the same run gives the same bundle', async t => {
	const {ground, directory, sha256} = await exported(t, 'one.tar');
	await runCli(exportArguments(ground, path.join(directory, 'two.tar')));
	t.is(digestOf(path.join(directory, 'two.tar')), sha256);
});

type Files = Map<string, Buffer>;

/** Every file of an exported bag. */
function filesOf(bag: string): Files {
	const names = readdirSync(bag, {recursive: true, encoding: 'utf8'}).filter(name => statSync(path.join(bag, name)).isFile());
	return new Map(names.map(name => [name, readFileSync(path.join(bag, name))]));
}

/** The tag files again, as a forger with an editor would make them. */
function retagged(files: Files, identifier = 'acme/widget#7/20260801-100001-0000aaaa'): Files {
	const payload: BagFile[] = [...files].filter(([name]) => isPayloadPath(name)).map(([name, bytes]) => bagFile(name, bytes));
	return new Map([...files, ...tagFiles(payload, identifier)]);
}

function tarOf(files: Files): Buffer {
	const sorted = [...files].toSorted(([left], [right]) => (left < right ? -1 : 1));
	const parts = sorted.flatMap(([name, bytes]) => [
		ustarHeader({path: `${bagBase}/${name}`, bytes: bytes.length, mode: 0o600, mtime: 0}),
		bytes,
		ustarPadding(bytes.length),
	]);
	return Buffer.concat([...parts, ustarEnd]);
}

const forgeries: ReadonlyArray<readonly [title: string, forge: (files: Files) => Files]> = [
	['a changed output', files => files.set('data/run/output/000.log', Buffer.from('ok 2\n'))],
	['a changed output and new bag manifests', files => retagged(files.set('data/run/output/000.log', Buffer.from('ok 2\n')))],
	['a changed plan and new bag manifests', files => retagged(files.set('data/run/plan.json', Buffer.from('{}')))],
	['a missing output', files => (files.delete('data/run/output/001.log'), retagged(files))],
	['an output that no manifest lists', files => files.set('data/run/output/009.log', Buffer.from('x'))],
	['one more output and new bag manifests', files => retagged(files.set('data/run/output/009.log', Buffer.from('x')))],
	['a file with no place in an export', files => files.set('data/run/extra', Buffer.from('x'))],
	['a fetch.txt', files => files.set('fetch.txt', Buffer.from('https://example.org/ 5 data/run/output/000.log\n'))],
	['no ledger', files => (files.delete('data/ledger.jsonl'), retagged(files))],
	['an empty ledger', files => retagged(files.set('data/ledger.jsonl', Buffer.alloc(0)))],
	['a ledger without its end', files => retagged(files.set('data/ledger.jsonl', files.get('data/ledger.jsonl')?.subarray(1) ?? Buffer.alloc(0)))],
	['no source', files => (files.delete('data/source.pack'), retagged(files))],
	['a source that is no pack', files => retagged(files.set('data/source.pack', Buffer.from('PACK')))],
	['an empty pack', files => retagged(files.set('data/source.pack', Buffer.from('5041434b0000000200000000029d08823bd8a8eab510ad6ac75c823cfd3ed31e', 'hex')))],
	['a bag of another run', files => retagged(files, 'acme/widget#7/other')],
	['a changed bagit.txt', files => files.set('bagit.txt', Buffer.from('BagIt-Version: 0.97\nTag-File-Character-Encoding: UTF-8\n'))],
	['a manifest that is none', files => retagged(files.set('data/run/manifest.json', Buffer.from('{}\n')))],
	['a manifest of v2', files => retagged(files.set('data/run/manifest.json', Buffer.from('{"schema":"evidence-manifest/v2"}\n')))],
];

test('what was forged is refused although the digest is that of the forgery, and nothing is left', async t => {
	const bundle = await exported(t, 'evidence.tar');
	const files = filesOf(unpacked(bundle));
	const root = path.join(bundle.directory, 'reviewer');
	const verification = path.join(root, issue, 'verification');
	for (const [title, forge] of forgeries) {
		const tar = path.join(bundle.directory, 'forged.tar');
		writeFileSync(tar, tarOf(forge(new Map(files))));
		const asTar = await receive(root, tar, digestOf(tar));
		t.is(codeOf(asTar), 'EVIDENCE_BUNDLE_INVALID', title);
		t.is(asTar.exitCode, 3, title);
		t.deepEqual(existsSync(verification) ? readdirSync(verification) : [], [], title);
	}

	const plain = path.join(bundle.directory, 'plain.tar');
	writeFileSync(plain, tarOf(retagged(new Map(files))));
	t.is((await receive(root, plain, digestOf(plain))).exitCode, 0);
});

test('a bundle that is no file or directory of its own is refused at once', async t => {
	const {output, directory, sha256} = await exported(t, 'evidence.tar');
	const root = path.join(directory, 'reviewer');
	const place = path.join(directory, 'hostile');
	const hostile: ReadonlyArray<readonly [code: string, make: () => void]> = [
		['CORE_FILE_NOT_REGULAR', () => execFileSync('mkfifo', [place])],
		['CORE_FILE_UNTRUSTED', () => symlinkSync(output, place)],
		['CORE_FILE_UNTRUSTED', () => linkSync(output, place)],
		['CORE_FILE_UNREADABLE', () => undefined],
		['CORE_FILE_UNREADABLE', () => mkdirSync(place)],
		[
			'CORE_FILE_TOO_LARGE',
			() => {
				writeFileSync(place, '');
				truncateSync(place, 2 ** 40);
			},
		],
		...(isRoot ? [['CORE_FILE_NOT_REGULAR', () => execFileSync('mknod', [place, 'c', '1', '5'])] as const] : []),
	];
	for (const [code, make] of hostile) {
		make();
		const refused = await receive(root, place, sha256);
		t.is(codeOf(refused), code);
		t.is(refused.exitCode, 3);
		rmSync(place, {recursive: true, force: true});
	}
});

test('in the directory of a bundle a link, a FIFO or a strange directory is refused at once', async t => {
	const {output, directory, sha256} = await exported(t, 'evidence');
	const root = path.join(directory, 'reviewer');
	const file = 'data/run/output/000.log';
	const hostile: ReadonlyArray<readonly [code: string, make: (bag: string) => void]> = [
		['CORE_FILE_NOT_REGULAR', bag => execFileSync('mkfifo', [path.join(bag, file)])],
		['CORE_FILE_UNTRUSTED', bag => symlinkSync(path.join(output, file), path.join(bag, file))],
		['CORE_FILE_NOT_REGULAR', bag => mkdirSync(path.join(bag, file))],
		['EVIDENCE_BUNDLE_INVALID', () => undefined],
	];
	for (const [index, [code, make]] of hostile.entries()) {
		const bag = path.join(directory, `bag-${index}`);
		cpSync(output, bag, {recursive: true});
		rmSync(path.join(bag, file));
		make(bag);
		t.is(codeOf(await receive(root, bag, sha256)), code);
	}
});

test('what does not hold is not exported, and nothing that stands is replaced', async t => {
	const {ground, directory, output} = await exported(t, 'evidence.tar');
	t.is(codeOf(await runCli(exportArguments(ground, output))), 'EVIDENCE_OUTPUT_EXISTS');
	rmSync(output);
	t.is(codeOf(await runCli(exportArguments(ground, output))), 'EVIDENCE_OUTPUT_EXISTS', 'the receipt alone');
	t.is(codeOf(await runCli(exportArguments(ground, path.join(ground.run, 'x.tar')))), 'CLI_USAGE');
	t.is(codeOf(await runCli(exportArguments(ground, path.join(directory, 'none/x.tar')))), 'CORE_FILE_UNREADABLE');
	ground.apply({op: 'append', file: 'RUN/output/000.log', text: 'x'});
	const refused = await runCli(exportArguments(ground, path.join(directory, 'later.tar')));
	t.is(codeOf(refused), 'EVIDENCE_EXPORT_UNSOUND');
	t.is(refused.exitCode, 3);
	t.deepEqual(
		readdirSync(directory).filter(name => name.startsWith('.') || name.startsWith('later')),
		[],
	);
});

test('an import that was killed before its receipt is finished by the same bundle, and by no other', async t => {
	const {ground, directory, output, sha256} = await exported(t, 'evidence.tar');
	const root = path.join(directory, 'reviewer');
	t.is((await receive(root, output, sha256)).exitCode, 0);
	const received = path.join(root, issue, 'runtime', `received-${ground.runId}`);
	rmSync(received, {recursive: true});
	t.is((await receive(root, output, sha256)).exitCode, 0);
	t.true(existsSync(path.join(received, 'receipt.json')));
	t.deepEqual(readdirSync(path.join(root, issue, 'verification')).toSorted(), [ground.runId, 'ledger.jsonl']);
	rmSync(received, {recursive: true});
	writeFileSync(path.join(root, issue, 'verification', ground.runId, 'output/000.log'), 'ok 2\n');
	t.is(codeOf(await receive(root, output, sha256)), 'EVIDENCE_RUN_EXISTS');
});

test('of two exports to one place, and of two imports of one bundle, exactly one wins and nothing is left of the other', async t => {
	const {ground, directory, output, sha256} = await exported(t, 'evidence.tar');
	const contested = path.join(directory, 'contested.tar');
	const exports = await Promise.all([1, 2].map(async () => runCli(exportArguments(ground, contested))));
	t.deepEqual(
		exports.map(({exitCode}) => exitCode ?? -1).toSorted((left, right) => left - right),
		[0, 3],
	);
	t.is(digestOf(contested), sha256);
	const root = path.join(directory, 'reviewer');
	await runCli(['init', '--root', root]);
	const imports = await Promise.all([1, 2].map(async () => receive(root, output, sha256)));
	t.deepEqual(
		imports.map(({exitCode}) => exitCode ?? -1).toSorted((left, right) => left - right),
		[0, 3],
	);
	t.true(imports.some(result => ['EVIDENCE_RUN_EXISTS', 'CACHE_LOCK_BUSY'].includes(String(codeOf(result)))));
	for (const place of [directory, path.join(root, issue, 'verification'), path.join(root, issue, 'runtime')]) {
		t.deepEqual(
			readdirSync(place).filter(name => name.startsWith('.')),
			[],
		);
	}
});

test('a bundle that grows while it is read is refused and not waited for', async t => {
	const {directory, output} = await exported(t, 'evidence.tar');
	const growing = path.join(directory, 'growing.tar');
	cpSync(output, growing);
	chmodSync(growing, 0o600);
	const sha256 = digestOf(growing);
	const writer = spawn('sh', ['-c', 'echo started; while :; do printf x; done >> "$0"', growing], {stdio: ['ignore', 'pipe', 'ignore']});
	await once(writer.stdout, 'data');
	const refused = await receive(path.join(directory, 'reviewer'), growing, sha256);
	writer.kill('SIGKILL');
	t.true(['CORE_FILE_CHANGED', 'EVIDENCE_BUNDLE_DIGEST'].includes(String(codeOf(refused))));
});

test('a later export of the same issue continues the ledger of the receiver; a forked one is refused', async t => {
	const {ground, directory, output, sha256} = await exported(t, 'evidence.tar');
	const root = path.join(directory, 'reviewer');
	await receive(root, output, sha256);
	const plan = path.join(directory, 'plan.json');
	cpSync(path.join(ground.run, 'plan.json'), plan);
	const run = await runCli(['run', '--root', ground.root, '--repo-root', ground.checkout, '--plan', plan, '--run-id', 'second']);
	t.is(run.exitCode, 0, run.stderr);
	const second = path.join(directory, 'second.tar');
	await runCli(exportArguments(ground, second).map(word => (word === ground.runId ? 'second' : word)));
	t.is((await receive(root, second, digestOf(second))).exitCode, 0);
	const ledger = path.join(root, issue, 'verification/ledger.jsonl');
	t.is(readFileSync(ledger, 'utf8'), readFileSync(path.join(ground.verification, 'ledger.jsonl'), 'utf8'));
	rmSync(path.join(root, issue, 'verification/second'), {recursive: true});
	rmSync(path.join(root, issue, 'runtime/received-second'), {recursive: true});
	writeFileSync(ledger, readFileSync(ledger, 'utf8').replace('"second"', '"zecond"'));
	t.is(codeOf(await receive(root, second, digestOf(second))), 'EVIDENCE_LEDGER_FORKED');
	t.false(existsSync(path.join(root, issue, 'verification/second')));
});

test('an export into a file system that makes no directories is refused at once', async t => {
	const {ground} = await exported(t, 'evidence');
	const refused = await runCli(exportArguments(ground, '/proc/bailiff-evidence'));
	t.is(codeOf(refused), 'EVIDENCE_WRITE_FAILED');
});
