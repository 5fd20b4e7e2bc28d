import {execFileSync} from 'node:child_process';
import {
	appendFileSync,
	chmodSync,
	chownSync,
	linkSync,
	mkdirSync,
	readFileSync,
	renameSync,
	rmSync,
	symlinkSync,
	truncateSync,
	utimesSync,
	writeFileSync,
} from 'node:fs';
import {createServer} from 'node:net';
import {join} from 'node:path';
import test, {type ExecutionContext} from 'ava';
import {BailiffError} from '../../core/errors.ts';
import {type Manifest, type SourceReader, type ValidateAnswer, type ValidateRequest, validateRun} from '../../evidence/index.ts';
import {example, exampleManifest, exampleSource, RunCopy} from '../helpers/example-run.ts';

function copyOf(t: ExecutionContext): RunCopy {
	const copy = new RunCopy();
	t.teardown(() => {
		copy.remove();
	});
	return copy;
}

function validate(copy: RunCopy, change: Partial<ValidateRequest> = {}): Promise<ValidateAnswer> {
	return validateRun({verificationDir: copy.verification, target: example.target, runId: example.runId, source: exampleSource, ...change});
}

function findings(answer: ValidateAnswer): string[] {
	return answer.problems.map(({code, path, pointer}) => `${code} ${path ?? '-'} ${pointer}`.trim());
}

test('validateRun() finds the example consistent', async t => {
	const answer = await validate(copyOf(t));
	t.deepEqual(answer, {
		verdict: 'valid-v3',
		archived: false,
		result: 'failed',
		attempts: {same_plan_and_source: 1, failed: 1, unfinished: 0},
		manifest_sha256: '8c19a08bde19d181d5481e6ddcf20b34ef820d19715e89d323c309695d3ac5dd',
		problems: [],
	});
});

test('validateRun() with requirePassed names a run that did not pass and still calls its evidence valid', async t => {
	const answer = await validate(copyOf(t), {requirePassed: true});
	t.is(answer.verdict, 'valid-v3');
	t.deepEqual(findings(answer), ['EVIDENCE_NOT_PASSED manifest.json /result']);
});

test('validateRun() finds a failed run without any executed command consistent', async t => {
	const copy = copyOf(t);
	const stop = {reason: 'start_failed', command: {index: 0, id: 'unit'}, errno: 'EAGAIN', stage: 'fork', signal: null, termination: null} as const;
	copy.rewrite({...exampleManifest(), commands: [], claims: [], stop});
	rmSync(copy.path('output'), {recursive: true});
	copy.write('plan.json', readFileSync(copy.path('plan.json')));
	const answer = await validate(copy);
	t.deepEqual([answer.verdict, answer.result, answer.problems], ['valid-v3', 'failed', []]);
});

test('validateRun() takes no evidence from the times of files', async t => {
	const copy = copyOf(t);
	for (const name of ['manifest.json', 'plan.json', 'output/000.log']) {
		utimesSync(copy.path(name), 0, 0);
	}

	t.is((await validate(copy)).verdict, 'valid-v3');
});

const log = 'output/000.log';

