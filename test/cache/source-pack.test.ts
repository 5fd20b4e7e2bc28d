import {createHash} from 'node:crypto';
import {deflateSync} from 'node:zlib';
import test from 'ava';
import {checkSourcePack} from '../../cache/source-pack.ts';

const limits = {maxObjectBytes: 1000, maxUnpackedBytes: 1500};

/** A pack of one version, with a true trailer, of objects that may state another size than they have. */
function packOf(objects: ReadonlyArray<{readonly type: number; readonly content: Buffer; readonly states?: number}>, behind = Buffer.alloc(0)): Buffer {
	const head = Buffer.from('PACK\0\0\0\x02\0\0\0\0', 'latin1');
	head.writeUInt32BE(objects.length, 8);
	const parts = objects.flatMap(({type, content, states = content.length}) => {
		const bytes = [(type << 4) | (states & 15)];
		for (let rest = Math.floor(states / 16); rest > 0; rest = Math.floor(rest / 128)) {
			bytes.push((bytes.pop() ?? 0) | 0x80, rest & 0x7f);
		}

		return [Buffer.from(bytes), deflateSync(content)];
	});
	const body = Buffer.concat([head, ...parts, behind]);
	return Buffer.concat([body, createHash('sha1').update(body).digest()]);
}

const blob = (bytes: number): {readonly type: number; readonly content: Buffer} => ({type: 3, content: Buffer.alloc(bytes)});

test('checkSourcePack() takes whole objects up to its limits, the empty one, too', t => {
	t.notThrows(() => checkSourcePack(packOf([blob(1000), {type: 1, content: Buffer.from('tree')}, blob(0), blob(496)]), limits));
	t.notThrows(() => checkSourcePack(packOf([])));
});

for (const [title, pack, message] of [
	['one object beyond its limit', packOf([blob(1001)]), /unpacks to more than 1000 bytes an object/],
	['many small ones beyond the limit of all', packOf([blob(1000), blob(501)]), /1500 bytes in all/],
	['a statement of 2^60 bytes', packOf([{...blob(10), states: 2 ** 60}]), /unpacks to more/],
	['an object that is larger than it states', packOf([{...blob(900), states: 4}]), /larger than it states/],
	['an object that is smaller than it states', packOf([{...blob(4), states: 900}]), /smaller than it states/],
	['a delta', packOf([{type: 7, content: Buffer.alloc(4)}]), /deltas/],
	['bytes behind the last object', packOf([blob(4)], Buffer.from('x')), /behind its last object/],
	['an object that is cut off', Buffer.concat([packOf([blob(4)]).subarray(0, 16), Buffer.alloc(20)]), /broken/],
	['a count beyond its objects', Buffer.concat([Buffer.from('PACK\0\0\0\x02\0\0\0\x01', 'latin1'), Buffer.alloc(20)]), /ends too early/],
	['no pack', Buffer.from('PACK'), /no git pack/],
] as const) {
	test(`checkSourcePack() refuses ${title}`, t => {
		t.throws(() => checkSourcePack(pack, limits), {code: 'CACHE_OBJECT_INVALID', message});
	});
}
