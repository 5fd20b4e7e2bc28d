import path from 'node:path';
import test from 'ava';
import {parseRepositoryName, parseTarget, readContractPath, readTarget, toAbsolute} from '../../cli/arguments.ts';
import {OptionValues} from '../../cli/option-values.ts';
import type {ErrorCode} from '../../core/errors.ts';

test('--root is shorthand for the contract file under it', t => {
	t.is(readContractPath(new OptionValues({root: '/srv/bailiff'})), '/srv/bailiff/harness/operations/repository-cache.md');
	t.is(readContractPath(new OptionValues({root: '/srv/bailiff/'})), '/srv/bailiff/harness/operations/repository-cache.md');
	t.is(readContractPath(new OptionValues({contractPath: '/a/harness/operations/repository-cache.md'})), '/a/harness/operations/repository-cache.md');
});

test('a doubled slash of --root is not tidied up, so that the root check can refuse it', t => {
	t.is(readContractPath(new OptionValues({root: '/srv//x'})), '/srv//x/harness/operations/repository-cache.md');
	t.is(readContractPath(new OptionValues({root: '/srv/x//'})), '/srv/x//harness/operations/repository-cache.md');
});

for (const [title, values, code, message] of [
	['no root', {}, 'CLI_USAGE', /give --root DIR or --contract-path FILE/],
	['both names of the root', {root: '/a', contractPath: '/a/b'}, 'CLI_USAGE', /give one of them/],
	['a relative root', {root: 'here'}, 'CACHE_ROOT_INVALID', new RegExp(`perhaps "${path.resolve('here')}"`)],
	['an empty root', {root: ''}, 'CACHE_ROOT_INVALID', /must be absolute/],
	['a relative contract path', {contractPath: 'x.md'}, 'CACHE_ROOT_INVALID', /must be absolute/],
] as const satisfies ReadonlyArray<readonly [string, Record<string, unknown>, ErrorCode, RegExp]>) {
	test(`${title} is refused with the way out`, t => {
		t.throws(() => readContractPath(new OptionValues(values)), {code, message});
	});
}

test('--target is the three flags in one word', t => {
	const target = {owner: 'acme', repository: 'widget', issue: 7};
	t.deepEqual(readTarget(new OptionValues({target: 'acme/widget#7'})), target);
	t.deepEqual(readTarget(new OptionValues(target)), target);
	t.deepEqual(parseTarget('a/b#c#7'), {owner: 'a', repository: 'b#c', issue: 7});
});

for (const [title, values, code] of [
	['nothing', {}, 'CLI_USAGE'],
	['two of three', {owner: 'acme', repository: 'widget'}, 'CLI_USAGE'],
	['both ways at once', {target: 'acme/widget#7', issue: 7}, 'CLI_USAGE'],
	['a target without an issue', {target: 'acme/widget'}, 'CLI_USAGE'],
	['issue 0', {target: 'acme/widget#0'}, 'CLI_USAGE'],
	['an issue with a leading zero', {target: 'acme/widget#07'}, 'CLI_USAGE'],
	['an issue beyond safe integers', {target: 'acme/widget#9999999999999999'}, 'CORE_ID_ISSUE'],
	['an owner that climbs', {target: '../widget#7'}, 'CORE_ID_OWNER'],
	['a repository with a slash', {target: 'acme/a/b#7'}, 'CORE_ID_REPOSITORY'],
	['a repository of two dots', {target: 'acme/..#7'}, 'CORE_ID_REPOSITORY'],
] as const satisfies ReadonlyArray<readonly [string, Record<string, unknown>, ErrorCode]>) {
	test(`as a target, ${title} is refused`, t => {
		t.throws(() => readTarget(new OptionValues(values)), {code});
	});
}

test('toAbsolute() starts from where the caller stands', t => {
	t.is(toAbsolute('x/../y'), path.resolve('y'));
	t.is(toAbsolute('/x'), '/x');
});

test('parseRepositoryName() reads owner/repository and nothing else', t => {
	t.deepEqual(parseRepositoryName('acme/widget'), {owner: 'acme', repository: 'widget'});
	for (const text of ['acme', 'acme/widget#7', 'acme/a/b', '/widget', 'acme/', '']) {
		t.throws(() => parseRepositoryName(text), {code: 'CLI_USAGE'}, text);
	}

	t.throws(() => parseRepositoryName('.acme/widget'), {code: 'CORE_ID_OWNER'});
});
