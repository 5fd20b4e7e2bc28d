import test from 'ava';
import * as z from 'zod';
import {pointerOf, schemaProblems} from '../../evidence/schema-problems.ts';

const schema = z.strictObject({
	name: z.string().regex(/^[a-z]+$/),
	count: z.int().min(1).max(9),
	kind: z.enum(['a', 'b']),
	list: z.array(z.strictObject({'x/y~z': z.boolean()})).max(2),
	env: z.record(z.string().regex(/^[A-Z]+$/), z.string()),
	either: z.discriminatedUnion('event', [z.strictObject({event: z.literal('one')}), z.strictObject({event: z.literal('two')})]),
});
const good = {name: 'n', count: 1, kind: 'a', list: [], env: {}, either: {event: 'one'}};

function problems(value: unknown): string[] {
	const parsed = schema.safeParse(value);
	return schemaProblems(parsed.error?.issues ?? [], {value, path: 'file.json', hints: {count: 'write 1 to 9'}}).map(({code, path, pointer, message}) => {
		return `${code} ${path ?? ''} ${pointer} ${message}`;
	});
}

for (const [title, change, expected] of [
	['a wrong type', {count: 'x'}, ['EVIDENCE_SCHEMA file.json /count expected number, found a string of 1 characters: write 1 to 9']],
	['a fraction', {count: 1.5}, ['EVIDENCE_SCHEMA file.json /count expected a whole number, found 1.5: write 1 to 9']],
	['too much', {count: 10}, ['EVIDENCE_SCHEMA file.json /count expected at most 9, found 10: write 1 to 9']],
	['too little', {count: 0}, ['EVIDENCE_SCHEMA file.json /count expected at least 1, found 0: write 1 to 9']],
	['too many', {list: [{}, {}, {}]}, ['EVIDENCE_SCHEMA file.json /list expected a number of items of at most 2, found an array of 3 items']],
	[
		'a wrong form, unquoted',
		{name: 'Secret-Value'},
		['EVIDENCE_SCHEMA file.json /name expected a string that matches /^[a-z]+$/, found a string of 12 characters'],
	],
	['none of the words', {kind: 'c'}, ['EVIDENCE_SCHEMA file.json /kind expected "a" or "b", found a string of 1 characters']],
	['null', {kind: null}, ['EVIDENCE_SCHEMA file.json /kind expected "a" or "b", found null']],
	[
		'an unknown key below, with an escaped pointer',
		{list: [{'x/y~z': true, 'a/b': 1}]},
		['EVIDENCE_UNKNOWN_KEY file.json /list/0/a~1b the key "a/b" is not known here, remove it'],
	],
	['a missing key below', {list: [{}]}, ['EVIDENCE_MISSING_KEY file.json /list/0/x~1y~0z the key "x/y~z" is missing']],
	[
		'a bad name of a member',
		{env: {a: 'x'}},
		['EVIDENCE_SCHEMA file.json /env/a the name of this key is not allowed (expected a string that matches /^[A-Z]+$/), found a string of 1 characters'],
	],
	[
		'none of the shapes',
		{either: {event: 'three'}},
		['EVIDENCE_SCHEMA file.json /either/event expected one of the known shapes, found a string of 5 characters'],
	],
] as const) {
	test(`schemaProblems() tells ${title}`, t => {
		t.deepEqual(problems({...good, ...change}), [...expected]);
	});
}

test('schemaProblems() tells a key that is not there from one that is null', t => {
	const {count: _count, ...rest} = good;
	t.deepEqual(problems(rest), ['EVIDENCE_MISSING_KEY file.json /count the key "count" is missing: write 1 to 9']);
});

test('schemaProblems() tells every unknown key by itself', t => {
	t.is(problems({...good, one: 1, two: 2}).length, 2);
});

test('keys that every object inherits are unknown, not missing', t => {
	const value = Object.assign(Object.create(null), good, {constructor: 1, toString: 2});
	t.deepEqual(
		problems(value).map(problem => problem.split(' ').slice(0, 3).join(' ')),
		['EVIDENCE_UNKNOWN_KEY file.json /constructor', 'EVIDENCE_UNKNOWN_KEY file.json /toString'],
	);
});

test('pointerOf() escapes each token', t => {
	t.is(pointerOf([]), '');
	t.is(pointerOf(['a/b', 0, '~']), '/a~1b/0/~0');
});

for (const [title, value] of [
	['wrong keys', {...good, env: Object.fromEntries(Array.from({length: 1500}, (_, index) => [`lower${index}`, 'x']))}],
	['unknown keys', {...good, ...Object.fromEntries(Array.from({length: 1500}, (_, index) => [`other${index}`, 1]))}],
] as const) {
	test(`schemaProblems() lists the first thousand of many ${title}, and says that there are more`, t => {
		const found = problems(value);
		t.is(found.length, 1001);
		t.is(found.at(-1), 'EVIDENCE_MORE_PROBLEMS   more are not listed, the limit is 1000');
	});
}
