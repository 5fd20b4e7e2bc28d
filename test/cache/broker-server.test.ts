import {spawn} from 'node:child_process';
import {chmodSync, closeSync, constants, lstatSync, mkdirSync, openSync, readdirSync, readFileSync, statSync} from 'node:fs';
import path from 'node:path';
import {text} from 'node:stream/consumers';
import test, {type ExecutionContext} from 'ava';
import {BrokerLease} from '../../cache/broker-lease.ts';
import {probeFile} from '../../cache/broker-probe.ts';
import {BrokerServer} from '../../cache/broker-server.ts';
import {FileLock} from '../../cache/lock.ts';
import {LockSession} from '../../cache/lock-session.ts';
import {loadNative} from '../../native/index.ts';
import {type BrokerGround, brokerGround, RawClient, type ServedBroker, servedBroker} from '../helpers/broker-ground.ts';
import {eventually} from '../helpers/eventually.ts';

type Served = BrokerGround & ServedBroker & {readonly token: string};

async function served(t: ExecutionContext, options: {readonly ttlSeconds?: number; readonly below?: string} = {}): Promise<Served> {
	const ground = brokerGround(t, options.below);
	const broker = await servedBroker(t, ground, options);
	const {token} = JSON.parse(readFileSync(broker.ready.handle, 'utf8'));
	return {...ground, ...broker, token};
}

function request(ground: Pick<Served, 'token'>, id: number, rest: Readonly<Record<string, unknown>>): string {
	return `${JSON.stringify({v: 1, id, token: ground.token, ...rest})}\n`;
}

const granted = (id: number, issue: string, repository: string): Record<string, unknown> => ({v: 1, id, ok: true, lease: {issue, repository}});

test('one connection goes through a whole workflow, and after the release every lock is free (BR-3, BR-5)', async t => {
	const ground = await served(t);
	const client = new RawClient(t, ground.ready.socket);
	const steps: ReadonlyArray<readonly [rest: Readonly<Record<string, unknown>>, answer: Readonly<Record<string, unknown>>]> = [
		[{op: 'acquire', hold: false}, granted(1, 'held', 'free')],
		[{op: 'acquire', hold: false}, granted(2, 'held', 'free')],
		[{op: 'renew', ttl_seconds: 30}, granted(3, 'held', 'free')],
		[
			{op: 'probe', resource: 'repository'},
			{...granted(4, 'held', 'free'), free: true},
		],
		[
			{op: 'acquire_repository', wait_seconds: 0, pass_descriptor: false},
			{...granted(5, 'held', 'held'), free: null},
		],
		[
			{op: 'probe', resource: 'repository'},
			{...granted(6, 'held', 'held'), free: false},
		],
		[
			{op: 'probe', resource: 'issue'},
			{...granted(7, 'held', 'held'), free: false},
		],
		[
			{op: 'probe', resource: 'bootstrap'},
			{...granted(8, 'held', 'held'), free: true},
		],
		[
			{op: 'acquire_repository', wait_seconds: 0, pass_descriptor: false},
			{v: 1, id: 9, ok: false, error: {code: 'CACHE_LOCK_BUSY', details: {resource: 'repository'}}},
		],
		[{op: 'release_repository'}, granted(10, 'held', 'free')],
		[{op: 'release_repository'}, granted(11, 'held', 'free')],
		[{op: 'acquire_repository', wait_seconds: 1, pass_descriptor: false}, granted(12, 'held', 'held')],
	];
	for (const [index, [rest, answer]] of steps.entries()) {
		client.send(request(ground, index + 1, rest));
		t.like(await client.line(), answer, String(index + 1));
	}

	client.send(request(ground, 20, {op: 'release'}));
	t.deepEqual(await client.line(), {v: 1, id: 20, ok: true, lease: {issue: 'free', repository: 'free', expires_in_seconds: 0}, free: null});
	t.true(probeFile(ground.paths.issueLock).free);
	t.true(probeFile(ground.paths.repositoryLock).free);
	t.is(await client.line(), null);
	t.is(await ground.end, 'released');
	t.deepEqual(readdirSync(ground.ready.runtime), []);
	t.is(statSync(ground.paths.issueLock).size, 0);
});

