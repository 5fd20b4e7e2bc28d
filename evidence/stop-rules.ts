import type {CommandRecord, Manifest, Stop} from './manifest-schema.ts';
import type {Problem, ProblemCode} from './problems.ts';

/** What the plan says about stopping: its command ids in order, and whether the first failure ends it. */
export type StopPlan = {readonly fail_fast: boolean; readonly commands: ReadonlyArray<{readonly id: string}>};

type Stopped = Pick<Manifest, 'commands' | 'stop' | 'result' | 'secret_scan' | 'source'>;
type Facts = {
	readonly plan: StopPlan;
	readonly manifest: Stopped;
	readonly last: CommandRecord | null;
	readonly remaining: number;
	readonly hasSecret: boolean;
	readonly hasDrift: boolean;
};
type Fault = {readonly code: ProblemCode; readonly pointer: string; readonly message: string};

/** Which members a reason fills: always, never, or maybe. */
type Members = {readonly [Member in 'command' | 'errno' | 'stage' | 'signal' | 'termination']: 'set' | 'null' | 'any'};
const members: Readonly<Record<Stop['reason'], Members>> = {
	interrupted: {command: 'any', errno: 'null', stage: 'null', signal: 'set', termination: 'any'},
	secret_detected: {command: 'set', errno: 'null', stage: 'null', signal: 'null', termination: 'null'},
	source_drift: {command: 'set', errno: 'null', stage: 'null', signal: 'null', termination: 'null'},
	internal_error: {command: 'any', errno: 'null', stage: 'null', signal: 'null', termination: 'any'},
	start_failed: {command: 'set', errno: 'set', stage: 'set', signal: 'null', termination: 'null'},
	command_failed: {command: 'set', errno: 'null', stage: 'null', signal: 'null', termination: 'null'},
};
const memberNames = ['command', 'errno', 'stage', 'signal', 'termination'] as const;

/** The reasons in the order in which the first that holds is written (shapes.ts: Stop). */
const precedence = ['interrupted', 'secret_detected', 'source_drift', 'internal_error', 'start_failed', 'command_failed'] as const;

/**
 * Everything in which prefix, redactions, stop and result of a run do not follow from its commands, its source and its plan.
 *
 * Pure. Source: E-V3-3, E-V3-5, R-STATUS-4, shapes.ts (Stop, Manifest.result).
 */
export function stopProblems(manifest: Stopped, plan: StopPlan): Problem[] {
	const facts = factsOf(manifest, plan);
	const faults = [...prefixFaults(facts), ...redactionFaults(manifest), ...stopFaults(facts), ...resultFaults(facts)];
	return faults.map(fault => ({...fault, path: 'manifest.json'}));
}

/**
 * True when a plan goes on after this command: it passed, or the plan says `fail_fast: false` and only the exit code was another.
 * Never after a redaction. Source: R-STATUS-4, shapes.ts (truth table, last line).
 */
export function mayContinueAfter(command: CommandRecord, isFailFast: boolean): boolean {
	if (redactionsOf(command) > 0) {
		return false;
	}

	return command.passed || (!isFailFast && command.execution_status === 'completed' && command.exit_code !== null);
}

function factsOf(manifest: Stopped, plan: StopPlan): Facts {
	const {source, commands} = manifest;
	return {
		plan,
		manifest,
		last: commands.at(-1) ?? null,
		remaining: plan.commands.length - commands.length,
		hasSecret: commands.some(command => redactionsOf(command) > 0),
		hasDrift: source.head_after !== source.sha || source.tracked_changes_after !== 0,
	};
}

function prefixFaults({manifest, plan, remaining}: Facts): Fault[] {
	const faults: Fault[] = [];
	if (remaining < 0) {
		faults.push({
			code: 'EVIDENCE_PREFIX',
			pointer: '/commands',
			message: `${manifest.commands.length} commands were executed, the plan has ${plan.commands.length}`,
		});
	}

	for (const [index, command] of manifest.commands.entries()) {
		if (command.index !== index) {
			faults.push({code: 'EVIDENCE_PREFIX', pointer: `/commands/${index}/index`, message: `the executed prefix has no gap: ${index} was expected`});
		}

		const planned = plan.commands[index];
		if (planned !== undefined && planned.id !== command.id) {
			faults.push({code: 'EVIDENCE_PREFIX', pointer: `/commands/${index}/id`, message: 'this is not the command of the plan at this place'});
		}

		if (index < manifest.commands.length - 1 && !mayContinueAfter(command, plan.fail_fast)) {
			faults.push({code: 'EVIDENCE_PREFIX', pointer: `/commands/${index + 1}`, message: 'no command runs after a failure or a redaction'});
		}
	}

	return faults;
}

