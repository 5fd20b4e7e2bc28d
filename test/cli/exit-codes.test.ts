import test from 'ava';
import {exitCodeByErrorCode, exitCodeOf, isBailiffError} from '../../cli/exit-codes.ts';
import {BailiffError, type ErrorCode, errorCodes} from '../../core/errors.ts';

test('every error code has an exit code that is neither yes nor no', t => {
	t.deepEqual(Object.keys(exitCodeByErrorCode).toSorted(), [...errorCodes].toSorted());
	t.deepEqual(
		Object.values(exitCodeByErrorCode).filter(code => code < 2),
		[],
	);
});

for (const [code, exitCode] of [
	['CLI_USAGE', 2],
	['CORE_ID_OWNER', 2],
	['CACHE_ROOT_INVALID', 3],
	['EVIDENCE_PLAN_INVALID', 3],
	['RUN_CHECKOUT_DIRTY', 3],
	['EVIDENCE_WRITE_FAILED', 4],
] as const satisfies ReadonlyArray<readonly [ErrorCode, number]>) {
	test(`${code} ends with ${exitCode}`, t => {
		t.is(exitCodeOf(new BailiffError(code, 'x')), exitCode);
	});
}

for (const [signal, exitCode] of [
	['SIGINT', 130],
	['SIGTERM', 143],
	['SIGHUP', 129],
] as const) {
	test(`an interruption by ${signal} ends with ${exitCode}`, t => {
		t.is(exitCodeOf(new BailiffError('CLI_INTERRUPTED', 'x', {details: {signal}})), exitCode);
	});
}

test('an error of another copy of the class is still ours; one with an unknown code or another name is not', t => {
	t.true(isBailiffError(foreign('BailiffError', 'CLI_USAGE')));
	t.false(isBailiffError(foreign('BailiffError', 'CLI_NOVEL')));
	t.false(isBailiffError(foreign('Error', 'CLI_USAGE')));
	t.false(isBailiffError('CLI_USAGE'));
});

function foreign(name: string, code: string): Error {
	return Object.assign(new Error('x'), {name, code, details: {}});
}
