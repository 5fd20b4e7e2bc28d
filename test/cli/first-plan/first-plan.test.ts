import {mkdirSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import test, {type ExecutionContext} from 'ava';
import {createFirstPlan, type FirstPlan} from '../../../cli/first-plan/first-plan.ts';
import {parsePlan} from '../../../evidence/plan.ts';
import {privateDirectories} from '../../../runner/sandbox/profile.ts';
import {temporaryDirectory} from '../../helpers/temporary-directory.ts';

function firstPlan(t: ExecutionContext, tools: readonly string[], hasSandbox: boolean, isHome = true): FirstPlan & {readonly home: string} {
	const home = temporaryDirectory(t);
	const bin = path.join(home, '.nvm/versions/node/v20/bin');
	mkdirSync(bin, {recursive: true});
	for (const tool of tools) {
		writeFileSync(path.join(bin, tool), '#!', {mode: 0o755});
	}

	const files: Readonly<Record<string, string>> = {
		'package.json': '{"scripts":{"test":"x"},"dependencies":{"a":"1"}}',
		'package-lock.json': '{}',
		'go.mod': 'module x\n',
	};
	const search = {searchPath: bin, checkout: path.join(home, 'checkout'), files: {read: (name: string) => files[name] ?? null}};
	const target = {owner: 'acme', repository: 'widget', issue: 7};
	return {...createFirstPlan({target, sourceSha: 'a'.repeat(40), search, home: isHome ? home : null, hasSandbox}), home};
}

test('commands whose tools are found are planned with a PATH that finds them; the others are named', t => {
	const {plan, notes, home} = firstPlan(t, ['node', 'npm', 'sh'], false);
	t.like(plan, {owner: 'acme', issue: 7, source_sha: 'a'.repeat(40), sandbox: {mode: 'off'}});
	t.deepEqual(
		plan?.commands.map(({id}) => id),
		['npm-install', 'npm-test'],
	);
	t.true(plan?.path?.startsWith(`${home}/.nvm/versions/node/v20/bin:`));
	t.is(notes.filter(note => /^go\.mod offers "go test .*left out$/.test(note)).length, 1);
	t.notThrows(() => parsePlan(Buffer.from(JSON.stringify(plan))));
});

test('under a sandbox the toolchain in the hidden home is listed to be read, and only the install has the network', t => {
	const {plan, home} = firstPlan(t, ['node', 'npm', 'sh'], true);
	const read = [`${home}/.nvm/versions/node/v20`];
	t.deepEqual(plan?.sandbox, {mode: 'required', filesystem: {read}});
	t.deepEqual(plan?.commands[0]?.sandbox, {mode: 'required', filesystem: {read}, network: 'host'});
	t.is(plan?.commands[1]?.sandbox, undefined);
	t.notThrows(() => parsePlan(Buffer.from(JSON.stringify(plan))));
});

test('under a sandbox a toolchain below a temporary directory is listed, too: the sandbox has others of its own', t => {
	const {plan, home} = firstPlan(t, ['node', 'npm', 'sh'], true, false);
	const isTemporary = privateDirectories.some(directory => home.startsWith(`${directory}/`));
	t.deepEqual(plan?.sandbox?.filesystem?.read, isTemporary ? [`${home}/.nvm/versions/node/v20`] : undefined);
});

test('without a single tool there is no plan', t => {
	const {plan, notes} = firstPlan(t, [], false);
	t.is(plan, null);
	t.is(notes.length, 4);
});