function redactionFaults(manifest: Stopped): Fault[] {
	const total = manifest.commands.reduce((count, command) => count + redactionsOf(command), 0);
	return total === manifest.secret_scan.redactions
		? []
		: [
				{
					code: 'EVIDENCE_REDACTION',
					pointer: '/secret_scan/redactions',
					message: `the outputs list ${total} redactions, not ${manifest.secret_scan.redactions}`,
				},
			];
}

function stopFaults(facts: Facts): Fault[] {
	const {stop} = facts.manifest;
	if (stop === null) {
		const missing = reasonThatHolds(facts);
		return missing === null ? [] : [stopFault('', `a run that ends like this has a stop (${missing})`)];
	}

	const faults = memberFaults(stop);
	const earlier = precedence.slice(0, precedence.indexOf(stop.reason)).find(reason => holdsByFacts(reason, facts));
	if (earlier !== undefined) {
		faults.push(stopFault('/reason', `${earlier} holds and goes before ${stop.reason}`));
	}

	if (namesLast(stop.reason) && !holdsByFacts(stop.reason, facts)) {
		faults.push(stopFault('/reason', `${stop.reason} does not follow from the commands and the source`));
	}

	return [...faults, ...namedCommandFaults(stop, facts)];
}

/** Interrupted, internal_error and start_failed leave no trace outside the stop itself. */
function holdsByFacts(reason: Stop['reason'], {last, plan, remaining, hasSecret, hasDrift}: Facts): boolean {
	switch (reason) {
		case 'secret_detected':
			return hasSecret;
		case 'source_drift':
			return hasDrift;
		case 'command_failed':
			return last !== null && !last.passed && remaining > 0 && !mayContinueAfter(last, plan.fail_fast);
		case 'interrupted':
		case 'internal_error':
		case 'start_failed':
			return false;
		default:
			return reason satisfies never;
	}
}

function reasonThatHolds(facts: Facts): string | null {
	const found = precedence.find(reason => holdsByFacts(reason, facts));
	if (found !== undefined) {
		return found;
	}

	return facts.remaining > 0 ? 'commands of the plan remain' : null;
}

function memberFaults(stop: Stop): Fault[] {
	const faults: Fault[] = [];
	for (const name of memberNames) {
		const rule = members[stop.reason][name];
		if (rule !== 'any' && (stop[name] === null) !== (rule === 'null')) {
			faults.push(stopFault(`/${name}`, rule === 'null' ? `${stop.reason} leaves this null` : `${stop.reason} names this`));
		}
	}

	return faults;
}

/** A named command is the last of the prefix, or the first that is not in it, as the reason says. */
function namedCommandFaults(stop: Stop, {manifest, plan, last}: Facts): Fault[] {
	if (stop.command === null) {
		return stop.termination === null ? [] : [stopFault('/termination', 'a termination belongs to a named command')];
	}

	const isLast = namesLast(stop.reason);
	const index = isLast ? manifest.commands.length - 1 : manifest.commands.length;
	const faults: Fault[] = [];
	if (!isCommandAt(plan, index, stop.command)) {
		faults.push(stopFault('/command', `${stop.reason} names ${isLast ? 'the last command of the prefix' : 'the first command after the prefix'}`));
	}

	if (!isLast && last !== null && !mayContinueAfter(last, plan.fail_fast)) {
		faults.push(stopFault('/command', 'no command is started after a failure or a redaction'));
	}

	return stop.reason === 'interrupted' && stop.termination === null
		? [...faults, stopFault('/termination', 'an interrupted command has its termination recorded')]
		: faults;
}

function resultFaults({manifest, remaining, hasSecret, hasDrift}: Facts): Fault[] {
	const isPass =
		manifest.stop === null &&
		remaining === 0 &&
		manifest.commands.length > 0 &&
		manifest.commands.every(command => command.passed) &&
		!hasSecret &&
		manifest.secret_scan.redactions === 0 &&
		!hasDrift;
	const result = isPass ? 'passed' : 'failed';
	return manifest.result === result ? [] : [{code: 'EVIDENCE_RESULT', pointer: '/result', message: `commands, stop and source make this ${result}`}];
}

function isCommandAt(plan: StopPlan, index: number, named: {readonly index: number; readonly id: string}): boolean {
	return named.index === index && plan.commands[index]?.id === named.id;
}

/** The other reasons name a command that is not in the prefix, or none. */
function namesLast(reason: Stop['reason']): boolean {
	return reason === 'secret_detected' || reason === 'source_drift' || reason === 'command_failed';
}

function redactionsOf(command: CommandRecord): number {
	return [command.output, ...command.extra_outputs].reduce((count, output) => count + output.redactions.length, 0);
}

function stopFault(pointer: string, message: string): Fault {
	return {code: 'EVIDENCE_STOP', pointer: `/stop${pointer}`, message};
}
