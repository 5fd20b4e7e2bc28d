import {writeFileSync} from 'node:fs';
import path from 'node:path';
import type {ExecutionContext} from 'ava';
import {makeRepository, type TestRepository} from './repository.ts';
import {type CliResult, runCli} from './run-cli.ts';
import {temporaryDirectory} from './temporary-directory.ts';

/** A command of a plan as a test writes it; limits that no test should reach are filled in. */
export type TestCommand = {readonly id: string; readonly argv: readonly string[]} & Readonly<Record<string, unknown>>;

/** A root, a checkout and plans of its commit. */
export class RunGround {
	readonly directory: string;
	readonly root: string;
	readonly repository: TestRepository;
	#plans = 0;

	private constructor(directory: string, repository: TestRepository) {
		this.directory = directory;
		this.root = path.join(directory, 'root');
		this.repository = repository;
	}

	/** Makes both, removed when the test ends. */
	static async make(t: ExecutionContext, files: Readonly<Record<string, string>> = {'README.md': 'hello\n'}): Promise<RunGround> {
		const directory = temporaryDirectory(t);
		const ground = new RunGround(directory, makeRepository(path.join(directory, 'checkout'), files));
		await runCli(['init', '--root', ground.root]);
		return ground;
	}

	/** Writes a plan for acme/widget#7 without a sandbox; `rest` overrides. */
	plan(commands: readonly TestCommand[], rest: Readonly<Record<string, unknown>> = {}): string {
		const file = path.join(this.directory, `plan-${++this.#plans}.json`);
		const plan = {
			schema: 'verification-plan/v3',
			owner: 'acme',
			repository: 'widget',
			issue: 7,
			source_sha: this.repository.sha,
			sandbox: {mode: 'off'},
			commands: commands.map(command => ({timeout_seconds: 60, max_output_bytes: 65_536, ...command})),
			...rest,
		};
		writeFileSync(file, JSON.stringify(plan));
		return file;
	}

	/** The arguments of `bailiff run` for a plan. */
	runArguments(plan: string, ...more: readonly string[]): string[] {
		return ['run', '--root', this.root, '--repo-root', this.repository.path, '--plan', plan, ...more];
	}

	/** Runs a plan to its end. */
	async run(plan: string, ...more: readonly string[]): Promise<CliResult> {
		return runCli(this.runArguments(plan, ...more));
	}

	/** Validates a run. */
	async validate(runId: string, ...more: readonly string[]): Promise<CliResult> {
		return runCli(['validate', '--root', this.root, '--repo-root', this.repository.path, '--target', 'acme/widget#7', '--run', runId, ...more]);
	}

	/** Where a run of acme/widget#7 is published. */
	runDirectory(runId: string): string {
		return path.join(this.root, 'repositories/acme/widget/worktrees/issue-7/verification', runId);
	}
}
