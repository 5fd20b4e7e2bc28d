import test from 'ava';
import {OutputCollector} from '../../runner/output-collector.ts';
import type {EndFacts} from '../../runner/protocol.ts';
import {judgeEnd, judgeOrphaned} from '../../runner/verdict.ts';

const clean: EndFacts = {
	trigger: null,
	isReaped: true,
	wasTermSent: false,
	wasKillSent: false,
	isCleaned: true,
	isAtEnd: {out: true, err: true},
	waitStatus: 0,
	escaped: 0,
	reapedCount: 1,
	leftAlive: 0,
	leftovers: 0,
	leftPid: 0,
	seenBytes: {out: 0, err: 0},
	keptBytes: {out: 0, err: 0},
	startNs: 1n,
	endNs: 2n,
	triggerNs: null,
	termNs: null,
	killNs: null,
	userUs: 3,
	systemUs: 4,
	maxRssBytes: 5,
};
const rest = {output: new OutputCollector(10), samples: {lines: [], peakRssBytes: null}, isSplit: false, interruptedBy: null, sandbox: null};
const agreed = {isAgreed: true, wasKillSent: false};

type Row = readonly [title: string, facts: Partial<EndFacts>, wanted: Record<string, unknown>, agreement?: {isAgreed: boolean; wasKillSent: boolean}];
const ended = {wasTermSent: true};
const rows: readonly Row[] = [
	['no trigger and a proof is completed', {}, {kind: 'ended', status: 'completed', trigger: null}],
	['a timeout keeps its word', {...ended, trigger: 'timeout'}, {kind: 'ended', status: 'timeout', trigger: 'timeout'}],
	['too much output keeps its word', {...ended, trigger: 'output_limit'}, {kind: 'ended', status: 'output_limit', trigger: 'output_limit'}],
	['a descendant that had to be ended', {...ended, trigger: 'descendant'}, {kind: 'ended', status: 'descendant_cleanup', trigger: 'descendant'}],
	['no proof wins over the timeout', {...ended, trigger: 'timeout', isCleaned: false}, {kind: 'ended', status: 'cleanup_failed', trigger: 'timeout'}],
	['no proof without a trigger is internal', {isCleaned: false}, {kind: 'ended', status: 'cleanup_failed', trigger: 'internal'}],
	[
		'a child that was not reaped has neither status nor resources',
		{...ended, trigger: 'timeout', isCleaned: false, isReaped: false},
		{kind: 'ended', status: 'cleanup_failed', waitStatus: null, resources: null},
	],
	[
		'a witness who disagrees makes it cleanup_failed',
		{},
		{
			kind: 'ended',
			status: 'cleanup_failed',
			trigger: 'internal',
			termination: {term_sent: false, kill_sent: true, direct_child_reaped: true, group_cleanup_completed: false},
		},
		{isAgreed: false, wasKillSent: true},
	],
	['an error of the supervisor fits no status', {...ended, trigger: 'internal'}, {kind: 'internal'}],
	['a trigger without a TERM fits no status', {trigger: 'timeout'}, {kind: 'internal'}],
	['a TERM without a trigger fits no status', {wasTermSent: true}, {kind: 'internal'}],
	['an interrupt fits no status', {...ended, trigger: 'interrupted'}, {kind: 'interrupted', signal: 'SIGTERM'}],
	[
		'an interrupt whose cleanup failed says so',
		{...ended, trigger: 'interrupted', isCleaned: false},
		{kind: 'interrupted', termination: {term_sent: true, kill_sent: false, direct_child_reaped: true, group_cleanup_completed: false}},
	],
];

for (const [title, facts, wanted, agreement] of rows) {
	test(`judgeEnd(): ${title}`, t => {
		t.like(judgeEnd({...rest, facts: {...clean, ...facts}, agreement: agreement ?? agreed}), wanted);
	});
}

test('judgeEnd() names the signal that interrupted', t => {
	const facts: EndFacts = {...clean, trigger: 'interrupted', wasTermSent: true};
	t.like(judgeEnd({...rest, facts, agreement: agreed, interruptedBy: 'SIGHUP'}), {kind: 'interrupted', signal: 'SIGHUP'});
});

test('judgeOrphaned() is cleanup_failed even if nobody is left', t => {
	const common = {...rest, startedNs: 1n, endedNs: 2n};
	const reaped = judgeOrphaned({
		...common,
		ending: {wasKillSent: true, leader: {waitStatus: 9, userMicros: 1.6, systemMicros: 2.4, maxRssBytes: 3}, found: 1, isEmpty: true},
	});
	t.like(reaped, {
		status: 'cleanup_failed',
		trigger: 'internal',
		waitStatus: 9,
		termination: {term_sent: false, kill_sent: true, direct_child_reaped: true, group_cleanup_completed: false},
		resources: {user_us: 2, system_us: 2, max_rss_bytes: 3, peak_group_rss_bytes: null, samples: 0},
	});
	const lost = judgeOrphaned({...common, ending: {wasKillSent: false, leader: null, found: 0, isEmpty: true}});
	t.like(lost, {status: 'cleanup_failed', waitStatus: null, resources: null, termination: {direct_child_reaped: false, group_cleanup_completed: false}});
});