const filesystem: ReadonlyArray<{title: string; spoil: (copy: RunCopy) => void; findings: readonly string[]}> = [
	{
		title: 'an output that is a symbolic link to the same bytes',
		spoil(copy) {
			renameSync(copy.path(log), join(copy.base, 'elsewhere'));
			symlinkSync(join(copy.base, 'elsewhere'), copy.path(log));
		},
		findings: [`EVIDENCE_FILE_LINK ${log}`],
	},
	{
		title: 'a run directory that is a symbolic link',
		spoil(copy) {
			renameSync(copy.run, join(copy.base, 'elsewhere'));
			symlinkSync(join(copy.base, 'elsewhere'), copy.run);
		},
		findings: ['EVIDENCE_FILE_LINK -'],
	},
	{
		title: 'a verification directory that is a symbolic link',
		spoil(copy) {
			renameSync(copy.verification, join(copy.base, 'elsewhere'));
			symlinkSync('elsewhere', copy.verification);
		},
		findings: ['EVIDENCE_FILE_LINK -'],
	},
	{
		title: 'an output directory that is a symbolic link',
		spoil(copy) {
			renameSync(copy.path('output'), join(copy.base, 'elsewhere'));
			symlinkSync(join(copy.base, 'elsewhere'), copy.path('output'));
		},
		findings: ['EVIDENCE_FILE_LINK output'],
	},
	{title: 'an output with a second name', spoil: copy => linkSync(copy.path(log), join(copy.base, 'second')), findings: [`EVIDENCE_FILE_NLINK ${log}`]},
	{
		title: 'a FIFO in place of an output',
		spoil(copy) {
			rmSync(copy.path(log));
			execFileSync('mkfifo', ['-m', '600', copy.path(log)]);
		},
		findings: [`EVIDENCE_FILE_TYPE ${log}`],
	},
	{
		title: 'a FIFO in place of the manifest',
		spoil(copy) {
			rmSync(copy.path('manifest.json'));
			execFileSync('mkfifo', ['-m', '600', copy.path('manifest.json')]);
		},
		findings: ['EVIDENCE_FILE_TYPE manifest.json'],
	},
	{
		title: 'a directory in place of an output',
		spoil(copy) {
			rmSync(copy.path(log));
			mkdirSync(copy.path(log));
		},
		findings: [`EVIDENCE_FILE_TYPE ${log}`],
	},
	{
		title: 'a file in place of the output directory',
		spoil(copy) {
			rmSync(copy.path('output'), {recursive: true});
			writeFileSync(copy.path('output'), '', {mode: 0o600});
		},
		findings: ['EVIDENCE_FILE_TYPE output'],
	},
	{title: 'a missing output', spoil: copy => rmSync(copy.path(log)), findings: [`EVIDENCE_FILE_MISSING ${log}`]},
	{title: 'a missing trace', spoil: copy => rmSync(copy.path('output/001.trace.jsonl')), findings: ['EVIDENCE_FILE_MISSING output/001.trace.jsonl']},
	{title: 'a missing plan', spoil: copy => rmSync(copy.path('plan.json')), findings: ['EVIDENCE_FILE_MISSING plan.json']},
	{title: 'a missing manifest', spoil: copy => rmSync(copy.path('manifest.json')), findings: ['EVIDENCE_FILE_MISSING manifest.json']},
	{
		title: 'a missing run',
		spoil: copy => rmSync(copy.run, {recursive: true}),
		findings: ['EVIDENCE_DIRECTORY_MISSING -', 'EVIDENCE_LEDGER_RUN_MISSING ledger.jsonl /1/run_id'],
	},
	{title: 'a missing verification directory', spoil: copy => rmSync(copy.verification, {recursive: true}), findings: ['EVIDENCE_DIRECTORY_MISSING -']},
	{title: 'a file that is not listed', spoil: copy => writeFileSync(copy.path('notes.txt'), ''), findings: ['EVIDENCE_DIRECTORY_UNLISTED notes.txt']},
	{
		title: 'an output that is not listed',
		spoil: copy => writeFileSync(copy.path('output/002.log'), ''),
		findings: ['EVIDENCE_DIRECTORY_UNLISTED output/002.log'],
	},
	{
		title: 'an output whose name differs in case',
		spoil: copy => writeFileSync(copy.path('output/000.LOG'), ''),
		findings: ['EVIDENCE_DIRECTORY_UNLISTED output/000.LOG'],
	},
	{title: 'a leftover of a stage', spoil: copy => mkdirSync(copy.path('.staging-x')), findings: ['EVIDENCE_DIRECTORY_UNLISTED .staging-x']},
	{
		title: 'a name that is not UTF-8',
		spoil: copy => writeFileSync(Buffer.concat([Buffer.from(`${copy.path('output')}/`), Buffer.from([0x30, 0xff])]), ''),
		findings: ['EVIDENCE_DIRECTORY_UNLISTED output/0\\xff'],
	},
	{title: 'a manifest that others may read', spoil: copy => chmodSync(copy.path('manifest.json'), 0o644), findings: ['EVIDENCE_FILE_MODE manifest.json']},
	{title: 'an output that its group may write', spoil: copy => chmodSync(copy.path(log), 0o620), findings: [`EVIDENCE_FILE_MODE ${log}`]},
	{title: 'an output with a set-uid bit', spoil: copy => chmodSync(copy.path(log), 0o4600), findings: [`EVIDENCE_FILE_MODE ${log}`]},
	{title: 'a run directory that others may enter', spoil: copy => chmodSync(copy.run, 0o755), findings: ['EVIDENCE_FILE_MODE -']},
	{title: 'an output directory with a sticky bit', spoil: copy => chmodSync(copy.path('output'), 0o1700), findings: ['EVIDENCE_FILE_MODE output']},
	{title: 'a verification directory that its group may write', spoil: copy => chmodSync(copy.verification, 0o770), findings: ['EVIDENCE_FILE_MODE -']},
	{
		title: 'a ledger that others may read',
		spoil: copy => chmodSync(join(copy.verification, 'ledger.jsonl'), 0o644),
		findings: ['EVIDENCE_FILE_MODE ledger.jsonl'],
	},
	{
		title: 'a sparse output of 1 TiB',
		spoil: copy => truncateSync(copy.path(log), 2 ** 40),
		findings: [`EVIDENCE_FILE_SIZE ${log}`, `EVIDENCE_FILE_SIZE ${log}`],
	},
	{title: 'a sparse manifest of 1 TiB', spoil: copy => truncateSync(copy.path('manifest.json'), 2 ** 40), findings: ['EVIDENCE_FILE_SIZE manifest.json']},
	{
		title: 'a sparse plan of 1 TiB',
		spoil: copy => truncateSync(copy.path('plan.json'), 2 ** 40),
		findings: ['EVIDENCE_FILE_SIZE plan.json', 'EVIDENCE_FILE_SIZE plan.json'],
	},
	{
		title: 'a sparse ledger of 1 TiB',
		spoil: copy => truncateSync(join(copy.verification, 'ledger.jsonl'), 2 ** 40),
		findings: ['EVIDENCE_FILE_SIZE ledger.jsonl'],
	},
	{title: 'an output that grew', spoil: copy => appendFileSync(copy.path(log), 'x'), findings: [`EVIDENCE_FILE_SIZE ${log}`]},
	{
		title: 'an output of the same size with another byte',
		spoil: copy => copy.write(log, '13 passed, 0 failed\n'),
		findings: [`EVIDENCE_DIGEST ${log}`, 'EVIDENCE_CLAIM_VALUE manifest.json /commands/0/output/sha256'],
	},
	{
		title: 'two outputs that were swapped',
		spoil(copy) {
			renameSync(copy.path(log), copy.path('swap'));
			renameSync(copy.path('output/001.log'), copy.path(log));
			renameSync(copy.path('swap'), copy.path('output/001.log'));
		},
		findings: [`EVIDENCE_FILE_SIZE ${log}`, 'EVIDENCE_FILE_SIZE output/001.log'],
	},
	{
		title: 'a plan with another blank',
		spoil: copy => copy.write('plan.json', readFileSync(copy.path('plan.json'), 'utf8').replace('"schema": ', '"schema":  ')),
		findings: ['EVIDENCE_FILE_SIZE plan.json'],
	},
	{
		title: 'a plan with another argument',
		spoil: copy => copy.write('plan.json', readFileSync(copy.path('plan.json'), 'utf8').replace('12 passed', '99 passed')),
		findings: ['EVIDENCE_DIGEST plan.json', 'EVIDENCE_CLAIM_VALUE manifest.json /commands/0/argv', 'EVIDENCE_LEDGER_MISMATCH ledger.jsonl /0/plan_sha256'],
	},
	{title: 'a missing ledger', spoil: copy => rmSync(join(copy.verification, 'ledger.jsonl')), findings: ['EVIDENCE_LEDGER_MISSING ledger.jsonl']},
	{
		title: 'a file beside the runs',
		spoil: copy => writeFileSync(join(copy.verification, 'ledger.jsonl~'), ''),
		findings: ['EVIDENCE_DIRECTORY_UNLISTED -'],
	},
	{
		title: 'a run that the ledger does not know',
		spoil: copy => mkdirSync(join(copy.verification, 'other')),
		findings: ['EVIDENCE_LEDGER_MISMATCH ledger.jsonl'],
	},
];

