import test from 'ava';
import {leadSignals} from '../../cli/run-signals.ts';

function lead() {
	const interrupts: string[] = [];
	const said: string[] = [];
	const control = {
		interrupt: (signal: string) => {
			interrupts.push(signal);
		},
		signal: () => null,
		attach: () => {},
	};
	return {
		interrupts,
		said,
		signals: leadSignals(control, line => {
			said.push(line);
		}),
	};
}

test.serial('each signal goes to the run, a wait for the lock ends by the first, and a person is told once', t => {
	const {interrupts, said, signals} = lead();
	t.false(signals.abort.aborted);
	process.emit('SIGTERM', 'SIGTERM');
	process.emit('SIGINT', 'SIGINT');
	process.emit('SIGHUP', 'SIGHUP');
	signals.release();
	t.deepEqual(interrupts, ['SIGTERM', 'SIGINT', 'SIGHUP']);
	t.is(said.length, 1);
	t.like(signals.abort.reason, {code: 'CLI_INTERRUPTED', details: {signal: 'SIGTERM'}});
});

test.serial('SIGTSTP stops nothing and is explained once', t => {
	const {interrupts, said, signals} = lead();
	process.emit('SIGTSTP', 'SIGTSTP');
	process.emit('SIGTSTP', 'SIGTSTP');
	signals.release();
	t.deepEqual(interrupts, []);
	t.is(said.length, 1);
	t.regex(said[0] ?? '', /SIGTSTP is ignored/);
});

test.serial('after release every signal has its default again', t => {
	const before = listenerCounts();
	const {signals} = lead();
	t.deepEqual(
		listenerCounts(),
		before.map(count => count + 1),
	);
	signals.release();
	t.deepEqual(listenerCounts(), before);
});

function listenerCounts(): number[] {
	return ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGTSTP', 'SIGUSR1'].map(signal => process.listenerCount(signal));
}
