import {shellWord} from '../../cache/remedy.ts';
import {systemClock} from '../../core/clock.ts';
import {BailiffError} from '../../core/errors.ts';
import type {Manifest, Stop} from '../../evidence/manifest-schema.ts';
import {createRunControl} from '../../runner/run-control.ts';
import {type ActionsJob, actionsJobOf, announceRun, fencedFromCommands} from '../actions-job.ts';
import {readContractPath, toAbsolute} from '../arguments.ts';
import {openSession} from '../cache-call.ts';
import type {CommandCall, Reply} from '../command-spec.ts';
import {type ExitCode, exitCodes, signalExitCodes} from '../exit-codes.ts';
import {failingTails, tailText} from '../failing-output.ts';
import {stderrStream, writeError} from '../output.ts';
import {Progress, terminalSink} from '../progress.ts';
import {type RunOptions, type RunResult, runPlan} from '../run-session.ts';
import {leadSignals} from '../run-signals.ts';

const redrawMs = 100;

/** `bailiff run`: runs a plan in custody and publishes its evidence. A failed run ends with 1, an interrupted one by its signal. */
export async function run(call: CommandCall): Promise<Reply> {
	const options = readRunOptions(call);
	const progress = call.isJson ? null : new Progress(terminalSink(stderrStream(), process.env), systemClock);
	const control = createRunControl();
	const say = (line: string): void => {
		if (progress === null) {
			writeError(`bailiff: ${line}`);
		} else {
			progress.say(`bailiff: ${line}`);
		}
	};
	const signals = leadSignals(control, say);
	const timer = setInterval(() => progress?.tick(), redrawMs).unref();
	try {
		const result = await runPlan({
			...options,
			control,
			lock: {
				timeoutMs: (call.options.number('lockTimeout') ?? 0) * 1000,
				signal: signals.abort,
				onWait: ({path, timeoutMs}) => progress?.say(`waiting up to ${timeoutMs / 1000} s for the issue lock ${path}`),
			},
			onEvent: event => progress?.onEvent(event),
			onLeaseLost: ({message}) => say(`${message}: ending the run in order`),
		});
		const job = actionsJobOf(process.env);
		if (job !== null) {
			announce(job, result, options);
		}

		return toReply(result, options, job);
	} finally {
		clearInterval(timer);
		signals.release();
	}
}

/** On stderr, where a runner looks too: stdout belongs to the answer. */
function announce(job: ActionsJob, {manifest}: RunResult, {contractPath}: RunOptions): void {
	for (const line of announceRun(job, {contractPath, target: manifest.target, runId: manifest.run_id})) {
		writeError(line);
	}
}

function readRunOptions({options}: CommandCall): RunOptions {
	const runId = options.text('runId');
	const role = options.text('role');
	const repoRoot = options.text('repoRoot');
	const profile = options.text('profile');
	const handle = options.text('handle');
	if (repoRoot === null && profile === null) {
		throw new BailiffError('CLI_USAGE', 'give --repo-root CHECKOUT, or --profile DIR: then the worktree of the plan’s target is taken');
	}

	return {
		contractPath: readContractPath(options),
		...(repoRoot === null ? {} : {repoRoot: toAbsolute(repoRoot)}),
		...(profile === null ? {} : {openAuthority: async git => openSession(toAbsolute(profile), git)}),
		planFile: options.required('plan'),
		sensitiveFiles: options.list('sensitiveFile'),
		...(handle === null ? {} : {handleFile: toAbsolute(handle)}),
		...(runId === null ? {} : {runId}),
		...(role === null ? {} : {role}),
	};
}

function toReply(result: RunResult, options: RunOptions, job: ActionsJob | null): Reply {
	const {manifest, manifestSha256, artifactRoot, runDirectory} = result;
	const tails = manifest.result === 'passed' ? [] : failingTails(manifest, runDirectory);
	return {
		exitCode: exitCodeOfRun(manifest.result, manifest.stop),
		json: {
			run_id: manifest.run_id,
			artifact_root: artifactRoot,
			manifest: 'manifest.json',
			manifest_sha256: manifestSha256,
			result: manifest.result,
			stop: manifest.stop,
			commands: manifest.commands.map(({id, execution_status: status, passed}) => ({id, execution_status: status, passed})),
		},
		text: [
			`${manifest.result}: run ${manifest.run_id}, ${manifest.commands.filter(({passed}) => passed).length} of ${manifest.commands.length} executed commands passed`,
			...(manifest.stop === null ? [] : [`stopped: ${stopText(manifest.stop)}`]),
			`evidence ${runDirectory}`,
			`manifest sha256 ${manifestSha256}`,
			`check it: ${validateCommand(manifest, options)}`,
		].join('\n'),
		...(tails.length === 0 ? {} : {note: job === null ? tailText(tails) : fencedFromCommands(tailText(tails))}),
	};
}

function validateCommand({target, run_id: runId}: Manifest, options: RunOptions): string {
	const words = ['bailiff', 'validate', '--contract-path', options.contractPath, ...(options.repoRoot === undefined ? [] : ['--repo-root', options.repoRoot])];
	return [...words, '--target', `${target.owner}/${target.repository}#${target.issue}`, '--run', runId].map(word => shellWord(word)).join(' ');
}

function exitCodeOfRun(result: 'passed' | 'failed', stop: Stop | null): ExitCode {
	if (stop?.reason === 'interrupted' && stop.signal !== null) {
		return signalExitCodes[stop.signal];
	}

	return result === 'passed' ? exitCodes.yes : exitCodes.no;
}

function stopText({reason, command, errno, stage, signal}: Stop): string {
	const where = command === null ? '' : ` at ${command.id}`;
	const why = [stage, errno, signal].filter(part => part !== null).join(' ');
	return `${reason}${where}${why === '' ? '' : ` (${why})`}`;
}
