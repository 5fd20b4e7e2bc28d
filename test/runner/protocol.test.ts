import {constants} from 'node:os';
import test from 'ava';
import {array, assert, integer, property, uint8Array} from 'fast-check';
import {BailiffError} from '../../core/errors.ts';
import type {CommandRequest} from '../../runner/outcome.ts';
import {EventDecoder, encodeControl, encodeRun, errnoName, type SupervisorEvent} from '../../runner/protocol.ts';

function frame(type: number, payload: Buffer): Buffer {
	const header = Buffer.alloc(5);
	header.writeUInt32LE(payload.length, 0);
	header.writeUInt8(type, 4);
	return Buffer.concat([header, payload]);
}

function chunk(stream: number, offset: number, text: string): Buffer {
	const fixed = Buffer.alloc(21);
	fixed.writeUInt32LE(1, 0);
	fixed.writeUInt8(stream, 4);
	fixed.writeBigUInt64LE(BigInt(offset), 5);
	fixed.writeBigUInt64LE(77n, 13);
	return frame(3, Buffer.concat([fixed, Buffer.from(text)]));
}

const started = frame(2, Buffer.from('01000000d20400000a00000000000000', 'hex'));
const request: CommandRequest = {
	executable: '/bin/true',
	argv: ['true', 'ä'],
	checkout: '/checkout',
	cwd: '.',
	env: {A: '1', B: ''},
	timeoutNs: 5n,
	leakTimeoutNs: null,
	maxOutputBytes: 9,
	streams: 'split',
	limits: {openFiles: 1024, memoryBytes: null, cpuSeconds: null, processes: null, fileSizeBytes: null},
};

test('encodeRun() writes the numbers first and then every string with its end', t => {
	const bytes = encodeRun(request, 3) ?? Buffer.alloc(0);
	t.is(bytes.readUInt32LE(0), bytes.length - 5);
	t.is(bytes.readUInt8(4), 1);
	t.is(bytes.readUInt32LE(5), 3);
	t.is(bytes.readBigUInt64LE(9), 5n);
	t.is(bytes.readBigUInt64LE(17), 0xffff_ffff_ffff_ffffn);
	t.is(bytes.readUInt8(33), 1);
	t.deepEqual([bytes.readUInt32LE(74), bytes.readUInt32LE(78)], [2, 2]);
	t.is(bytes.toString('utf8', 82), '/bin/true\0/checkout\0.\0true\0ä\0A=1\0B=\0');
});

test('encodeRun() gives nothing for a request that no kernel takes', t => {
	t.is(encodeRun({...request, argv: ['x'.repeat(9_000_000)]}, 1), null);
});

test('encodeControl() writes frames without content', t => {
	t.deepEqual(encodeControl('interrupt'), Buffer.from([0, 0, 0, 0, 2]));
	t.deepEqual(encodeControl('kill'), Buffer.from([0, 0, 0, 0, 3]));
});

test('EventDecoder gives the same events however the bytes are cut', t => {
	const bytes = Buffer.concat([started, chunk(0, 0, 'one'), chunk(1, 0, 'two'), chunk(0, 3, 'x'.repeat(500))]);
	const whole = new EventDecoder().push(bytes);
	t.is(whole.length, 4);
	t.deepEqual(whole[0], {type: 'started', seq: 1, pid: 1234, startNs: 10n});
	assert(
		property(array(integer({min: 1, max: 200})), cuts => {
			const decoder = new EventDecoder();
			const events: SupervisorEvent[] = [];
			let at = 0;
			for (const cut of [...cuts, bytes.length]) {
				events.push(...decoder.push(bytes.subarray(at, at + cut)));
				at += cut;
			}

			t.deepEqual(events, whole);
		}),
	);
});

test('EventDecoder refuses whatever is no event, with one code, and never guesses', t => {
	assert(
		property(uint8Array({maxLength: 200}), bytes => {
			try {
				new EventDecoder().push(Buffer.from(bytes));
			} catch (error) {
				t.true(error instanceof BailiffError && error.code === 'RUN_SUPERVISOR_FAILED');
			}
		}),
		{numRuns: 2000},
	);
});

const malformed: ReadonlyArray<readonly [string, Buffer]> = [
	['a frame of an unknown type', frame(0, Buffer.alloc(4))],
	['a frame that is too large', Buffer.from('ffffff7f03', 'hex')],
	['a start that is too short', frame(2, Buffer.alloc(15))],
	['a start that is too long', frame(2, Buffer.alloc(17))],
	['a chunk without bytes', chunk(0, 0, '')],
	['a chunk of a third stream', chunk(2, 0, 'x')],
	['a failed start without a stage', frame(4, Buffer.alloc(9))],
	['a failed start of an unknown stage', frame(4, Buffer.from('010000000902000000', 'hex'))],
	['an end with an unknown trigger', frame(5, Buffer.alloc(122, 9))],
	['an offset beyond what a number holds', frame(3, Buffer.concat([Buffer.alloc(5), Buffer.alloc(8, 0xff), Buffer.alloc(9)]))],
];

for (const [title, bytes] of malformed) {
	test(`EventDecoder refuses ${title}`, t => {
		t.throws(() => new EventDecoder().push(bytes), {code: 'RUN_SUPERVISOR_FAILED'});
	});
}

test('errnoName() gives the symbol of shapes.ts', t => {
	t.is(errnoName(constants.errno.ENOENT), 'ENOENT');
	t.is(errnoName(constants.errno.EAGAIN), 'EAGAIN');
	t.is(errnoName(26), 'ETXTBSY');
	t.is(errnoName(80), 'ELIBBAD');
	t.is(errnoName(9999), 'E9999');
	for (const number of Object.values(constants.errno)) {
		t.regex(errnoName(number), /^E[A-Z0-9]+$/);
	}
});
