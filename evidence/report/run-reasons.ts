import {countText} from './amounts.ts';
import {stopMessage} from './command-outcome.ts';
import type {Report} from './report-schema.ts';

/** Failing commands that are named one by one. */
const maxNamed = 10;

/** What the reasons are made from. */
export type ReasonFacts = Pick<Report, 'commands' | 'counts' | 'secret_scan' | 'source' | 'stop'> & {
	readonly result: 'passed' | 'failed';
	/** Problems that make the record unsound. */
	readonly contradictions: number;
};

/**
 * The verdict of a report and why, most telling first, and what no command carries (`run_fault`). Pure.
 *
 * A record that contradicts itself is `unsound` whatever it says of its result.
 */
export function runReasons(facts: ReasonFacts): Pick<Report, 'verdict' | 'reasons' | 'run_fault'> {
	const {contradictions} = facts;
	const failing = facts.commands.filter(({outcome}) => outcome === 'failed' || outcome === 'error');
	const reasons = [...soundReasons(contradictions), ...commandReasons(failing), ...runLevelReasons(facts)];
	if (contradictions > 0) {
		return {verdict: 'unsound', reasons, run_fault: reasons.join('; ')};
	}

	if (facts.result === 'passed') {
		const {executed} = facts.counts;
		return {
			verdict: 'passed',
			reasons: [`${executed === 1 ? 'the one command' : `all ${executed} commands`} of the plan passed, and the source stayed as it was`],
			run_fault: null,
		};
	}

	return {verdict: 'failed', reasons, run_fault: failing.length === 0 ? reasons.join('; ') : null};
}

function soundReasons(contradictions: number): string[] {
	return contradictions === 0
		? []
		: [`the record contradicts itself or its ledger (${countText(contradictions, 'problem')}, listed below): believe nothing of it`];
}

function commandReasons(failing: Report['commands']): string[] {
	const named = failing.slice(0, maxNamed).map(({id, message}) => `${id}: ${message ?? ''}`);
	return failing.length > maxNamed ? [...named, `${failing.length - maxNamed} more commands did not pass`] : named;
}

function runLevelReasons({stop, secret_scan: scan, source, counts}: ReasonFacts): string[] {
	const reasons: string[] = [];
	if (stop !== null && stop.reason !== 'command_failed' && stop.reason !== 'start_failed') {
		reasons.push(`${stop.command === null ? 'between commands' : `at ${stop.command.id}`}: ${stopMessage(stop)}`);
	}

	if (scan.redactions > 0) {
		reasons.push(`${countText(scan.redactions, 'secret')} in the outputs were replaced by [REDACTED]`);
	}

	if (source.head_after !== source.sha) {
		reasons.push(`HEAD of the checkout moved to ${source.head_after} while the run went on`);
	}

	if (source.tracked_changes_after > 0) {
		reasons.push(`${countText(source.tracked_changes_after, 'tracked path')} of the checkout differed from the commit afterwards`);
	}

	return [...reasons, ...leftOutReasons(stop, counts)];
}

function leftOutReasons(stop: Report['stop'], {not_executed: left}: Report['counts']): string[] {
	if (left === 0) {
		return [];
	}

	const end = stop?.reason === 'command_failed' && stop.command !== null ? `: the run ended with ${stop.command.id}` : '';
	return [`${countText(left, 'command')} of the plan ${left === 1 ? 'was' : 'were'} not executed${end}`];
}
