import {mkdirSync, readFileSync, realpathSync} from 'node:fs';
import {homedir, userInfo} from 'node:os';
import path from 'node:path';
import {BailiffError} from '../core/errors.ts';
import type {ResolvedCommand, ResolvedPlan} from '../evidence/index.ts';
import {supervisorPath} from '../native/index.ts';
import type {Supervisor} from './outcome.ts';
import type {Preparation} from './preparation.ts';
import type {PrivateHome} from './private-home.ts';
import type {SandboxFacts} from './sandbox/profile.ts';
import {openRunSandbox, type RunSandbox} from './sandbox/sandbox.ts';

/** What lies around a run and must be kept from its commands. Absolute paths. */
export type Surroundings = {
	/** bailiff's root: hidden but for the checkout and the git directory. */
	readonly root: string;
	/** The common git directory of the checkout: its mirror, or its own .git. */
	readonly gitCommonDir: string;
	/** Never visible inside: profile directory, sensitive files. */
	readonly secrets: readonly string[];
};

/** What the sandboxes of a run are opened with. */
export type ContainmentRequest = {
	readonly plan: ResolvedPlan;
	readonly checkout: string;
	readonly verificationDirectory: string;
	readonly surroundings: Surroundings;
	readonly home: PrivateHome;
	readonly preparation: Preparation;
};

/**
 * Opens the sandboxes of a plan and rehearses each kind, so that what cannot be enforced refuses the run before anything starts.
 *
 * Refuses: what openRunSandbox refuses; RUN_EXECUTABLE_MISSING for a program that the sandbox would hide. The caller closes what it gets.
 * Source: S-PLAN-3, R-PLAN-7.
 */
export async function openContainment(request: ContainmentRequest, supervisor: Supervisor): Promise<RunSandbox> {
	const {plan, preparation} = request;
	const sandbox = await openRunSandbox({facts: readFacts(request), commands: plan.commands, supervisor: realpathSync(supervisorPath())});
	try {
		refuseHidden(sandbox, plan.commands, preparation);
		await sandbox.rehearse(supervisor, plan.commands);
		return sandbox;
	} catch (error) {
		await sandbox.close();
		throw error;
	}
}

function readFacts(request: ContainmentRequest): SandboxFacts {
	const {surroundings, home} = request;
	const checkout = realpathSync(request.checkout);
	return {
		checkout,
		git: {dotGit: path.join(checkout, '.git'), commonDir: surroundings.gitCommonDir, alternates: readAlternates(surroundings.gitCommonDir)},
		root: surroundings.root,
		evidence: request.verificationDirectory,
		install: path.resolve(supervisorPath(), '../../..'),
		home: homeOr(() => userInfo().homedir),
		environmentHome: homeOr(homedir),
		privateHome: realpathSync(home.home),
		privateTmp: realpathSync(home.tmp),
		emptyDirectory: makeEmpty(realpathSync(path.dirname(home.home))),
		secrets: surroundings.secrets,
		userId: process.geteuid?.() ?? -1,
	};
}

/** Beside the private pair, with which it is removed. */
function makeEmpty(base: string): string {
	const directory = path.join(base, 'empty');
	mkdirSync(directory, {recursive: true, mode: 0o755});
	return directory;
}

/** The home is that of the user database, never that of HOME (C-ROOT-2), which is hidden all the same. Users without an entry have none. */
function homeOr(read: () => string): string {
	try {
		return read();
	} catch {
		return '/nonexistent';
	}
}

/** The object stores that a clone borrows from. */
function readAlternates(commonDir: string): string[] {
	try {
		const listed = readFileSync(path.join(commonDir, 'objects/info/alternates'), 'utf8').split('\n');
		return listed.filter(line => line !== '' && !line.startsWith('#')).map(line => path.resolve(commonDir, 'objects', line));
	} catch {
		return [];
	}
}

/** A program below a hidden home would be missing at its start only; here it is told with its mend. */
function refuseHidden(sandbox: RunSandbox, commands: readonly ResolvedCommand[], {executables}: Preparation): void {
	const hidden = commands.flatMap(command => {
		const program = executables[command.index]?.program ?? '';
		return program.startsWith('/') && !sandbox.shows(command, program) ? [{command, program}] : [];
	});
	const [first] = hidden;
	if (first !== undefined) {
		throw new BailiffError(
			'RUN_EXECUTABLE_MISSING',
			`command ${first.command.id}: ${first.program} is not shown in the sandbox (home and temporary directories are hidden, and with root "minimal" all but /usr): list the directory of its toolchain in sandbox.filesystem.read ("bailiff plan new" does so)`,
			{details: {missing: hidden.map(({command, program}) => ({id: command.id, index: command.index, program}))}},
		);
	}
}
