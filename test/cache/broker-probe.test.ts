import {chmodSync, existsSync, mkdirSync, symlinkSync, writeFileSync} from 'node:fs';
import test from 'ava';
import {probeLock} from '../../cache/broker-probe.ts';
import {FileLock} from '../../cache/lock.ts';
import {ensurePrivateDirectory, ensureRepositories} from '../../cache/trust.ts';
import {type BrokerGround, brokerGround} from '../helpers/broker-ground.ts';
import {codeOf} from '../helpers/refusal.ts';

const name = {owner: 'acme', repository: 'widget'};

function laidOut({paths}: BrokerGround): void {
	ensureRepositories(paths.repositories);
	for (const place of [paths.bootstrapLocks, paths.ownerBootstrapLocks, paths.owner, paths.repository, paths.locks]) {
		ensurePrivateDirectory(place);
	}
}

for (const [resource, lockOf] of [
	['issue', ({paths}: BrokerGround) => paths.issueLock],
	['repository', ({paths}: BrokerGround) => paths.repositoryLock],
	['bootstrap', ({paths}: BrokerGround) => paths.bootstrapLock],
] as const) {
	test(`probing the ${resource} lock: absent is free and stays absent, held is not free, given back is free`, async t => {
		const ground = brokerGround(t);
		const {contractPath} = ground;
		const probe = (): unknown => probeLock({contractPath, name, resource, issue: 7});
		t.deepEqual(probe(), {resource, exists: false, free: true});
		t.false(existsSync(ground.paths.repositories), 'nothing is made');
		laidOut(ground);
		t.deepEqual(probe(), {resource, exists: false, free: true});
		t.false(existsSync(lockOf(ground)));
		const lock = await FileLock.acquire(lockOf(ground));
		t.deepEqual(probe(), {resource, exists: true, free: false});
		lock.close();
		t.deepEqual(probe(), {resource, exists: true, free: true});
	});
}

test('a lock file that is a link, or that others may write, is not asked', t => {
	const ground = brokerGround(t);
	laidOut(ground);
	const probe = (): unknown => probeLock({contractPath: ground.contractPath, name, resource: 'repository', issue: null});
	symlinkSync('/dev/null', ground.paths.repositoryLock);
	t.is(codeOf(probe), 'CACHE_PATH_UNTRUSTED');
	writeFileSync(ground.paths.issueLock, '', {mode: 0o666});
	chmodSync(ground.paths.issueLock, 0o666);
	t.is(
		codeOf(() => probeLock({contractPath: ground.contractPath, name, resource: 'issue', issue: 7})),
		'CACHE_PATH_UNTRUSTED',
	);
});

test('the issue lock is asked of an issue', t => {
	const ground = brokerGround(t);
	mkdirSync(ground.paths.repositories, {mode: 0o700});
	t.is(
		codeOf(() => probeLock({contractPath: ground.contractPath, name, resource: 'issue', issue: null})),
		'CORE_ID_ISSUE',
	);
});
