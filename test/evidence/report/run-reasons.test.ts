import test from 'ava';
import {type ReasonFacts, runReasons} from '../../../evidence/report/run-reasons.ts';
import {exampleReport} from '../../helpers/example-report.ts';

const counts = {planned: 2, executed: 2, passed: 2, failed: 0, not_executed: 0};

test('runReasons() says of a passed run what that means', t => {
	const facts: ReasonFacts = {...exampleReport(t).report, commands: [], stop: null, counts, result: 'passed', contradictions: 0};
	t.deepEqual(runReasons(facts), {verdict: 'passed', reasons: ['all 2 commands of the plan passed, and the source stayed as it was'], run_fault: null});
});

test('runReasons() of a contradiction is unsound, whatever the result', t => {
	for (const result of ['passed', 'failed'] as const) {
		const {verdict, reasons, run_fault: fault} = runReasons({...exampleReport(t).report, commands: [], counts, result, contradictions: 3});
		t.is(verdict, 'unsound');
		t.regex(reasons[0] ?? '', /contradicts itself or its ledger \(3 problems/);
		t.is(fault, reasons.join('; '));
	}
});

test('runReasons() names secrets, a moved HEAD, changed paths and commands that were not executed', t => {
	const {report} = exampleReport(t);
	const {reasons, run_fault: fault} = runReasons({
		...report,
		commands: [],
		counts: {...counts, not_executed: 1},
		result: 'failed',
		contradictions: 0,
		stop: {reason: 'source_drift', command: {index: 0, id: 'unit'}, errno: null, stage: null, signal: null, termination: null},
		secret_scan: {...report.secret_scan, redactions: 2},
		source: {...report.source, head_after: 'f'.repeat(40), tracked_changes_after: 3},
	});
	t.deepEqual(reasons, [
		'at unit: the checkout was no longer the commit that was to be checked: the run ended there',
		'2 secrets in the outputs were replaced by [REDACTED]',
		`HEAD of the checkout moved to ${'f'.repeat(40)} while the run went on`,
		'3 tracked paths of the checkout differed from the commit afterwards',
		'1 command of the plan was not executed',
	]);
	t.is(fault, reasons.join('; '));
});

test('runReasons() names ten failing commands and counts the rest', t => {
	const {report} = exampleReport(t);
	const [, failed] = report.commands;
	const commands = Array.from({length: 30}, () => failed).filter(command => command !== undefined);
	const {reasons} = runReasons({...report, commands, counts, result: 'failed', contradictions: 0});
	t.is(reasons.length, 11);
	t.is(reasons.at(-1), '20 more commands did not pass');
});