const refusedLines: ReadonlyArray<readonly [what: string, line: (ground: Served) => string, code: string]> = [
	['a wrong token', () => request({token: 'A'.repeat(43)}, 1, {op: 'release'}), 'CACHE_BROKER_DENIED'],
	['a token of another length', () => request({token: 'A'}, 1, {op: 'release'}), 'CACHE_BROKER_DENIED'],
	['another key', ground => request(ground, 1, {op: 'release', force: true}), 'CACHE_BROKER_PROTOCOL'],
	['another operation', ground => request(ground, 1, {op: 'unlock'}), 'CACHE_BROKER_PROTOCOL'],
	['another form', () => 'release\n', 'CACHE_BROKER_PROTOCOL'],
	['two requests at once', ground => request(ground, 1, {op: 'acquire', hold: false}).repeat(2), 'CACHE_BROKER_PROTOCOL'],
	['a line without end', () => 'x'.repeat(65_537), 'CACHE_BROKER_PROTOCOL'],
];
for (const [what, line, code] of refusedLines) {
	test(`${what} is answered once and then the connection is closed; the lease goes on`, async t => {
		const ground = await served(t);
		const client = new RawClient(t, ground.ready.socket);
		client.send(line(ground));
		t.like(await client.line(), {v: 1, id: null, ok: false, error: {code}});
		t.is(await client.line(), null);
		const other = new RawClient(t, ground.ready.socket);
		other.send(request(ground, 1, {op: 'acquire', hold: false}));
		t.like(await other.line(), granted(1, 'held', 'free'));
	});
}

test('a descriptor that comes with a request is closed and refused', async t => {
	const ground = await served(t);
	const client = new RawClient(t, ground.ready.socket);
	const descriptor = openSync('/dev/null', 'r');
	client.send(request(ground, 1, {op: 'acquire', hold: false}), descriptor);
	closeSync(descriptor);
	t.like(await client.line(), {ok: false, error: {code: 'CACHE_BROKER_PROTOCOL'}});
});

test('a request that comes while another waits ends the connection, and what it waited for is not taken', async t => {
	const ground = await served(t);
	const other = await FileLock.acquire(ground.paths.repositoryLock);
	const client = new RawClient(t, ground.ready.socket);
	client.send(request(ground, 1, {op: 'acquire_repository', wait_seconds: 60, pass_descriptor: false}));
	client.send(request(ground, 2, {op: 'acquire', hold: false}));
	t.like(await client.line(), {ok: false, error: {code: 'CACHE_BROKER_PROTOCOL'}});
	t.is(await client.line(), null);
	other.close();
	const next = new RawClient(t, ground.ready.socket);
	next.send(request(ground, 1, {op: 'acquire_repository', wait_seconds: 5, pass_descriptor: false}));
	t.like(await next.line(), granted(1, 'held', 'held'));
});

test('a holder whose connection closes ends the lease, the nested lock first; without hold it goes on (BR-4)', async t => {
	const ground = await served(t);
	const passing = new RawClient(t, ground.ready.socket);
	passing.send(request(ground, 1, {op: 'acquire', hold: false}));
	await passing.line();
	passing.hangUp();
	const holder = new RawClient(t, ground.ready.socket);
	holder.send(request(ground, 1, {op: 'acquire', hold: true}));
	t.like(await holder.line(), granted(1, 'held', 'free'));
	holder.send(request(ground, 2, {op: 'acquire_repository', wait_seconds: 0, pass_descriptor: false}));
	await holder.line();
	holder.hangUp();
	t.is(await ground.end, 'holder-lost');
	t.true(probeFile(ground.paths.issueLock).free);
	t.true(probeFile(ground.paths.repositoryLock).free);
	t.deepEqual(readdirSync(ground.ready.runtime), []);
});

test('a lent repository lock lives on in the descriptor alone when its client goes away', async t => {
	const ground = await served(t);
	const client = new RawClient(t, ground.ready.socket);
	client.send(request(ground, 1, {op: 'acquire_repository', wait_seconds: 0, pass_descriptor: true}));
	await loadNative().waitReadable([client.fd], 10_000);
	const received = loadNative().receiveBytes(client.fd);
	t.like(JSON.parse(received?.bytes.toString() ?? ''), granted(1, 'held', 'held'));
	const descriptor = received?.descriptor ?? -1;
	t.is(lstatSync(ground.paths.repositoryLock).ino, statSync(`/proc/self/fd/${descriptor}`).ino);
	client.hangUp();
	const other = new RawClient(t, ground.ready.socket);
	const standing = async (id: number): Promise<unknown> => {
		other.send(request(ground, id, {op: 'acquire', hold: false}));
		return (await other.line())?.['lease'];
	};
	for (let id = 10; !/"repository":"free"/.test(JSON.stringify(await standing(id))); id++) {
		t.true(id < 1000, 'the broker never gave its copy back');
	}

	t.false(probeFile(ground.paths.repositoryLock).free, 'the receiver still has it');
	closeSync(descriptor);
	await eventually('the lock is free', () => probeFile(ground.paths.repositoryLock).free);
	other.send(request(ground, 2, {op: 'acquire_repository', wait_seconds: 5, pass_descriptor: false}));
	t.like(await other.line(), granted(2, 'held', 'held'));
});

