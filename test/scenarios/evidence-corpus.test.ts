import {mkdtempSync, realpathSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import test from 'ava';
import {CorpusGround, changesCheckout, cloneCorpusSource, corpusCases} from '../helpers/evidence-corpus.ts';
import {temporaryDirectory} from '../helpers/temporary-directory.ts';

const isRoot = process.geteuid?.() === 0;
const shared = realpathSync(mkdtempSync(path.join(tmpdir(), 'bailiff-corpus-')));
const sharedCheckout = cloneCorpusSource(shared);
test.after.always(() => {
	rmSync(shared, {recursive: true, force: true});
});

for (const [name, example] of corpusCases()) {
	const {title, reader, base, steps, flags, expected, needsRoot} = example;
	const run = needsRoot === true && !isRoot ? test.skip : test;
	run(`${name}: ${title}`, async t => {
		const directory = temporaryDirectory(t);
		const ground = new CorpusGround(directory, base, changesCheckout(steps) ? cloneCorpusSource(directory) : sharedCheckout);
		for (const step of steps) {
			ground.apply(step);
		}

		const {exitCode, answer} = await ground.read(reader, flags);
		const codes = answer.problems.map(({code}) => code);
		t.is(answer.verdict, expected.verdict, codes.join(' '));
		t.is(exitCode, expected.exit);
		if (expected.code === null) {
			t.deepEqual(codes, []);
		} else {
			t.true(codes.includes(expected.code), `${expected.code} is not among ${codes.join(' ')}`);
		}

		t.is(answer.archived, reader !== 'validate');
		t.is(answer.result === null, answer.verdict !== 'valid-v3' && answer.verdict !== 'archived-v2-consistent');
	});
}

for (const [reader, base] of [
	['validate', 'v3'],
	['validate-archived-v2', 'v2'],
	['validate-legacy', 'v1'],
] as const) {
	test(`the corpus holds good and bad cases of ${reader}`, t => {
		const mine = [...corpusCases().values()].filter(example => example.reader === reader && example.base === base);
		t.true(mine.some(({expected}) => expected.exit === 0));
		t.true(mine.filter(({expected}) => expected.exit === 1).length > 5);
	});
}