for (const {title, spoil, findings: expected} of filesystem) {
	test(`validateRun() refuses ${title}`, async t => {
		const copy = copyOf(t);
		spoil(copy);
		const answer = await validate(copy);
		t.is(answer.verdict, 'invalid');
		t.is(answer.result, null);
		t.deepEqual(
			findings(answer).filter(found => !found.startsWith('EVIDENCE_LEDGER_UNRECORDED')),
			[...expected],
		);
	});
}

test('validateRun() refuses a socket in place of an output', async t => {
	const copy = copyOf(t);
	rmSync(copy.path(log));
	const server = createServer();
	await new Promise<void>(resolve => {
		server.listen(copy.path(log), resolve);
	});
	chmodSync(copy.path(log), 0o600);
	const answer = await validate(copy);
	await new Promise<void>(resolve => {
		server.close(() => {
			resolve();
		});
	});
	t.deepEqual(findings(answer), [`EVIDENCE_FILE_TYPE ${log}`]);
});

test('validateRun() refuses another owner than the expected one', async t => {
	const answer = await validate(copyOf(t), {uid: 12_345_678});
	t.is(answer.verdict, 'invalid');
	t.is(answer.problems.filter(problem => problem.code === 'EVIDENCE_FILE_OWNER').length, 10);
});

