import {spawn} from 'node:child_process';
import {once} from 'node:events';
import {readdirSync, readFileSync, statSync} from 'node:fs';
import path from 'node:path';
import test, {type ExecutionContext} from 'ava';
import {type ArchiveRequest, type SourceReader, type ValidateAnswer, validateArchivedV2, validateLegacy} from '../../evidence/index.ts';
import {CorpusGround, type Step} from '../helpers/evidence-corpus.ts';
import {temporaryDirectory} from '../helpers/temporary-directory.ts';

const sha = 'e88f53d1472c20213192e70a0700f2a1ae153e53';
const still: SourceReader = {read: async () => ({head: sha, tree: null, problems: []})};

type Reader = (request: ArchiveRequest) => Promise<ValidateAnswer>;

const readers: ReadonlyArray<readonly [base: 'v1' | 'v2', read: Reader]> = [
	['v2', validateArchivedV2],
	['v1', validateLegacy],
];

function groundOf(t: ExecutionContext, base: 'v1' | 'v2', steps: readonly Step[] = []): CorpusGround {
	const ground = new CorpusGround(temporaryDirectory(t), base, '/nonexistent');
	for (const step of steps) {
		ground.apply(step);
	}

	return ground;
}

function read(reader: Reader, {root, run}: CorpusGround, source = still): Promise<ValidateAnswer> {
	return reader({root, artifactRoot: run, manifest: 'manifest.json', source});
}

/** Everything of a tree that a reader could change. */
function stateOf(directory: string): unknown[] {
	return readdirSync(directory, {recursive: true, encoding: 'utf8'})
		.toSorted()
		.map(name => {
			const file = path.join(directory, name);
			const {mode, size, mtimeMs, ctimeMs, ino} = statSync(file);
			return [name, mode, size, mtimeMs, ctimeMs, ino, statSync(file).isFile() ? readFileSync(file, 'hex') : ''];
		});
}

for (const [base, reader] of readers) {
	test(`reading a ${base} archive leaves every byte, mode and time as it was`, async t => {
		const ground = groundOf(t, base);
		const before = stateOf(ground.root);
		t.is((await read(reader, ground)).problems.length, 0);
		t.deepEqual(stateOf(ground.root), before);
	});

	test(`a ${base} archive is held against HEAD before and after everything else`, async t => {
		const ground = groundOf(t, base);
		let reads = 0;
		const moving: SourceReader = {read: async () => ({head: ++reads === 1 ? sha : '0'.repeat(40), tree: null, problems: []})};
		const {verdict, problems} = await read(reader, ground, moving);
		t.is(reads, 2);
		t.is(verdict, 'invalid');
		t.deepEqual(
			problems.map(({code}) => code),
			['EVIDENCE_SOURCE_HEAD'],
		);
	});

	test(`a ${base} answer says that it is archived, and nothing of attempts`, async t => {
		const answer = await read(reader, groundOf(t, base));
		t.like(answer, {archived: true, attempts: null, result: base === 'v2' ? 'passed' : null});
	});
}

for (const [base, reader] of readers) {
	test(`an output of a ${base} archive that grows while it is read is refused and not waited for`, async t => {
		const ground = groundOf(t, base);
		const output = path.join(ground.run, base === 'v1' ? 'check.log' : 'outputs/check.log');
		const writer = spawn('sh', ['-c', 'echo started; while :; do printf x; done >> "$0"', output], {stdio: ['ignore', 'pipe', 'ignore']});
		await once(writer.stdout, 'data');
		const {verdict, problems} = await read(reader, ground);
		writer.kill('SIGKILL');
		t.is(verdict, 'invalid');
		t.true(problems.every(({code}) => code === 'EVIDENCE_FILE_CHANGED' || code === 'EVIDENCE_FILE_SIZE' || code === 'EVIDENCE_DIGEST'));
	});
}

test('every problem of an archive is collected, each with its place', async t => {
	const ground = groundOf(t, 'v2', [
		{op: 'replace', file: 'RUN/manifest.json', find: '"argv": "/commands/1/argv"', with: '"argv": "/commands/0/argv"'},
		{op: 'replace', file: 'RUN/manifest.json', find: '"clean": true', with: '"clean": false'},
		{op: 'append', file: 'RUN/outputs/both.log', text: 'x'},
		{op: 'remove', file: 'RUN/outputs/bytes.log'},
		{op: 'chmod', file: 'RUN/outputs', mode: '0755'},
	]);
	const {problems} = await read(validateArchivedV2, ground);
	t.deepEqual(problems.map(({code, path: file, pointer}) => `${code} ${file} ${pointer}`).toSorted(), [
		'EVIDENCE_CLAIM_POINTER manifest.json /claims/1/argv',
		'EVIDENCE_FILE_MISSING outputs/bytes.log ',
		'EVIDENCE_FILE_MODE outputs ',
		'EVIDENCE_FILE_SIZE outputs/both.log ',
		'EVIDENCE_SOURCE_BYTES manifest.json /source/clean',
	]);
});

test('a manifest may have any plain name inside of the run', async t => {
	const ground = groundOf(t, 'v1', [{op: 'rename', file: 'RUN/manifest.json', to: 'RUN/evidence-v1.json'}]);
	const request = {root: ground.root, artifactRoot: ground.run, source: still};
	t.is((await validateLegacy({...request, manifest: 'evidence-v1.json'})).verdict, 'legacy-v1-digest-only');
	t.is((await validateLegacy({...request, manifest: 'manifest.json'})).verdict, 'invalid');
});
