import {rmSync} from 'node:fs';
import path from 'node:path';
import test from 'ava';
import {failingTails, tailText} from '../../cli/failing-output.ts';
import {exampleManifest, RunCopy} from '../helpers/example-run.ts';

test('the tail is that of the first command that failed, at most 20 lines, without control characters', t => {
	const copy = new RunCopy();
	t.teardown(() => copy.remove());
	copy.write('output/001.log', `${Array.from({length: 30}, (_, index) => `line ${index}`).join('\n')}\n\u001b[2Jlast\n`);
	const [tail, ...others] = failingTails(exampleManifest(), copy.run);
	t.deepEqual(others, []);
	t.is(tail?.commandId, 'soak');
	t.is(tail?.file, path.join(copy.run, 'output/001.log'));
	t.is(tail?.lines.length, 20);
	t.is(tail?.lines.at(-1), '\\x1b[2Jlast');
	t.is(tail?.lines[0], 'line 11');
	const text = tailText(tail === undefined ? [] : [tail]);
	t.true(text.startsWith(`the end of what soak wrote, whole in ${copy.run}/output/001.log:\n  | line 11\n`));
});

test('an output that was emptied or is gone is no crash', t => {
	const copy = new RunCopy();
	t.teardown(() => copy.remove());
	copy.write('output/001.log', '');
	t.regex(tailText(failingTails(exampleManifest(), copy.run)), /^soak wrote nothing: /);
	rmSync(copy.path('output/001.log'));
	t.deepEqual(failingTails(exampleManifest(), copy.run), []);
});

test('a run in which every command passed has no tail', t => {
	const manifest = exampleManifest();
	t.deepEqual(failingTails({...manifest, commands: manifest.commands.slice(0, 1)}, '/nowhere'), []);
});
