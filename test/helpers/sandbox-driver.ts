import process from 'node:process';
import {text} from 'node:stream/consumers';
import {BailiffError} from '../../core/errors.ts';
import {type Plan, type ResolvedCommand, resolvePlan} from '../../evidence/index.ts';
import {supervisorPath} from '../../native/index.ts';
import type {CommandRequest, Supervisor} from '../../runner/outcome.ts';
import type {SandboxFacts} from '../../runner/sandbox/profile.ts';
import {type Containment, openRunSandbox, type RunSandbox} from '../../runner/sandbox/sandbox.ts';
import {startSupervisor} from '../../runner/supervisor.ts';
import {summary, which} from './supervised.ts';

// Runs the commands of a plan one after the other, each in its sandbox, and writes what came of them as one JSON line each. Started as root or as an ordinary user.
type Order = {
	readonly facts: SandboxFacts;
	readonly commands: Plan['commands'];
	readonly sandbox?: Plan['sandbox'];
	readonly limits?: Plan['limits'];
	readonly tool?: string;
	/** `endless`: again and again until this process is killed. A number: so many runs, each interrupted within its first 50 ms. */
	readonly repeat?: 'endless' | number;
};

const order: Order = JSON.parse(await text(process.stdin));
const plan = resolvePlan({
	schema: 'verification-plan/v3',
	owner: 'owner',
	repository: 'repository',
	issue: 1,
	source_sha: '0'.repeat(40),
	commands: order.commands,
	...(order.sandbox === undefined ? {} : {sandbox: order.sandbox}),
	...(order.limits === undefined ? {} : {limits: order.limits}),
});

function program(name: string): string {
	return name.includes('/') ? name : which(name);
}

function tell(value: unknown): void {
	process.stdout.write(`${JSON.stringify(value, (_, item: unknown) => (typeof item === 'bigint' ? String(item) : item))}\n`);
}

function toRequest(command: ResolvedCommand, containment: Containment): CommandRequest {
	return {
		executable: program(command.argv[0] ?? ''),
		argv: command.argv,
		checkout: order.facts.checkout,
		cwd: command.cwd,
		env: {PATH: plan.path, HOME: order.facts.privateHome, TMPDIR: order.facts.privateTmp, LANG: 'C.UTF-8', LC_ALL: 'C.UTF-8', TZ: 'UTC', ...command.env},
		timeoutNs: BigInt(Math.round(command.timeout_seconds * 1e9)),
		leakTimeoutNs: command.leak_timeout_seconds === null ? null : BigInt(Math.round(command.leak_timeout_seconds * 1e9)),
		maxOutputBytes: command.max_output_bytes,
		streams: command.streams,
		...containment,
	};
}

async function perform(supervisor: Supervisor, sandbox: RunSandbox): Promise<void> {
	if (order.repeat === undefined) {
		for (const command of plan.commands) {
			const outcome = await supervisor.run(toRequest(command, sandbox.prepare(command)));
			const record = outcome.kind === 'ended' ? outcome.sandbox : null;
			tell({id: command.id, kind: outcome.kind, sandbox: record, ...summary(outcome, command.expected_exit_code)});
		}

		return;
	}

	tell({ready: process.pid});
	const rounds = order.repeat === 'endless' ? Number.POSITIVE_INFINITY : order.repeat;
	for (let round = 0; round < rounds; round++) {
		for (const command of plan.commands) {
			const timer = setTimeout(() => supervisor.interrupt('SIGINT'), order.repeat === 'endless' ? 1e9 : Math.random() * 50);
			const outcome = await supervisor.run(toRequest(command, sandbox.prepare(command)));
			clearTimeout(timer);
			tell(outcome.kind === 'ended' ? {kind: outcome.kind, execution_status: outcome.status} : outcome);
		}
	}
}

const supervisor = await startSupervisor();
try {
	const sandbox = await openRunSandbox({
		facts: order.facts,
		commands: plan.commands,
		supervisor: supervisorPath(),
		...(order.tool === undefined ? {} : {toolCandidates: [order.tool]}),
	});
	try {
		await sandbox.rehearse(supervisor, plan.commands);
		await perform(supervisor, sandbox);
	} finally {
		await sandbox.close();
	}
} catch (error) {
	tell({error: error instanceof BailiffError ? error.toJSON() : {code: 'BUG', message: String(error)}});
} finally {
	await supervisor.close();
}
