import test from 'ava';
import * as fc from 'fast-check';
import {inRows, zeroTerminated} from '../../cache/git-output.ts';

test('zeroTerminated() gives back the fields that were joined', t => {
	fc.assert(
		fc.property(fc.array(fc.string().map(text => text.replaceAll(/[^\x01-\x7f]/g, 'x'))), fields => {
			const output = Buffer.from(fields.map(field => `${field}\0`).join(''), 'latin1');
			t.deepEqual([...zeroTerminated(output)], fields);
		}),
	);
});

test('zeroTerminated() gives a last field that is not terminated', t => {
	t.deepEqual([...zeroTerminated(Buffer.from('a\0b'))], ['a', 'b']);
});

test('inRows() drops an incomplete row', t => {
	t.deepEqual(
		[...inRows(['a', 'b', 'c', 'd', 'e'], 2)],
		[
			['a', 'b'],
			['c', 'd'],
		],
	);
});