if (process.getuid?.() === 0) {
	test('validateRun() as root refuses a device and a file of another user', async t => {
		const copy = copyOf(t);
		rmSync(copy.path(log));
		execFileSync('mknod', ['-m', '600', copy.path(log), 'c', '1', '5']);
		chownSync(copy.path('plan.json'), 12_345, 12_345);
		const answer = await validate(copy);
		t.deepEqual(findings(answer), ['EVIDENCE_FILE_OWNER plan.json', `EVIDENCE_FILE_TYPE ${log}`]);
	});
}

const requests: ReadonlyArray<{title: string; change: Partial<ValidateRequest>; findings: readonly string[]}> = [
	{title: 'another issue', change: {target: {...example.target, issue: 8}}, findings: ['EVIDENCE_TARGET_MISMATCH manifest.json /target/issue']},
	{title: 'another owner', change: {target: {...example.target, owner: 'Acme'}}, findings: ['EVIDENCE_TARGET_MISMATCH manifest.json /target/owner']},
	{
		title: 'another repository',
		change: {target: {...example.target, repository: 'gadget'}},
		findings: ['EVIDENCE_TARGET_MISMATCH manifest.json /target/repository'],
	},
	{title: 'another commit', change: {sourceSha: '0'.repeat(40)}, findings: ['EVIDENCE_SOURCE_HEAD manifest.json /source/sha']},
	{title: 'no run id at all', change: {runId: '../other'}, findings: ['EVIDENCE_RUN_MISMATCH -']},
	{title: 'the name of the ledger as run id', change: {runId: 'ledger.jsonl'}, findings: ['EVIDENCE_RUN_MISMATCH -']},
	{title: 'a place that is not that of the target', change: {root: '/'}, findings: ['EVIDENCE_TARGET_MISMATCH -']},
];