test('a lease that nobody renews ends at its time, also under a waiting request (BR-4)', async t => {
	const ground = await served(t, {ttlSeconds: 5});
	const other = await FileLock.acquire(ground.paths.repositoryLock);
	t.teardown(() => {
		other.close();
	});
	const client = new RawClient(t, ground.ready.socket);
	client.send(request(ground, 1, {op: 'acquire_repository', wait_seconds: 60, pass_descriptor: false}));
	t.like(await client.line(), {v: 1, id: 1, ok: false, error: {code: 'CACHE_LEASE_EXPIRED'}});
	t.is(await client.line(), null);
	t.is(await ground.end, 'expired');
	t.true(probeFile(ground.paths.issueLock).free);
	t.deepEqual(readdirSync(ground.ready.runtime), []);
});

for (const reason of ['signal', 'lifeline'] as const) {
	test(`the ${reason} ends the lease and takes its files away`, async t => {
		const ground = await served(t);
		const client = new RawClient(t, ground.ready.socket);
		client.send(request(ground, 1, {op: 'acquire_repository', wait_seconds: 0, pass_descriptor: false}));
		await client.line();
		ground[reason].abort();
		t.is(await ground.end, reason);
		t.is(await client.line(), null);
		t.true(probeFile(ground.paths.issueLock).free);
		t.true(probeFile(ground.paths.repositoryLock).free);
		t.deepEqual(readdirSync(ground.ready.runtime), []);
	});
}

test('eight clients at once: each gets the repository lock once, never two of them together, and all get an answer', async t => {
	const ground = await served(t);
	let holders = 0;
	let most = 0;
	const work = async (id: number): Promise<void> => {
		const client = new RawClient(t, ground.ready.socket);
		client.send(request(ground, id, {op: 'acquire_repository', wait_seconds: 30, pass_descriptor: false}));
		t.like(await client.line(), granted(id, 'held', 'held'));
		most = Math.max(most, ++holders);
		await new Promise(resolve => {
			setImmediate(resolve);
		});
		holders--;
		client.send(request(ground, id, {op: 'release_repository'}));
		t.like(await client.line(), {id, ok: true});
	};
	await Promise.all(Array.from({length: 8}, async (_, index) => work(index + 1)));
	t.is(most, 1);
});

test('the runtime may lie at a path of any length (BR-2)', async t => {
	const ground = await served(t, {below: 'r'.repeat(200)});
	t.true(ground.ready.socket.length > 250);
	t.true(lstatSync(ground.ready.socket).isSocket());
	const client = new RawClient(t, ground.ready.socket);
	client.send(request(ground, 1, {op: 'acquire', hold: false}));
	t.like(await client.line(), granted(1, 'held', 'free'));
});

test('many open connections do not keep a new one out for ever', async t => {
	const ground = await served(t);
	const crowd = Array.from({length: 60}, () => new RawClient(t, ground.ready.socket));
	for (const [index, client] of crowd.entries()) {
		client.send(request(ground, index, {op: 'acquire', hold: false}));
		t.like(await client.line(), granted(index, 'held', 'free'));
	}
});

const other = process.geteuid?.() === 0 ? ['setpriv', '--reuid=65534', '--clear-groups'] : null;

test('a process of another user is refused before it can say anything, whatever the modes are (BR-2)', async t => {
	if (other === null) {
		t.pass('only root can become another user here');
		return;
	}

	const ground = brokerGround(t);
	const directory = path.dirname(ground.root);
	chmodSync(directory, 0o755);
	const directoryFd = openSync(directory, constants.O_RDONLY | constants.O_DIRECTORY);
	const listener = loadNative().listenUnix(directoryFd, 's');
	closeSync(directoryFd);
	chmodSync(path.join(directory, 's'), 0o666);
	const locks = new LockSession(ground.paths);
	mkdirSync(ground.paths.locks, {recursive: true});
	const lease = new BrokerLease({locks, issue: await locks.issue(ground.paths.issueLock), ttlSeconds: 60});
	const server = new BrokerServer({
		listener,
		lease,
		isToken: () => true,
		probe: () => true,
		finish: () => lease.end(),
		repositoryLock: ground.paths.repositoryLock,
	});
	const end = server.run();
	const say = `const s = require('node:net').connect(${JSON.stringify(path.join(directory, 's'))}); s.pipe(process.stdout); s.on('error', () => {});
		s.write('{"v":1,"id":1,"token":"t","op":"release"}\\n')`;
	const [command = '', ...args] = other;
	const child = spawn(command, [...args, process.execPath, '-e', say], {cwd: '/', stdio: ['ignore', 'pipe', 'inherit']});
	const answer = JSON.parse(await text(child.stdout));
	t.like(answer, {v: 1, id: null, ok: false, error: {code: 'CACHE_BROKER_DENIED'}});
	t.regex(answer.error.message, /uid 65534/);
	t.is(lease.standing().issue, 'held');
	server.end('lifeline');
	t.is(await end, 'lifeline');
	closeSync(listener);
});
