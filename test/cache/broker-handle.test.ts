import {chmodSync, copyFileSync, existsSync, linkSync, lstatSync, mkdirSync, readFileSync, renameSync, symlinkSync, unlinkSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import test, {type ExecutionContext} from 'ava';
import {BrokerRuntime, connectTo, readHandle, runtimePlaces} from '../../cache/broker-handle.ts';
import {ensurePrivateDirectory, ensureRepositories} from '../../cache/trust.ts';
import type {ErrorCode} from '../../core/errors.ts';
import {type BrokerGround, brokerGround} from '../helpers/broker-ground.ts';
import {codeOf} from '../helpers/refusal.ts';

const identity = {target: {owner: 'acme', repository: 'widget', issue: 7}, role: 'impl-agent', runId: 'w-1'};

function ground(t: ExecutionContext): BrokerGround {
	const made = brokerGround(t);
	ensureRepositories(made.paths.repositories);
	ensurePrivateDirectory(made.paths.owner);
	ensurePrivateDirectory(made.paths.repository);
	return made;
}

function runtime(t: ExecutionContext, {paths}: BrokerGround, runId = 'w-1'): BrokerRuntime {
	const made = new BrokerRuntime(paths, {...identity, runId});
	t.teardown(() => {
		made.close();
	});
	return made;
}

test('a runtime holds socket and handle for its owner alone, and the token stands in the handle only', t => {
	const made = runtime(t, ground(t));
	const {directory, handle, socket} = made.places;
	t.is(lstatSync(directory).mode & 0o7777, 0o700);
	t.is(lstatSync(handle).mode & 0o7777, 0o600);
	t.is(lstatSync(socket).mode & 0o7777, 0o600);
	const read = readHandle(handle);
	t.like(read, {schema: 'bailiff.broker-handle/v1', owner: 'acme', repository: 'widget', issue: 7, role: 'impl-agent', run_id: 'w-1'});
	t.is(Buffer.from(read.token, 'base64url').length, 32);
	t.true(made.isToken(read.token));
	t.false(made.isToken(`${read.token}A`));
	t.false(made.isToken(''));
	t.false(JSON.stringify(made).includes(read.token));
});

test('an id is used once, also after its broker went away', t => {
	const place = ground(t);
	const made = runtime(t, place);
	made.removeFiles();
	made.close();
	t.false(existsSync(made.places.handle));
	t.is(
		codeOf(() => new BrokerRuntime(place.paths, identity)),
		'CACHE_RUNTIME_EXISTS',
	);
	t.is(
		codeOf(() => new BrokerRuntime(place.paths, {...identity, runId: '../w'})),
		'CORE_ID_RUN',
	);
});

test('files that are not the broker’s own any more are left', t => {
	const made = runtime(t, ground(t));
	const {handle, socket} = made.places;
	renameSync(handle, `${handle}.away`);
	writeFileSync(handle, 'foreign');
	made.removeFiles();
	t.is(readFileSync(handle, 'utf8'), 'foreign');
	t.false(existsSync(socket));
	t.true(existsSync(`${handle}.away`));
});

test('a socket where nobody listens is removed by the next broker of the issue, and nothing else (BR-6)', t => {
	const place = ground(t);
	const dead = runtime(t, place, 'dead');
	const alive = runtime(t, place, 'alive');
	t.true(existsSync(dead.places.socket), 'a listening one is left');
	dead.close();
	t.is(
		codeOf(() => connectTo(dead.places.handle)),
		'CACHE_BROKER_STALE',
	);
	runtime(t, place, 'next');
	t.false(existsSync(dead.places.socket));
	t.true(existsSync(dead.places.handle));
	t.true(existsSync(alive.places.socket));
	t.is(
		codeOf(() => connectTo(dead.places.handle)),
		'CACHE_LEASE_EXPIRED',
	);
});

const spoilt: ReadonlyArray<readonly [what: string, spoil: (handle: string) => string, code: ErrorCode]> = [
	['that others may read', handle => (chmodSync(handle, 0o644), handle), 'CACHE_PATH_UNTRUSTED'],
	['with a second name', handle => (linkSync(handle, `${handle}.link`), handle), 'CACHE_PATH_UNTRUSTED'],
	[
		'that is a link',
		handle => {
			renameSync(handle, `${handle}.real`);
			symlinkSync(`${handle}.real`, handle);
			return handle;
		},
		'CACHE_PATH_UNTRUSTED',
	],
	[
		'that was copied elsewhere',
		handle => {
			const copy = path.join(path.dirname(path.dirname(handle)), 'w-2');
			mkdirSync(copy, {mode: 0o700});
			copyFileSync(handle, path.join(copy, 'handle.json'));
			return path.join(copy, 'handle.json');
		},
		'CACHE_BROKER_DENIED',
	],
	['with another key', handle => edited(handle, text => text.replace('{', '{"more": 1,')), 'CACHE_BROKER_PROTOCOL'],
	['with a short token', handle => edited(handle, text => text.replace(/"token": "..../, '"token": "')), 'CACHE_BROKER_PROTOCOL'],
	['that was taken away', handle => (unlinkSync(handle), handle), 'CACHE_LEASE_EXPIRED'],
	['that never was', handle => path.join(path.dirname(handle), '../w-9/handle.json'), 'CACHE_PATH_MISSING'],
];

function edited(file: string, edit: (text: string) => string): string {
	writeFileSync(file, edit(readFileSync(file, 'utf8')));
	return file;
}

for (const [what, spoil, code] of spoilt) {
	test(`a handle ${what} is refused`, t => {
		const {handle} = runtime(t, ground(t)).places;
		const file = path.normalize(spoil(handle));
		t.is(
			codeOf(() => readHandle(file)),
			code,
		);
	});
}

test('a runtime that others may enter is not connected to', t => {
	const {directory, handle} = runtime(t, ground(t)).places;
	chmodSync(directory, 0o755);
	t.is(
		codeOf(() => connectTo(handle)),
		'CACHE_PATH_UNTRUSTED',
	);
});

test('a handle that is reached through a link is not connected to', t => {
	const place = ground(t);
	const {handle} = runtime(t, place).places;
	const link = `${place.root}-link`;
	symlinkSync(place.root, link);
	t.is(
		codeOf(() => connectTo(handle.replace(place.root, link))),
		'CACHE_PATH_UNTRUSTED',
	);
});

test('the places of a workflow follow from its id', t => {
	const {paths} = brokerGround(t);
	t.is(runtimePlaces(paths, 'w-1').handle, `${paths.root}/repositories/acme/widget/worktrees/issue-7/runtime/w-1/handle.json`);
	t.is(
		codeOf(() => runtimePlaces(paths, 'a/b')),
		'CORE_ID_RUN',
	);
});
