import test from 'ava';
import {Progress} from '../../cli/progress.ts';
import type {RunEvent} from '../../runner/run-events.ts';

const events: readonly RunEvent[] = [
	{type: 'run-started', runId: 'r1', commands: 2},
	{type: 'command-started', index: 0, id: 'unit', timeoutSeconds: 60, atMs: 0},
	{type: 'command-ended', index: 0, id: 'unit', status: 'completed', isPassed: true, durationMs: 1234},
	{type: 'command-started', index: 1, id: 'lint', timeoutSeconds: 0.5, atMs: 1234},
	{type: 'command-ended', index: 1, id: 'lint', status: 'timeout', isPassed: false, durationMs: 512},
	{type: 'published', runId: 'r1', result: 'failed'},
];

function view(options: {isTerminal: boolean; hasColour?: boolean; columns?: number}) {
	let text = '';
	let nowMs = 0;
	const sink = {
		write: (part: string) => {
			text += part;
		},
		isTerminal: options.isTerminal,
		hasColour: options.hasColour ?? false,
		columns: () => options.columns ?? 80,
	};
	const progress = new Progress(sink, {wallMs: () => 0, monotonicNs: () => BigInt(nowMs) * 1_000_000n});
	return {
		progress,
		text: () => text,
		advance: (ms: number) => {
			nowMs += ms;
			progress.tick();
		},
	};
}

test('where nobody can redraw there is one plain line for each change and no control character', t => {
	const {progress, text, advance} = view({isTerminal: false});
	for (const event of events) {
		progress.onEvent(event);
		advance(100);
	}

	t.is(
		text(),
		[
			'run r1: 2 commands',
			'[1/2] unit: started, deadline 60 s',
			'[1/2] unit: passed, 1.23 s',
			'[2/2] lint: started, deadline 0.5 s',
			'[2/2] lint: failed (timeout), 0.51 s',
			'run r1: evidence published, failed',
			'',
		].join('\n'),
	);
});

test('on a terminal the line of the running command is redrawn in place, elapsed against deadline', t => {
	const {progress, text, advance} = view({isTerminal: true});
	for (const event of events.slice(0, 2)) {
		progress.onEvent(event);
	}

	advance(2500);
	const end = events[2];
	if (end !== undefined) {
		progress.onEvent(end);
	}

	advance(1000);
	t.is(text(), 'run r1: 2 commands\n\r\u001b[2K[1/2] unit  0.00 s of 60 s\r\u001b[2K[1/2] unit  2.50 s of 60 s\r\u001b[2K[1/2] unit: passed, 1.23 s\n');
});

test('a live line never wraps', t => {
	const {progress, text} = view({isTerminal: true, columns: 20});
	progress.onEvent({type: 'run-started', runId: 'r', commands: 1});
	progress.onEvent({type: 'command-started', index: 0, id: 'a'.repeat(128), timeoutSeconds: 1, atMs: 0});
	t.is(text().split('\u001b[2K')[1]?.length, 19);
});

test('colour is there only when it was asked for', t => {
	const {progress, text} = view({isTerminal: false, hasColour: true});
	for (const event of events) {
		progress.onEvent(event);
	}

	t.regex(text(), /\u001b\[32mpassed\u001b\[39m/);
	t.regex(text(), /\u001b\[31mfailed\u001b\[39m/);
});

test('what an event quotes cannot steer the terminal', t => {
	const {progress, text} = view({isTerminal: false});
	progress.onEvent({type: 'warning', message: 'a\u001b[2Jb\nc'});
	progress.onEvent({type: 'command-not-executed', index: 0, id: 'x', reason: 'no\u001b]0;title\u0007'});
	t.is(text(), 'warning: a\\x1b[2Jb\\nc\n[1/0] x: not executed, no\\x1b]0;title\\x07\n');
});
