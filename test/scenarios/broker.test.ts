import {spawn} from 'node:child_process';
import {once} from 'node:events';
import {chmodSync, existsSync, readdirSync, readFileSync} from 'node:fs';
import path from 'node:path';
import test from 'ava';
import {BrokerClient} from '../../cache/broker-client.ts';
import {type BrokerProcess, brokerGround, brokerProcess} from '../helpers/broker-ground.ts';
import {eventually} from '../helpers/eventually.ts';
import {mirroredGround} from '../helpers/mirror-ground.ts';
import {type CliResult, cliPath, runCli} from '../helpers/run-cli.ts';
import {RunGround} from '../helpers/run-ground.ts';

const serveWords = 'broker serve --target acme/widget#7 --role impl-agent'.split(' ');
const serveArguments = (root: string, runId: string): string[] => [...serveWords, '--root', root, '--run-id', runId];

async function request(broker: Pick<BrokerProcess, 'handle'>, ...more: readonly string[]): Promise<CliResult> {
	return runCli(['broker', 'request', '--handle', broker.handle, ...more, '--json']);
}

async function probe(root: string, resource: string): Promise<number | null> {
	return (await runCli(['broker', 'probe', '--root', root, '--target', 'acme/widget#7', '--resource', resource])).exitCode;
}

test('serve says one line, request works the lease, and after release probe says free (BR-1, BR-3, BR-5)', async t => {
	const {root} = brokerGround(t);
	const broker = await brokerProcess(t, root, '--json');
	const runtime = path.join(root, 'repositories/acme/widget/worktrees/issue-7/runtime/w-1');
	t.deepEqual(broker.ready, {
		schema: 'bailiff.broker-ready/v1',
		ready: true,
		handle: `${runtime}/handle.json`,
		socket: `${runtime}/broker.sock`,
		runtime,
		owner: 'acme',
		repository: 'widget',
		issue: 7,
		role: 'impl-agent',
		run_id: 'w-1',
		ttl_seconds: 900,
	});
	const {token} = JSON.parse(readFileSync(broker.handle, 'utf8'));
	const {pid} = broker.child;
	for (const file of ['cmdline', 'environ']) {
		t.false(readFileSync(`/proc/${pid}/${file}`, 'latin1').includes(token), file);
	}

	t.is(await probe(root, 'issue'), 1);
	const answers = [
		['acquire', {lease: {issue: 'held', repository: 'free'}}],
		['acquire_repository', {lease: {repository: 'held'}}],
		['probe', {free: false}],
		['release_repository', {lease: {repository: 'free'}}],
	] as const;
	for (const [op, answer] of answers) {
		const result = await request(broker, op);
		t.is(result.exitCode, 0, result.stdout);
		t.like(result.json(), {v: 1, ok: true, ...answer}, op);
		t.false(result.stdout.includes(token));
	}

	t.like((await request(broker, 'renew', '--ttl', '60')).json(), {lease: {issue: 'held'}});
	t.like((await request(broker, 'release')).json(), {lease: {issue: 'free', repository: 'free', expires_in_seconds: 0}});
	t.is(await probe(root, 'issue'), 0);
	t.is(await probe(root, 'repository'), 0);
	t.deepEqual(await broker.ended, {code: 0, signal: null});
	t.is(broker.stdout().split('\n').length, 2);
	t.is(broker.stderr(), '');
	t.deepEqual(readdirSync(runtime), []);
	const late = await request(broker, 'acquire');
	t.is(late.exitCode, 3);
	t.like(late.json(), {error: {code: 'CACHE_LEASE_EXPIRED'}});
});

const endings: ReadonlyArray<readonly [what: string, more: readonly string[], act: (broker: BrokerProcess) => Promise<void> | void, code: number]> = [
	['SIGTERM', [], ({child}) => void child.kill('SIGTERM'), 143],
	['SIGINT', [], ({child}) => void child.kill('SIGINT'), 130],
	['SIGHUP', [], ({child}) => void child.kill('SIGHUP'), 129],
	['the end of its lifeline', ['--lifeline'], ({child}) => void child.stdin?.end(), 0],
	['its time', ['--ttl', '5'], () => {}, 4],
	[
		'the end of its holder',
		[],
		async ({handle}) => {
			const client = await BrokerClient.connect(handle);
			await client.ask({op: 'acquire', hold: true});
			client.close();
		},
		4,
	],
];
for (const [what, more, act, code] of endings) {
	test(`${what} ends a broker with ${code}, its locks and files go (BR-4)`, async t => {
		const {root} = brokerGround(t);
		const broker = await brokerProcess(t, root, ...more);
		await act(broker);
		t.deepEqual(await broker.ended, {code, signal: null});
		t.is(await probe(root, 'issue'), 0);
		t.deepEqual(readdirSync(String(broker.ready['runtime'])), []);
		t.regex(broker.stderr(), /every lock was given back/);
		t.is(broker.stdout().split('\n').length, 2);
	});
}

