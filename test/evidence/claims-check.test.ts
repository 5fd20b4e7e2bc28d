import test from 'ava';
import type {JsonValue} from '../../core/errors.ts';
import {resolvePointer} from '../../evidence/claims-check.ts';

const root: JsonValue = {commands: [{argv: ['a'], 'odd/~key': 1}], '': {'': 2}};

const resolved: ReadonlyArray<readonly [pointer: string, value: JsonValue | undefined]> = [
	['', root],
	['/commands/0/argv', ['a']],
	['/commands/0/argv/0', 'a'],
	['/commands/0/odd~1~0key', 1],
	['//', 2],
	['/commands/00', undefined],
	['/commands/01', undefined],
	['/commands/-', undefined],
	['/commands/-1', undefined],
	['/commands/+0', undefined],
	['/commands/0.0', undefined],
	['/commands/1', undefined],
	['/commands/length', undefined],
	['/commands/0/argv/0/length', undefined],
	['/__proto__', undefined],
	['/commands/0/constructor', undefined],
	['/commands/0/toString', undefined],
	['#/commands', undefined],
	['commands', undefined],
];

for (const [pointer, value] of resolved) {
	test(`resolvePointer() ${value === undefined ? 'finds nothing at' : 'resolves'} ${JSON.stringify(pointer)}`, t => {
		t.deepEqual(resolvePointer(root, pointer), value);
	});
}

test('resolvePointer() sees own properties only, also on objects that have a prototype', t => {
	const inherited: JsonValue = JSON.parse('{"a": 1}');
	t.is(resolvePointer(inherited, '/toString'), undefined);
	t.is(resolvePointer(inherited, '/a'), 1);
});