for (const {title, change, findings: expected} of requests) {
	test(`validateRun() refuses evidence where the caller asks for ${title}`, async t => {
		const answer = await validate(copyOf(t), change);
		t.is(answer.verdict, 'invalid');
		t.deepEqual(findings(answer), [...expected]);
	});
}

test('validateRun() refuses a run under the id of another', async t => {
	const copy = copyOf(t);
	renameSync(copy.run, join(copy.verification, 'other'));
	const answer = await validate(copy, {runId: 'other'});
	t.is(answer.verdict, 'invalid');
	t.true(findings(answer).includes('EVIDENCE_RUN_MISMATCH manifest.json /run_id'));
});

function sourceOf(...states: ReadonlyArray<Awaited<ReturnType<SourceReader['read']>>>): SourceReader {
	let calls = 0;
	return {
		read() {
			const state = states[Math.min(calls++, states.length - 1)];
			return state === undefined ? Promise.reject(new BailiffError('CORE_FILE_UNREADABLE', 'the checkout is gone')) : Promise.resolve(state);
		},
	};
}

const exact = {head: example.sha, tree: example.tree, problems: []};
const sources: ReadonlyArray<{title: string; source: SourceReader; findings: readonly string[]}> = [
	{title: 'another HEAD', source: sourceOf({...exact, head: '0'.repeat(40)}), findings: ['EVIDENCE_SOURCE_HEAD manifest.json /source/sha']},
	{
		title: 'a HEAD that moves while it is read',
		source: sourceOf(exact, {...exact, head: '0'.repeat(40)}),
		findings: ['EVIDENCE_SOURCE_HEAD manifest.json /source/sha'],
	},
	{title: 'another tree', source: sourceOf({...exact, tree: '0'.repeat(40)}), findings: ['EVIDENCE_SOURCE_TREE manifest.json /source/tree']},
	{
		title: 'changed bytes, named once although they are seen twice',
		source: sourceOf({...exact, problems: [{code: 'EVIDENCE_SOURCE_BYTES', path: null, pointer: '', message: 'src/a.ts differs'}]}),
		findings: ['EVIDENCE_SOURCE_BYTES -'],
	},
	{
		title: 'nothing that can be read',
		source: sourceOf(),
		findings: ['EVIDENCE_SOURCE_UNREADABLE -'],
	},
];

for (const {title, source, findings: expected} of sources) {
	test(`validateRun() refuses a checkout with ${title}`, async t => {
		const answer = await validate(copyOf(t), {source});
		t.is(answer.verdict, 'invalid');
		t.deepEqual(findings(answer), [...expected]);
	});
}

test('validateRun() with a root checks every directory from there on', async t => {
	const copy = copyOf(t);
	const root = join(copy.base, 'root');
	const issue = join(root, 'repositories', 'acme', 'widget', 'worktrees', 'issue-7');
	mkdirSync(issue, {recursive: true, mode: 0o700});
	renameSync(copy.verification, join(issue, 'verification'));
	const change = {root, verificationDir: join(issue, 'verification')};
	t.deepEqual(findings(await validate(copy, change)), []);
	chmodSync(join(root, 'repositories', 'acme'), 0o755);
	chmodSync(join(root, 'repositories'), 0o777);
	t.deepEqual(findings(await validate(copy, change)), ['EVIDENCE_FILE_MODE -', 'EVIDENCE_FILE_MODE -']);
	chmodSync(join(root, 'repositories', 'acme'), 0o700);
	chmodSync(join(root, 'repositories'), 0o775);
	renameSync(join(root, 'repositories', 'acme'), join(root, 'elsewhere'));
	symlinkSync(join(root, 'elsewhere'), join(root, 'repositories', 'acme'));
	t.deepEqual(findings(await validate(copy, change)), ['EVIDENCE_FILE_LINK -']);
});

type Change = (manifest: Manifest) => Manifest;