test('a broker without a lifeline does not mind the end of stdin', async t => {
	const {root} = brokerGround(t);
	const broker = await brokerProcess(t, root);
	broker.child.stdin?.end();
	t.is((await request(broker, 'acquire')).exitCode, 0);
});

test('a killed broker frees its lock at once; its socket is stale, its id used, and the next broker goes on (BR-6)', async t => {
	const {root, paths} = brokerGround(t);
	const broker = await brokerProcess(t, root);
	broker.child.kill('SIGKILL');
	await broker.ended;
	t.is(await probe(root, 'issue'), 0);
	const stale = await request(broker, 'acquire');
	t.is(stale.exitCode, 3);
	t.like(stale.json(), {error: {code: 'CACHE_BROKER_STALE'}});
	const again = await runCli([...serveArguments(root, 'w-1'), '--json']);
	t.is(again.exitCode, 3);
	t.like(again.json(), {error: {code: 'CACHE_RUNTIME_EXISTS'}});
	const next = await brokerProcess(t, root, '--run-id', 'w-2');
	t.is((await request(next, 'acquire')).exitCode, 0);
	t.false(existsSync(path.join(paths.runtime, 'w-1/broker.sock')));
	t.true(existsSync(paths.issueLock));
});

test('eight brokers at once on one issue: one is ready, each other says who holds the lock', async t => {
	const {root} = brokerGround(t);
	const started = Array.from({length: 8}, (_, index) => {
		const child = spawn(process.execPath, [cliPath, ...serveArguments(root, `w-${index}`), '--lifeline', '--json'], {stdio: ['pipe', 'pipe', 'ignore']});
		return {child, ended: once(child, 'close'), said: once(child.stdout, 'data')};
	});
	const said = await Promise.all(started.map(async child => child.said));
	const answers: Array<Record<string, unknown>> = said.map(([line]) => JSON.parse(String(line)));
	t.is(answers.filter(answer => answer['ready'] === true).length, 1);
	for (const answer of answers.filter(({ready}) => ready !== true)) {
		t.like(answer, {error: {code: 'CACHE_LOCK_BUSY'}});
	}

	for (const {child, ended} of started) {
		child.stdin.end();
		await ended;
	}

	t.is(await probe(root, 'issue'), 0);
});

const wrongUses: ReadonlyArray<readonly [what: string, arguments_: (base: readonly string[]) => readonly string[]]> = [
	['too short a time', base => [...base, '--ttl', '4']],
	['too long a time', base => [...base, '--ttl', '3601']],
	['a role of another form', base => base.map(word => (word === 'impl-agent' ? 'Impl' : word))],
	['an id that is no name', base => base.map(word => (word === 'w-1' ? '../w' : word))],
];
for (const [what, change] of wrongUses) {
	test(`serve with ${what} is wrong use`, async t => {
		const {root} = brokerGround(t);
		const result = await runCli([...change(serveArguments(root, 'w-1')), '--json']);
		t.is(result.exitCode, 2, result.stdout);
		t.false(existsSync(path.join(root, 'repositories')));
	});
}

test('run --handle runs under the lease that refuses it otherwise, and a lease of another issue is refused (BR-7)', async t => {
	const ground = await RunGround.make(t);
	const plan = ground.plan([{id: 'unit', argv: ['sh', '-c', 'echo fine']}]);
	const broker = await brokerProcess(t, ground.root);
	const alone = await ground.run(plan, '--json');
	t.is(alone.exitCode, 3);
	t.like(alone.json(), {error: {code: 'CACHE_LOCK_BUSY'}});
	const under = await ground.run(plan, '--run-id', 'r1', '--role', 'impl-agent', '--handle', broker.handle);
	t.is(under.exitCode, 0, under.stderr);
	t.is((await ground.validate('r1', '--require-passed')).exitCode, 0);
	t.is(await probe(ground.root, 'issue'), 1, 'the lease goes on');
	const foreign = await ground.run(ground.plan([{id: 'unit', argv: ['true']}], {issue: 8}), '--handle', broker.handle, '--json');
	t.like(foreign.json(), {error: {code: 'CACHE_BROKER_DENIED', details: {differing: ['issue']}}});
	const role = await ground.run(plan, '--role', 'reviewer', '--handle', broker.handle, '--json');
	t.like(role.json(), {error: {code: 'CACHE_BROKER_DENIED', details: {differing: ['role']}}});
	await request(broker, 'release');
	const late = await ground.run(plan, '--handle', broker.handle, '--json');
	t.is(late.exitCode, 3);
	t.like(late.json(), {error: {code: 'CACHE_LEASE_EXPIRED'}});
});

