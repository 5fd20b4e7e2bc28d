import {type ChildProcess, spawn} from 'node:child_process';
import {closeSync, openSync, readFileSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import type {Writable} from 'node:stream';
import test from 'ava';
import * as fc from 'fast-check';
import {askpassPath} from '../../native/index.ts';
import {eventually} from '../helpers/eventually.ts';
import {temporaryDirectory} from '../helpers/temporary-directory.ts';

const origin = 'https://git.example.test:8443';
const login = 'impl-agent';
const env = {BAILIFF_ASKPASS_ORIGIN: origin, BAILIFF_ASKPASS_LOGIN: login};
const username = `Username for '${origin}': `;
const password = `Password for 'https://${login}@git.example.test:8443': `;
const token = '0123456789abcdef';

type Asked = {readonly args?: readonly string[]; readonly env?: Readonly<Record<string, string>>; readonly input?: string | null};

function start({args = [password], env: given = env, input = token}: Asked): ChildProcess {
	const child = spawn(askpassPath(), args, {env: given, stdio: ['ignore', 'pipe', 'pipe', 'pipe']});
	const channel = child.stdio[3];
	if (isWritable(channel)) {
		channel.on('error', () => {});
		if (input !== null) {
			channel.end(Buffer.from(input, 'latin1'));
		}
	}

	return child;
}

async function ask(asked: Asked): Promise<{readonly code: number | null; readonly stdout: string; readonly stderr: string}> {
	return ended(start(asked));
}

async function ended(child: ChildProcess): Promise<{readonly code: number | null; readonly stdout: string; readonly stderr: string}> {
	const said = {stdout: '', stderr: ''};
	for (const name of ['stdout', 'stderr'] as const) {
		child[name]?.on('data', (chunk: Buffer) => {
			said[name] += chunk.toString('latin1');
		});
	}

	const code = await new Promise<number | null>(resolve => {
		child.on('close', resolve);
	});
	return {code, ...said};
}

const silence = {code: 1, stdout: '', stderr: ''};

test('the two exact prompts are answered, with or without a port', async t => {
	t.deepEqual(await ask({args: [username]}), {code: 0, stdout: `${login}\n`, stderr: ''});
	t.deepEqual(await ask({args: [password]}), {code: 0, stdout: `${token}\n`, stderr: ''});
	const bare = {...env, BAILIFF_ASKPASS_ORIGIN: 'https://git.example.test'};
	t.is((await ask({args: [`Password for 'https://${login}@git.example.test': `], env: bare})).stdout, `${token}\n`);
});

for (const [title, prompt] of [
	['another host', `Password for 'https://${login}@evil.example.test:8443': `],
	['another port', `Password for 'https://${login}@git.example.test:443': `],
	['no port', `Password for 'https://${login}@git.example.test': `],
	['plain http', `Password for 'http://${login}@git.example.test:8443': `],
	['another login', `Password for 'https://other@git.example.test:8443': `],
	['no login', `Password for '${origin}': `],
	['a host that begins like ours', `Password for 'https://${login}@git.example.test:8443.evil.test': `],
	['ours as a user name of another', `Password for 'https://${login}@git.example.test:8443@evil.test': `],
	['a path', `Password for 'https://${login}@git.example.test:8443/acme/widget': `],
	['capitals', password.toUpperCase()],
	['something behind', `${password} `],
	['something before', ` ${password}`],
	['the last blank missing', password.trimEnd()],
	['a second line', `${password}\n`],
	['another question', `Passphrase for key '${origin}': `],
	['nothing', ''],
	['9000 characters', 'P'.repeat(9000)],
] as const) {
	test(`no word for a prompt with ${title}`, async t => {
		t.deepEqual(await ask({args: [prompt]}), silence);
	});
}

test('no word for any other text', async t => {
	await fc.assert(
		fc.asyncProperty(fc.string({unit: 'binary-ascii', maxLength: 80}), async text => {
			const prompt = text.replaceAll('\0', '');
			t.deepEqual(await ask({args: [prompt]}), silence);
		}),
		{numRuns: 50},
	);
});

for (const [title, given] of [
	['without an origin', {BAILIFF_ASKPASS_LOGIN: login}],
	['without a login', {BAILIFF_ASKPASS_ORIGIN: origin}],
	['with an empty login', {...env, BAILIFF_ASKPASS_LOGIN: ''}],
	['with an http origin', {...env, BAILIFF_ASKPASS_ORIGIN: 'http://git.example.test:8443'}],
	['with a path in the origin', {...env, BAILIFF_ASKPASS_ORIGIN: `${origin}/`}],
	['with a user in the origin', {...env, BAILIFF_ASKPASS_ORIGIN: 'https://x@git.example.test:8443'}],
	['with an origin of nothing', {...env, BAILIFF_ASKPASS_ORIGIN: 'https://'}],
] as const) {
	test(`no word ${title}`, async t => {
		t.deepEqual(await ask({env: given}), silence);
		t.deepEqual(await ask({env: given, args: [username]}), silence);
	});
}

for (const [title, input] of [
	['an empty pipe', ''],
	['a blank', 'a b'],
	['a line feed', `${token}\n`],
	['a NUL', 'a\0b'],
	['a byte above ASCII', 'a\u00ffb'],
	['4097 bytes', 'a'.repeat(4097)],
	['a flood', 'a'.repeat(200_000)],
] as const) {
	test(`no word of a token that is ${title}`, async t => {
		t.deepEqual(await ask({input}), silence);
	});
}

test('4096 bytes are a token', async t => {
	t.is((await ask({input: 'a'.repeat(4096)})).stdout.length, 4097);
});

test('a call without a prompt, or with two, is refused', async t => {
	t.deepEqual(await ask({args: []}), silence);
	t.deepEqual(await ask({args: [password, password]}), silence);
});

test('a file that stands at descriptor 3 is never printed, and neither is nothing', async t => {
	const file = path.join(temporaryDirectory(t), 'secret');
	writeFileSync(file, 'other-secret');
	const descriptor = openSync(file, 'r');
	t.deepEqual(await ended(spawn(askpassPath(), [password], {env, stdio: ['ignore', 'pipe', 'pipe', descriptor]})), silence);
	closeSync(descriptor);
	t.deepEqual(await ended(spawn(askpassPath(), [password], {env, stdio: ['ignore', 'pipe', 'pipe']})), silence);
});

test('while it waits for the token neither its arguments nor its environment hold it, and it cannot be looked at', async t => {
	const child = start({input: null});
	const channel = child.stdio[3];
	if (child.pid === undefined || !isWritable(channel)) {
		t.fail('it did not start');
		return;
	}

	channel.write(token.slice(0, 8));
	const read = (name: string): string => readFileSync(`/proc/${child.pid}/${name}`, 'latin1');
	// State S in the read of the pipe: everything before it is done.
	await eventually('it waits for the token', () => / S /.test(read('stat')) && read('cmdline').includes('Password'));
	t.false(read('cmdline').includes(token.slice(0, 8)));
	if (process.geteuid?.() === 0) {
		t.false(read('environ').includes(token.slice(0, 8)));
	} else {
		t.throws(() => read('environ'), {code: 'EACCES'});
	}

	channel.end(token.slice(8));
	t.deepEqual(await ended(child), {code: 0, stdout: `${token}\n`, stderr: ''});
});

test('it is linked statically: no other code comes in', t => {
	const bytes = readFileSync(askpassPath());
	if (bytes.includes('__asan')) {
		t.pass('the sanitizer build is not');
		return;
	}

	const interpreter = 3;
	const [first, size, count] = [Number(bytes.readBigUInt64LE(32)), bytes.readUInt16LE(54), bytes.readUInt16LE(56)];
	const kinds = Array.from({length: count}, (_, index) => bytes.readUInt32LE(first + index * size));
	t.true(kinds.length > 0);
	t.false(kinds.includes(interpreter));
});

function isWritable(stream: unknown): stream is Writable {
	return typeof stream === 'object' && stream !== null && 'write' in stream;
}
