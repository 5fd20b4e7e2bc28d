import test from 'ava';
import {array, assert as assertProperty, nat, property, string} from 'fast-check';
import {brokerLimits, LineReader, lineOf, parseAnswer, parseRequest, refusalOf} from '../../cache/broker-protocol.ts';
import {BailiffError} from '../../core/errors.ts';
import {codeOf, refusalOf as refusal} from '../helpers/refusal.ts';

const token = 'x'.repeat(43);
const good = [
	{v: 1, id: 1, token, op: 'acquire', hold: false},
	{v: 1, id: 2, token, op: 'renew', ttl_seconds: 900},
	{v: 1, id: 3, token, op: 'acquire_repository', wait_seconds: 0, pass_descriptor: true},
	{v: 1, id: 4, token, op: 'release_repository'},
	{v: 1, id: 5, token, op: 'probe', resource: 'repository'},
	{v: 1, id: 6, token, op: 'release'},
] as const;

for (const request of good) {
	test(`a request is read as it was written: ${request.op}`, t => {
		t.deepEqual(parseRequest(Buffer.from(JSON.stringify(request))), request);
	});

	test(`a request lacks no key and has no other: ${request.op}`, t => {
		for (const key of Object.keys(request)) {
			const without = Object.fromEntries(Object.entries(request).filter(([name]) => name !== key));
			t.is(
				codeOf(() => parseRequest(Buffer.from(JSON.stringify(without)))),
				'CACHE_BROKER_PROTOCOL',
				key,
			);
		}

		t.is(
			codeOf(() => parseRequest(Buffer.from(JSON.stringify({...request, more: 1})))),
			'CACHE_BROKER_PROTOCOL',
		);
	});
}

for (const [what, line] of [
	['another version', '{"v":2,"id":1,"token":"t","op":"release"}'],
	['another operation', '{"v":1,"id":1,"token":"t","op":"unlock"}'],
	['a number as text', '{"v":1,"id":"1","token":"t","op":"release"}'],
	['a negative number', '{"v":1,"id":-1,"token":"t","op":"release"}'],
	['a duplicate key', '{"v":1,"id":1,"token":"t","op":"release","op":"release"}'],
	['no token', '{"v":1,"id":1,"token":"","op":"release"}'],
	['too short a time', '{"v":1,"id":1,"token":"t","op":"renew","ttl_seconds":4}'],
	['too long a time', '{"v":1,"id":1,"token":"t","op":"renew","ttl_seconds":3601}'],
	['a fraction', '{"v":1,"id":1,"token":"t","op":"renew","ttl_seconds":5.5}'],
	['another resource', '{"v":1,"id":1,"token":"t","op":"probe","resource":"mirror"}'],
	['an array', '[]'],
	['nothing', ''],
	['what is no JSON', 'acquire'],
] as const) {
	test(`a request with ${what} is refused`, t => {
		t.is(
			codeOf(() => parseRequest(Buffer.from(line))),
			'CACHE_BROKER_PROTOCOL',
		);
	});
}

test('a refusal of a request quotes no token', t => {
	const secret = 'S3cr3tT0k3nThatMustNotShow';
	const error = refusal(() => parseRequest(Buffer.from(JSON.stringify({v: 1, id: 1, token: secret, op: secret, more: secret}))));
	t.truthy(error);
	t.false(JSON.stringify(error).includes(secret));
});

test('answers are read as they were written', t => {
	const granted = {v: 1, id: 3, ok: true, lease: {issue: 'held', repository: 'held', expires_in_seconds: 899}, free: null} as const;
	const refused = refusalOf(null, new BailiffError('CACHE_LOCK_BUSY', 'held', {details: {resource: 'repository', holders: [{pid: 1, command: null}]}}));
	for (const answer of [granted, refused]) {
		t.deepEqual(parseAnswer(lineOf(answer).subarray(0, -1)), answer);
	}

	t.is(
		codeOf(() => parseAnswer(Buffer.from(JSON.stringify({...granted, ok: false})))),
		'CACHE_BROKER_PROTOCOL',
	);
});

test('a line may come in any pieces and is given once it is whole', t => {
	assertProperty(
		property(
			string({maxLength: 50}).map(text => text.replaceAll('\n', ' ')),
			array(nat(20), {maxLength: 10}),
			(text, cuts) => {
				const bytes = Buffer.from(`${text}\n`);
				const reader = new LineReader();
				let at = 0;
				for (const cut of cuts) {
					const end = Math.min(at + cut, bytes.length - 1);
					t.is(reader.push(bytes.subarray(at, end)), null);
					at = end;
				}

				t.is(reader.push(bytes.subarray(at))?.toString(), text);
			},
		),
	);
});

test('a line of exactly 64 KiB passes, one byte more is refused, also before its end came', t => {
	const whole = Buffer.alloc(brokerLimits.lineBytes, 'x');
	whole[whole.length - 1] = 0x0a;
	t.is(new LineReader().push(whole)?.length, brokerLimits.lineBytes - 1);
	t.is(
		codeOf(() => new LineReader().push(Buffer.alloc(brokerLimits.lineBytes + 1, 'x'))),
		'CACHE_BROKER_PROTOCOL',
	);
	const reader = new LineReader();
	t.is(reader.push(Buffer.alloc(brokerLimits.lineBytes, 'x')), null);
	t.is(
		codeOf(() => reader.push(Buffer.from('\n'))),
		'CACHE_BROKER_PROTOCOL',
	);
});

test('what follows a line before its answer is refused', t => {
	t.is(
		codeOf(() => new LineReader().push(Buffer.from('{}\n{}\n'))),
		'CACHE_BROKER_PROTOCOL',
	);
});
