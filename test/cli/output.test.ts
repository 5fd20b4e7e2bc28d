import {spawnSync} from 'node:child_process';
import path from 'node:path';
import test from 'ava';

const output = path.resolve(import.meta.dirname, '../../cli/output.js');

/** Runs an expression over cli/output.ts and core/errors.ts in a process of its own. */
function inProcess(expression: string): {readonly stdout: string; readonly stderr: string; readonly status: number | null} {
	const program = `const o = await import(${JSON.stringify(output)}); const {BailiffError} = await import(${JSON.stringify(path.resolve(output, '../../core/errors.js'))});
process.exitCode = ${expression};`;
	return spawnSync(process.execPath, ['--input-type=module', '-e', program], {encoding: 'utf8', maxBuffer: 8_000_000});
}

test('an error of ours is text on stderr, or one object on stdout', t => {
	const error = `new BailiffError('RUN_CHECKOUT_DIRTY', 'the checkout \\u001b[31mis dirty', {details: {paths: ['a']}})`;
	const plain = inProcess(`o.writeFailure(${error}, false)`);
	t.like(plain, {stdout: '', stderr: 'bailiff: RUN_CHECKOUT_DIRTY: the checkout \\x1b[31mis dirty\n', status: 3});
	const json = inProcess(`o.writeFailure(${error}, true)`);
	t.like(json, {stderr: '', status: 3});
	t.deepEqual(JSON.parse(json.stdout), {error: {code: 'RUN_CHECKOUT_DIRTY', message: 'the checkout \u001b[31mis dirty', details: {paths: ['a']}}});
});

test('anything else is a bug: the stack on stderr, 70, and still one object with --json', t => {
	const plain = inProcess(`o.writeFailure(new TypeError('oops'), false)`);
	t.is(plain.status, 70);
	t.is(plain.stdout, '');
	t.regex(plain.stderr, /^bailiff: this is a bug of bailiff, please report it\nTypeError: oops\n {4}at /);
	const json = inProcess(`o.writeFailure(undefined, true)`);
	t.is(json.status, 70);
	t.like(JSON.parse(json.stdout), {error: {code: 'BUG'}});
});

test('what the machine refuses to any program is no bug', t => {
	const limit = inProcess(`o.writeFailure(Object.assign(new Error('open'), {code: 'EMFILE'}), true)`);
	t.is(limit.status, 4);
	t.like(JSON.parse(limit.stdout), {error: {code: 'CLI_MACHINE_LIMIT', details: {errno: 'EMFILE'}}});
});

test('a reply is text with its note on stderr, raw bytes, or its object alone', t => {
	const reply = `{exitCode: 1, json: {a: 1}, text: 'no\\u0007', note: 'because'}`;
	t.like(inProcess(`o.writeReply(${reply}, false)`), {stdout: 'no\\x07\n', stderr: 'because\n', status: 1});
	t.like(inProcess(`o.writeReply(${reply}, true)`), {stdout: '{"a":1}\n', stderr: '', status: 1});
	t.like(inProcess(`o.writeReply({exitCode: 0, json: {}, text: Buffer.from('\\u0007')}, false)`), {stdout: '\u0007', stderr: '', status: 0});
});

test('an object is safe to show and still means the same', t => {
	const {stdout} = inProcess(`o.writeReply({exitCode: 0, json: {text: '\\u009b31m\\u202ex\\u{e0041}'}, text: ''}, true)`);
	t.is(stdout, '{"text":"\\u009b31m\\u202ex\\udb40\\udc41"}\n');
	t.is(JSON.parse(stdout).text, '\u009b31m\u202ex\u{e0041}');
});

test('an answer larger than any pipe arrives whole', t => {
	const {stdout, status} = inProcess(`o.writeReply({exitCode: 0, json: {text: 'x'.repeat(3_000_000)}, text: ''}, true)`);
	t.is(status, 0);
	t.is(JSON.parse(stdout).text.length, 3_000_000);
});
