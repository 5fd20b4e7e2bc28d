import {readFileSync, writeFileSync} from 'node:fs';
import test from 'ava';
import {BrokerClient} from '../../cache/broker-client.ts';
import {probeFile} from '../../cache/broker-probe.ts';
import {brokerGround, brokerProcess, servedBroker} from '../helpers/broker-ground.ts';
import {refusalLater} from '../helpers/refusal.ts';

test('requests of one client are answered in the order of the calls', async t => {
	const {ready} = await servedBroker(t, brokerGround(t));
	const client = await BrokerClient.connect(ready.handle);
	t.teardown(() => {
		client.close();
	});
	const answers = await Promise.all([
		client.ask({op: 'acquire_repository', wait_seconds: 0, pass_descriptor: false}),
		client.ask({op: 'probe', resource: 'repository'}),
		client.ask({op: 'release_repository'}),
		client.ask({op: 'probe', resource: 'repository'}),
	]);
	t.deepEqual(
		answers.map(({answer}) => [answer.id, answer.lease.repository, answer.free]),
		[
			[1, 'held', null],
			[2, 'held', false],
			[3, 'free', null],
			[4, 'free', true],
		],
	);
	t.true(client.isConnected());
	client.close();
	t.false(client.isConnected());
	t.is((await refusalLater(() => client.ask({op: 'release'})))?.code, 'CACHE_LEASE_EXPIRED');
});

test('a client that is told a wrong token learns so and nothing is changed', async t => {
	const ground = brokerGround(t);
	const {ready} = await servedBroker(t, ground);
	const document = JSON.parse(readFileSync(ready.handle, 'utf8'));
	writeFileSync(ready.handle, JSON.stringify({...document, token: 'A'.repeat(43)}));
	const client = await BrokerClient.connect(ready.handle);
	t.teardown(() => {
		client.close();
	});
	t.is((await refusalLater(() => client.ask({op: 'release'})))?.code, 'CACHE_BROKER_DENIED');
	t.is((await refusalLater(() => client.ask({op: 'release'})))?.code, 'CACHE_LEASE_EXPIRED');
	t.false(probeFile(ground.paths.issueLock).free);
});

test('a broker that does not answer in time is given up, and its late answer is nobody’s', async t => {
	const {root} = brokerGround(t);
	const broker = await brokerProcess(t, root);
	const client = await BrokerClient.connect(broker.handle);
	t.teardown(() => {
		client.close();
	});
	broker.child.kill('SIGSTOP');
	t.is((await refusalLater(() => client.ask({op: 'acquire', hold: false}, {timeoutMs: 50})))?.code, 'CACHE_BROKER_STALE');
	broker.child.kill('SIGCONT');
	t.false(client.isConnected());
	t.is((await refusalLater(() => client.ask({op: 'acquire', hold: false})))?.code, 'CACHE_LEASE_EXPIRED');
});
