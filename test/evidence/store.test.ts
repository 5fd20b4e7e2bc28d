import {spawn, spawnSync} from 'node:child_process';
import {once} from 'node:events';
import {chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, statSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import test from 'ava';
import {systemClock} from '../../core/clock.ts';
import {BailiffError} from '../../core/errors.ts';
import {LedgerWriter} from '../../evidence/ledger.ts';
import {parseLedger} from '../../evidence/ledger-lines.ts';
import {outputPaths} from '../../evidence/output-paths.ts';
import type {StorePrimitives} from '../../evidence/ports.ts';
import {listIncomplete, RunStage} from '../../evidence/store.ts';
import {loadNative} from '../../native/index.ts';
import {EvidenceDirectory, withEvidenceDirectory} from '../helpers/evidence-directory.ts';

const native = loadNative();

function systemError(code: string): Error {
	return Object.assign(new Error(`${code}: it failed`), {code});
}

function modes(directory: string): Record<string, string> {
	const names = readdirSync(directory, {recursive: true, encoding: 'utf8'}).toSorted();
	return Object.fromEntries(['.', ...names].map(name => [name, (statSync(join(directory, name)).mode & 0o7777).toString(8)]));
}

test('a published run holds exactly what was written, directories 0700 and files 0600', t => {
	withEvidenceDirectory(directory => {
		const stage = RunStage.open(directory.verification, 'run-1', native);
		t.deepEqual(stage.write('plan.json', Buffer.from('{}')), {
			path: 'plan.json',
			sha256: '44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a',
			bytes: 2,
		});
		stage.write(outputPaths(0).output, Buffer.alloc(0));
		t.deepEqual(
			readdirSync(directory.verification).filter(name => !name.startsWith('.staging-run-1-')),
			[],
		);
		stage.publish();
		t.is(stage.runDirectory, directory.path('run-1'));
		t.deepEqual(readdirSync(directory.verification), ['run-1']);
		t.deepEqual(modes(stage.runDirectory), {'.': '700', output: '700', 'output/000.log': '600', 'plan.json': '600'});
		stage.discard();
		t.true(existsSync(stage.runDirectory));
	});
});

for (const umask of [0o000, 0o077, 0o277, 0o777]) {
	test.serial(`modes are exact under the umask ${umask.toString(8).padStart(3, '0')} and a set-group-id parent`, t => {
		withEvidenceDirectory(directory => {
			chmodSync(directory.verification, 0o2700);
			const before = process.umask(umask);
			try {
				const stage = RunStage.open(directory.verification, 'run', native);
				stage.write('plan.json', Buffer.from('x'));
				stage.publish();
			} finally {
				process.umask(before);
			}

			t.deepEqual(modes(directory.path('run')), {'.': '700', output: '700', 'plan.json': '600'});
		});
	});
}

test('nothing is written twice: the second write of one path fails and the stage is gone', t => {
	withEvidenceDirectory(directory => {
		const stage = RunStage.open(directory.verification, 'run', native);
		stage.write('plan.json', Buffer.from('1'));
		t.throws(() => stage.write('plan.json', Buffer.from('2')), {code: 'EVIDENCE_WRITE_FAILED'});
		t.deepEqual(readdirSync(directory.verification), []);
	});
});

const inTheWay: ReadonlyArray<{readonly title: string; readonly put: (path: string) => void}> = [
	{title: 'an empty directory', put: path => mkdirSync(path)},
	{title: 'a file', put: path => writeFileSync(path, 'mine')},
	{title: 'another run', put: path => mkdirSync(join(path, 'output'), {recursive: true})},
];

for (const {title, put} of inTheWay) {
	test(`publish() never replaces ${title} under the run id and leaves no stage`, t => {
		withEvidenceDirectory(directory => {
			const stage = RunStage.open(directory.verification, 'run', native);
			stage.write('plan.json', Buffer.from('1'));
			put(directory.path('run'));
			const before = statSync(directory.path('run'));
			t.throws(() => stage.publish(), {code: 'EVIDENCE_WRITE_FAILED', message: /left as it is/});
			t.deepEqual(readdirSync(directory.verification), ['run']);
			t.is(statSync(directory.path('run')).ino, before.ino);
		});
	});
}

for (const runId of ['', '.hidden', '../up', 'a/b', 'ledger.jsonl', 'x'.repeat(129)]) {
	test(`RunStage.open() refuses the run id ${JSON.stringify(runId.slice(0, 20))}`, t => {
		withEvidenceDirectory(directory => {
			t.throws(() => RunStage.open(directory.verification, runId, native), {code: 'CORE_ID_RUN'});
			t.deepEqual(readdirSync(directory.verification), []);
		});
	});
}

const failures: ReadonlyArray<{readonly title: string; readonly primitives: Partial<StorePrimitives>; readonly errno: string; readonly says: RegExp}> = [
	{
		title: 'no space at the flush',
		primitives: {syncFilesystem: () => fail('ENOSPC')},
		errno: 'ENOSPC',
		says: /could not flush ".*\.staging-run-.*" \(ENOSPC\): no space is left/,
	},
	{title: 'a quota at the flush', primitives: {syncFilesystem: () => fail('EDQUOT')}, errno: 'EDQUOT', says: /quota/},
	{title: 'a device error at the flush', primitives: {syncFilesystem: () => fail('EIO')}, errno: 'EIO', says: /the device reports an error/},
	{
		title: 'a read-only filesystem at the rename',
		primitives: {renameNoReplace: () => fail('EROFS')},
		errno: 'EROFS',
		says: /could not publish ".*\/run" \(EROFS\): the filesystem is read-only/,
	},
];

function fail(code: string): never {
	throw systemError(code);
}

for (const {title, primitives, errno, says} of failures) {
	test(`${title} is EVIDENCE_WRITE_FAILED and leaves nothing at all`, t => {
		withEvidenceDirectory(directory => {
			const stage = RunStage.open(directory.verification, 'run', {...native, ...primitives});
			stage.write('plan.json', Buffer.from('1'));
			const error = t.throws(() => stage.publish(), {instanceOf: BailiffError, code: 'EVIDENCE_WRITE_FAILED', message: says});
			t.is(error?.details['errno'], errno);
			t.deepEqual(readdirSync(directory.verification), []);
		});
	});
}

test('a run whose name cannot be flushed is taken back under no name at all', t => {
	withEvidenceDirectory(directory => {
		const away = `${directory.verification}.away`;
		let calls = 0;
		const stage = RunStage.open(directory.verification, 'run', {
			...native,
			// For root, too, the directory cannot be opened for its flush while it is away.
			renameNoReplace: (from, to) => {
				calls++;
				if (calls === 1) {
					native.renameNoReplace(from, to);
					renameSync(directory.verification, away);
				} else {
					renameSync(away, directory.verification);
					native.renameNoReplace(from, to);
				}
			},
		});
		stage.write('plan.json', Buffer.from('1'));
		t.throws(() => stage.publish(), {code: 'EVIDENCE_WRITE_FAILED', message: /could not flush/});
		t.is(calls, 2);
		t.deepEqual(readdirSync(directory.verification), []);
	});
});

test('a stage that is removed by somebody else is EVIDENCE_WRITE_FAILED', t => {
	const directory = new EvidenceDirectory();
	const stage = RunStage.open(directory.verification, 'run', native);
	directory.remove();
	t.throws(() => stage.write('plan.json', Buffer.from('1')), {code: 'EVIDENCE_WRITE_FAILED', message: /\(ENOENT\)/});
});

test('discard() removes the stage and may be called again', t => {
	withEvidenceDirectory(directory => {
		const stage = RunStage.open(directory.verification, 'run', native);
		stage.write(outputPaths(0).trace, Buffer.from('1'));
		stage.discard();
		stage.discard();
		t.deepEqual(readdirSync(directory.verification), []);
	});
});

test('listIncomplete() shows what killed runs left, and nothing else', t => {
	withEvidenceDirectory(directory => {
		t.deepEqual(listIncomplete(directory.path('nowhere')), []);
		directory.directory('.staging-a-b-0123456789abcdef', 'output');
		directory.directory('.staging-odd');
		directory.directory('run');
		writeFileSync(directory.path('ledger.jsonl'), '');
		t.deepEqual(listIncomplete(directory.verification), [
			{name: '.staging-a-b-0123456789abcdef', runId: 'a-b'},
			{name: '.staging-odd', runId: null},
		]);
	});
});

test('a full disk leaves nothing under the run id (a real filesystem of 64 KiB)', t => {
	const fill = join(import.meta.dirname, '..', 'fixtures', 'publish-loop.js');
	withEvidenceDirectory(directory => {
		const script = 'mount -t tmpfs -o size=64k,mode=700 tmpfs "$1" && "$2" "$3" "$1" full; code=$?; ls -A "$1"; exit $code';
		const answer = spawnSync('unshare', ['-Urm', 'sh', '-c', script, 'sh', directory.verification, process.execPath, fill], {encoding: 'utf8'});
		if (/unshare failed|Operation not permitted|permission denied/i.test(answer.stderr) && process.env['BAILIFF_MUST_SANDBOX'] !== '1') {
			t.log('no user namespaces here: skipped');
			t.pass();
			return;
		}

		t.regex(answer.stderr, /EVIDENCE_WRITE_FAILED/);
		t.regex(answer.stderr, /no space is left on that filesystem/);
		const names = answer.stdout
			.trim()
			.split('\n')
			.slice(1)
			.filter(name => name !== 'ledger.jsonl');
		t.deepEqual(
			names.filter(name => !/^full-\d+$/.test(name)),
			[],
		);
	});
});

test('killed at random moments it leaves whole runs and a ledger that the next writer repairs', async t => {
	const directory = new EvidenceDirectory();
	const program = join(import.meta.dirname, '..', 'fixtures', 'publish-loop.js');
	try {
		for (let round = 0; round < 5; round++) {
			const child = spawn(process.execPath, [program, directory.verification, `round${round}`], {stdio: ['ignore', 'pipe', 'inherit']});
			await once(child.stdout, 'data');
			await new Promise(resolve => setTimeout(resolve, Math.random() * 120));
			child.kill('SIGKILL');
			await once(child, 'close');
		}

		LedgerWriter.open(directory.verification, systemClock).close();
		const ledger = parseLedger(readFileSync(directory.path('ledger.jsonl')));
		t.deepEqual(ledger.problems, []);
		t.is(ledger.torn, null);
		const ends = new Map([...ledger.runs].map(([runId, run]) => [runId, run.end?.line.event]));
		const published = readdirSync(directory.verification).filter(name => !name.startsWith('.') && name !== 'ledger.jsonl');
		t.true(published.length > 0);
		t.deepEqual(
			[...ends]
				.filter(([, end]) => end === 'published')
				.map(([runId]) => runId)
				.toSorted(),
			published.toSorted(),
		);
		t.deepEqual(
			[...ends.values()].filter(end => end !== 'published' && end !== 'abandoned'),
			[],
		);
		for (const runId of published) {
			t.deepEqual(readdirSync(directory.path(runId)).toSorted(), ['manifest.json', 'output', 'plan.json']);
			t.is(readdirSync(directory.path(runId, 'output')).length, 8);
			t.is(readFileSync(directory.path(runId, 'manifest.json')).at(-1), 0x0a);
		}
	} finally {
		directory.remove();
	}
});