test('a run whose broker is killed ends in order and leaves its evidence', async t => {
	const ground = await RunGround.make(t);
	const broker = await brokerProcess(t, ground.root);
	const mark = path.join(ground.directory, 'began');
	const plan = ground.plan([{id: 'long', argv: ['sh', '-c', `touch ${mark}; sleep 600`]}]);
	const run = ground.run(plan, '--run-id', 'r1', '--handle', broker.handle);
	await eventually('the command runs', () => existsSync(mark));
	broker.child.kill('SIGKILL');
	const result = await run;
	t.is(result.exitCode, 143, result.stderr);
	t.regex(result.stderr, /lease of .* ended while it was worked under/);
	t.like(JSON.parse(readFileSync(path.join(ground.runDirectory('r1'), 'manifest.json'), 'utf8')), {result: 'failed', stop: {reason: 'interrupted'}});
});

const call = async (words: readonly string[], more: readonly string[]): Promise<CliResult> => runCli([...words, ...more, '--json']);

test('a worktree is made, worked in, resumed and removed, and its mirror synced, all under one lease (BR-7, C-LOCK-4)', async t => {
	const ground = await mirroredGround(t);
	const broker = await brokerProcess(t, ground.root);
	const base = ['--root', ground.root, '--profile', path.join(ground.base, 'profile')];
	const onIssue = [...base, '--target', 'acme/widget#7'];
	const busy = await call(['worktree', 'create'], onIssue);
	t.like(busy.json(), {status: 'refused', error: {code: 'CACHE_LOCK_BUSY'}});
	const lease = ['--handle', broker.handle];
	for (const [words, locks] of [
		['cache sync', ['issue', 'repository']],
		['worktree create', ['issue', 'repository']],
		['worktree resume', ['issue', 'repository']],
	] as const) {
		const result = await call([...words.split(' '), ...lease], words.startsWith('cache') ? [...base, '--target', 'acme/widget'] : onIssue);
		t.is(result.exitCode, 0, result.stdout);
		t.like(result.json(), {status: 'ok', complete: true});
		t.deepEqual(result.json()['locks'], [...locks], words);
	}

	const exec = await runCli(['worktree', 'exec', ...onIssue, ...lease, '--json', '--', 'git', 'status', '--short']);
	t.is(exec.exitCode, 0, exec.stdout);
	t.deepEqual(readdirSync(String(broker.ready['runtime'])).filter(name => name.startsWith('status-exec-')).length, 2, 'its records go to the lease’s runtime');
	t.is((await call(['worktree', 'status', ...lease, '--record', 'before-removal'], onIssue)).exitCode, 0);
	t.true(existsSync(path.join(String(broker.ready['runtime']), 'status-before-removal.json')));
	const head = ground.source.git('rev-parse', 'HEAD').trim();
	const removed = await call(['worktree', 'remove', ...lease, '--discard', head], onIssue);
	t.is(removed.exitCode, 0, removed.stdout);
	const foreign = await call(['cache', 'sync', ...lease], [...base, '--target', 'acme/gadget']);
	t.like(foreign.json(), {status: 'refused', error: {code: 'CACHE_BROKER_DENIED'}});
	t.is((await request(broker, 'release')).exitCode, 0);
	t.is(await probe(ground.root, 'repository'), 0);
	t.is(await probe(ground.root, 'issue'), 0);
});

test('a command that is killed under a lease leaves the lease, and the repository lock is free again', async t => {
	const ground = await mirroredGround(t);
	const broker = await brokerProcess(t, ground.root);
	const client = await BrokerClient.connect(broker.handle);
	const args = ['cache', 'sync', '--root', ground.root, '--profile', path.join(ground.base, 'profile'), '--target', 'acme/widget', '--handle', broker.handle];
	const child = spawn(process.execPath, [cliPath, ...args], {stdio: 'ignore', detached: true});
	const ended = once(child, 'close');
	const holdsRepository = async (): Promise<boolean> => (await client.ask({op: 'acquire', hold: false})).answer.lease.repository === 'held';
	while (!(await holdsRepository()) && child.exitCode === null) {
		// The question itself is the pause.
	}

	child.kill('SIGKILL');
	await ended;
	const {answer} = await client.ask({op: 'acquire_repository', wait_seconds: 30, pass_descriptor: false});
	t.like(answer, {ok: true, lease: {issue: 'held', repository: 'held'}});
	client.close();
});

test('review check-cache answers for a damaged cache with 1 and for none with 3 (SR-CMD-2)', async t => {
	const {root} = brokerGround(t);
	const result = await runCli(['review', 'check-cache', '--root', root, '--owner', 'acme', '--repository', 'widget', '--issue', '7', '--json']);
	t.is(result.exitCode, 3);
	t.like(result.json(), {command: 'review check-cache', status: 'refused', error: {code: 'CACHE_ABSENT'}, locks: []});
	const broker = await brokerProcess(t, root);
	chmodSync(String(broker.ready['runtime']).replace(/\/w-1$/, ''), 0o755);
	const damaged = await runCli(['review', 'check-cache', '--root', root, '--target', 'acme/widget#7']);
	t.is(damaged.exitCode, 1);
	t.regex(damaged.stderr, /CACHE_PATH_UNTRUSTED: .*runtime has mode 0755/);
});
