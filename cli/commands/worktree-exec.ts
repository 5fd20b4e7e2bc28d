import {constants} from 'node:os';
import {type ExecResult, execInWorktree, readProfile} from '../../cache/index.ts';
import {BailiffError} from '../../core/errors.ts';
import {toAbsolute} from '../arguments.ts';
import {exitCodeOfReport} from '../cache-reply.ts';
import type {CommandCall, Reply} from '../command-spec.ts';
import {readWorkflowId} from '../lease.ts';
import {withNamedProfile} from '../named-profile.ts';
import {readWorktreeRequest} from '../worktree-call.ts';
import {replyOfWorktree} from '../worktree-reply.ts';

const interrupts = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** `bailiff worktree exec`: runs a command in the worktree under the issue lock and ends with its exit code (C-LOCK-4, C-DEL-1). */
export async function worktreeExec(call: CommandCall): Promise<Reply> {
	const {options} = call;
	const profile = readProfile(toAbsolute(options.required('profile')));
	const runId = readWorkflowId(options);
	return withForwarding(async ({abort, onStarted}) => {
		const {openAuthority: _unasked, ...request} = await readWorktreeRequest(call, abort);
		const result = await execInWorktree({
			...request,
			profile,
			argv: call.arguments,
			environment: inherited(),
			stdout: call.isJson ? 'stderr' : 'inherit',
			onStarted,
			...(runId === null ? {} : {runId}),
		});
		return toReply({...result, report: withNamedProfile(result.report, options)}, call.isJson);
	});
}

function toReply({report, end, records}: ExecResult, isJson: boolean): Reply {
	const reply = replyOfWorktree(report);
	return {
		exitCode: end === null || report.status !== 'ok' ? exitCodeOfReport(report) : exitCodeOf(end),
		json: {...reply.json, exec: end === null ? null : {exit_code: end.exitCode, signal: end.signal, records: [...records]}},
		// The command's own output is the answer.
		text: isJson ? reply.text : '',
		...(reply.note === undefined ? {} : {note: reply.note}),
	};
}

/** As a shell would say it. */
function exitCodeOf({exitCode, signal}: NonNullable<ExecResult['end']>): number {
	const number = Object.entries(constants.signals).find(([name]) => name === signal)?.[1];
	return exitCode ?? 128 + (number ?? 0);
}

function inherited(): Record<string, string> {
	return Object.fromEntries(Object.entries(process.env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as const])));
}

type Forwarding = {readonly abort: AbortSignal; readonly onStarted: (signal: (name: NodeJS.Signals) => void) => void};

/** Until the command runs a signal ends the waiting; from then on it is the command's. On a terminal Ctrl-C reached it already. */
async function withForwarding<Result>(work: (forwarding: Forwarding) => Promise<Result>): Promise<Result> {
	const controller = new AbortController();
	let forward: ((name: NodeJS.Signals) => void) | null = null;
	const onSignal = (name: NodeJS.Signals): void => {
		if (forward === null) {
			controller.abort(new BailiffError('CLI_INTERRUPTED', `${name} arrived before the command ran: nothing was run`, {details: {signal: name}}));
		} else if (name !== 'SIGINT' || !process.stdin.isTTY) {
			forward(name);
		}
	};
	for (const name of interrupts) {
		process.on(name, onSignal);
	}

	try {
		return await work({
			abort: controller.signal,
			onStarted: signal => {
				forward = signal;
			},
		});
	} finally {
		for (const name of interrupts) {
			process.off(name, onSignal);
		}
	}
}
