import test from 'ava';
import {BailiffError, errnoOf, errorCodes} from '../../core/errors.ts';

const ownerOf = (code: string): string => code.split('_')[0] ?? '';

test('an error carries code, message, cause and details, and is JSON without its cause', t => {
	const cause = new Error('inner');
	const error = new BailiffError('CORE_FILE_UNREADABLE', 'the plan cannot be read', {cause, details: {path: 'plan.json'}});
	t.is(error.cause, cause);
	t.is(error.name, 'BailiffError');
	t.deepEqual(JSON.parse(JSON.stringify(error)), {code: 'CORE_FILE_UNREADABLE', message: 'the plan cannot be read', details: {path: 'plan.json'}});
});

test('an error without cause has no cause property', t => {
	t.false('cause' in new BailiffError('CLI_USAGE', 'x'));
});

test('codes are prefixed by the folder that owns them, grouped, and sorted in their group', t => {
	const owners = ['CORE', 'EVIDENCE', 'RUN', 'CACHE', 'PUBLISH', 'CLI'];
	t.deepEqual(
		[...errorCodes],
		owners.flatMap(owner => errorCodes.filter(code => ownerOf(code) === owner).toSorted()),
	);
});

for (const [title, value, errno] of [
	['a failed system call', Object.assign(new Error('x'), {code: 'ENOENT'}), 'ENOENT'],
	['a code of Node that is no errno', Object.assign(new Error('x'), {code: 'ERR_INVALID_ARG_TYPE'}), null],
	['a BailiffError', new BailiffError('CLI_USAGE', 'x'), null],
	['a plain error', new Error('x'), null],
	['a number as code', {code: 2}, null],
	['null', null, null],
	['text', 'ENOENT', null],
] as const) {
	test(`errnoOf() gives ${errno} for ${title}`, t => {
		t.is(errnoOf(value), errno);
	});
}