/** Changes that a producer could have written with a ledger that fits: only the content can give them away. */
const contents: ReadonlyArray<{title: string; change: Change; findings: readonly string[]}> = [
	{
		title: 'a failed run that says passed',
		change: manifest => ({...manifest, result: 'passed'}),
		findings: ['EVIDENCE_RESULT manifest.json /result'],
	},
	{
		title: 'a pointer with a leading zero',
		change: withClaim({argv: '/commands/00/argv'}),
		findings: ['EVIDENCE_CLAIM_POINTER manifest.json /claims/0/argv'],
	},
	{title: 'a pointer to the end of the array', change: withClaim({cwd: '/commands/-/cwd'}), findings: ['EVIDENCE_CLAIM_POINTER manifest.json /claims/0/cwd']},
	{title: 'a pointer as a fragment', change: withClaim({cwd: '#/commands/0/cwd'}), findings: ['EVIDENCE_CLAIM_POINTER manifest.json /claims/0/cwd']},
	{title: 'an empty pointer', change: withClaim({cwd: ''}), findings: ['EVIDENCE_CLAIM_POINTER manifest.json /claims/0/cwd']},
	{
		title: 'a pointer to a prototype',
		change: withClaim({exit_code: '/commands/0/__proto__'}),
		findings: ['EVIDENCE_CLAIM_POINTER manifest.json /claims/0/exit_code'],
	},
	{
		title: 'a pointer to the same value of another command',
		change: withClaim({expected_exit_code: '/commands/1/expected_exit_code'}),
		findings: ['EVIDENCE_CLAIM_POINTER manifest.json /claims/0/expected_exit_code'],
	},
	{title: 'a claim under another id', change: withClaim({id: 'soak'}), findings: ['EVIDENCE_CLAIM_VALUE manifest.json /claims/0/id']},
	{
		title: 'fewer claims than commands',
		change: manifest => ({...manifest, claims: manifest.claims.slice(0, 1)}),
		findings: ['EVIDENCE_CLAIM_COUNT manifest.json /claims'],
	},
	{
		title: 'a redaction where the file reads something else',
		change: withOutput({redactions: [{offset: 0, length: 10, rule: 'jwt'}]}),
		findings: [
			`EVIDENCE_REDACTION ${log} /commands/0/output/redactions/0`,
			'EVIDENCE_PREFIX manifest.json /commands/1',
			'EVIDENCE_REDACTION manifest.json /secret_scan/redactions',
			'EVIDENCE_STOP manifest.json /stop',
		],
	},
	{
		title: 'an output at the place of another',
		change: withOutput({path: 'output/001.log'}),
		findings: ['EVIDENCE_CLAIM_VALUE manifest.json /commands/0/output/path', 'EVIDENCE_PLAN_MISMATCH manifest.json /commands/0/output/path'],
	},
];

for (const {title, change, findings: expected} of contents) {
	test(`validateRun() refuses ${title}`, async t => {
		const copy = copyOf(t);
		copy.rewrite(change(exampleManifest()));
		const answer = await validate(copy);
		t.is(answer.verdict, 'invalid');
		t.deepEqual(findings(answer), [...expected]);
	});
}

test('validateRun() reports what a scan of the stored outputs finds', async t => {
	const answer = await validate(copyOf(t), {scan: bytes => (bytes.includes('started') ? ['rule'] : [])});
	t.is(answer.verdict, 'invalid');
	t.deepEqual(findings(answer), ['EVIDENCE_SECRET_FOUND output/001.log']);
});

function withClaim(claim: Partial<Manifest['claims'][number]>): Change {
	return manifest => ({...manifest, claims: manifest.claims.map((found, index) => (index === 0 ? {...found, ...claim} : found))});
}

function withOutput(output: Partial<Manifest['commands'][number]['output']>): Change {
	return manifest => ({
		...manifest,
		commands: manifest.commands.map((found, index) => (index === 0 ? {...found, output: {...found.output, ...output}} : found)),
	});
}
