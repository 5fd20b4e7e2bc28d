import {execFileSync} from 'node:child_process';
import {
	appendFileSync,
	chmodSync,
	cpSync,
	linkSync,
	mkdirSync,
	readdirSync,
	readFileSync,
	renameSync,
	rmSync,
	symlinkSync,
	truncateSync,
	writeFileSync,
} from 'node:fs';
import path from 'node:path';
import {initRoot} from '../../cache/root.ts';
import {canonicalFile, canonicalJson} from '../../core/canonical-json.ts';
import {sha256Hex} from '../../core/digest.ts';
import {runCli} from './run-cli.ts';

/** Where the cases lie; README.md there describes the form for other implementations. */
export const corpusDirectory = path.join('test', 'vectors', 'evidence');

/** One change to a copy of a base. `file` is relative to `verification/`, or to the checkout with `in`. */
export type Step = {
	readonly op:
		| 'append'
		| 'chmod'
		| 'device'
		| 'directory'
		| 'fifo'
		| 'git'
		| 'hardlink'
		| 'nest'
		| 'remove'
		| 'rename'
		| 'replace'
		| 'seal'
		| 'symlink'
		| 'truncate'
		| 'write';
	readonly in?: 'checkout';
	readonly file?: string;
	readonly to?: string;
	readonly find?: string;
	readonly with?: string;
	readonly text?: string;
	readonly base64?: string;
	readonly mode?: string;
	readonly bytes?: number;
	readonly args?: readonly string[];
};

/** The content of a case.json. */
export type Case = {
	readonly title: string;
	readonly row?: number;
	readonly reader: 'validate' | 'validate-archived-v2' | 'validate-legacy';
	readonly base: 'v1' | 'v2' | 'v3';
	readonly steps: readonly Step[];
	/** Flags that replace those of the reader. */
	readonly flags?: Readonly<Record<string, string>>;
	readonly needsRoot?: boolean;
	readonly expected: {readonly exit: number; readonly verdict: string; readonly code: string | null};
};

const runs = {v1: 'r1', v2: 'r2', v3: '20260801-100001-0000aaaa'} as const;

/** Every case by its name. */
export function corpusCases(): ReadonlyMap<string, Case> {
	const names = readdirSync(corpusDirectory, {withFileTypes: true})
		.filter(entry => entry.isDirectory() && entry.name !== 'bases')
		.map(({name}) => name);
	return new Map(names.toSorted().map(name => [name, JSON.parse(readFileSync(path.join(corpusDirectory, name, 'case.json'), 'utf8')) as Case]));
}

/** Nothing of the user who runs the tests. */
const gitEnvironment = {
	PATH: process.env['PATH'],
	HOME: '/nonexistent',
	GIT_CONFIG_GLOBAL: '/dev/null',
	GIT_CONFIG_SYSTEM: '/dev/null',
	GIT_ALLOW_PROTOCOL: 'file',
};

/** The checkout that every base was made on. */
export function cloneCorpusSource(directory: string): string {
	const checkout = path.join(directory, 'checkout');
	execFileSync('git', ['clone', '-q', path.join(corpusDirectory, 'source.bundle'), checkout], {env: gitEnvironment, stdio: ['ignore', 'pipe', 'pipe']});
	return checkout;
}

/** Some step changes the checkout. */
export function changesCheckout(steps: readonly Step[]): boolean {
	return steps.some(step => step.op === 'git' || step.in === 'checkout');
}

/** A root with one base and a checkout, changed as the case says. */
export class CorpusGround {
	readonly root: string;
	readonly checkout: string;
	readonly verification: string;
	readonly run: string;
	readonly runId: string;

	/** `checkout` is only read, unless it is one of this ground alone. */
	constructor(directory: string, base: Case['base'], checkout: string) {
		this.root = path.join(directory, 'root');
		initRoot(this.root);
		this.checkout = checkout;
		this.verification = path.join(this.root, 'repositories/acme/widget/worktrees/issue-7/verification');
		mkdirSync(this.verification, {recursive: true, mode: 0o700});
		cpSync(path.join(corpusDirectory, 'bases', base), this.verification, {recursive: true});
		setModes(path.join(this.root, 'repositories'));
		this.runId = runs[base];
		this.run = path.join(this.verification, this.runId);
	}

	/** Does one step. */
	apply(step: Step): void {
		const base = step.in === 'checkout' ? this.checkout : this.verification;
		const place = (name = ''): string => path.join(base, name.replaceAll('RUN', this.runId));
		const file = place(step.file);
		steps[step.op](step, {file, to: step.op === 'symlink' ? (step.to ?? '') : place(step.to), ground: this});
	}

	/** The flags of a reader for this run. */
	flags(reader: Case['reader']): Record<string, string> {
		const contract = {'--contract-path': path.join(this.root, 'harness/operations/repository-cache.md'), '--repo-root': this.checkout};
		return reader === 'validate'
			? {...contract, '--owner': 'acme', '--repository': 'widget', '--issue': '7', '--run': this.runId}
			: {...contract, '--artifact-root': this.run, '--manifest': 'manifest.json'};
	}

	/** The answer of a reader through the command line. */
	async read(reader: Case['reader'], flags: Readonly<Record<string, string>> = {}): Promise<{readonly exitCode: number | null; readonly answer: Answer}> {
		const replaced = Object.fromEntries(Object.entries(flags).map(([name, value]) => [name, value.replaceAll('ROOT', this.root).replaceAll('RUN', this.run)]));
		const given = Object.entries({...this.flags(reader), ...replaced}).flat();
		const {exitCode, json} = await runCli([reader, ...given, '--json']);
		return {exitCode, answer: json() as unknown as Answer};
	}
}

/** What the tests look at of a ValidateAnswer, or of an ErrorAnswer. */
export type Answer = {
	readonly verdict: string;
	readonly archived: boolean;
	readonly result: string | null;
	readonly manifest_sha256: string | null;
	readonly problems: ReadonlyArray<{readonly code: string; readonly path: string | null; readonly pointer: string; readonly message: string}>;
	readonly error?: {readonly code: string};
};

type Places = {readonly file: string; readonly to: string; readonly ground: CorpusGround};

const steps: Readonly<Record<Step['op'], (step: Step, places: Places) => void>> = {
	append: (step, {file}) => appendFileSync(file, contentOf(step)),
	chmod: ({mode = '0600'}, {file}) => chmodSync(file, Number.parseInt(mode, 8)),
	device: (_, {file}) => {
		rmSync(file, {recursive: true, force: true});
		execFileSync('mknod', ['-m', '600', file, 'c', '1', '5']);
	},
	directory: (_, {file}) => {
		rmSync(file, {recursive: true, force: true});
		mkdirSync(file, {mode: 0o700});
	},
	fifo: (_, {file}) => {
		rmSync(file, {recursive: true, force: true});
		execFileSync('mkfifo', ['-m', '600', file]);
	},
	git: ({args = []}, {ground}) => {
		const identity = ['-c', 'user.name=Author', '-c', 'user.email=author@example.org'];
		execFileSync('git', ['-C', ground.checkout, ...identity, ...args], {env: gitEnvironment, stdio: ['ignore', 'pipe', 'pipe']});
	},
	hardlink: (_, {file, to}) => linkSync(file, to),
	nest: ({bytes = 0}, {file}) => writeFileSync(file, '['.repeat(bytes)),
	remove: (_, {file}) => rmSync(file, {recursive: true}),
	rename: (_, {file, to}) => renameSync(file, to),
	replace: ({find = '', with: replacement = ''}, {file}) => {
		const text = readFileSync(file, 'latin1');
		if (!text.includes(find)) {
			throw new Error(`${file} does not hold ${find}`);
		}

		writeFileSync(
			file,
			text.replace(find, () => Buffer.from(replacement).toString('latin1')),
			'latin1',
		);
	},
	seal: (_, {ground}) => seal(ground),
	symlink: (_, {file, to}) => {
		rmSync(file, {recursive: true, force: true});
		symlinkSync(to, file);
	},
	truncate: ({bytes = 0}, {file}) => truncateSync(file, bytes),
	write: (step, {file}) => {
		rmSync(file, {recursive: true, force: true});
		writeFileSync(file, contentOf(step), {mode: 0o600});
		chmodSync(file, Number.parseInt(step.mode ?? '0600', 8));
	},
};

function contentOf({text, base64}: Step): Buffer {
	return base64 === undefined ? Buffer.from(text ?? '') : Buffer.from(base64, 'base64');
}

/** Canonical bytes again, and a ledger that vouches for them: what a forger with all rights of the producer would do. */
function seal({run, verification}: CorpusGround): void {
	const file = path.join(run, 'manifest.json');
	const manifest = JSON.parse(readFileSync(file, 'utf8')) as {run_id: string; source: {sha: string}; started_at: string; finished_at: string; result: string};
	const plan = sha256Hex(readFileSync(path.join(run, 'plan.json')));
	const names = {run_id: manifest.run_id};
	const first = canonicalJson({
		...names,
		at: manifest.started_at,
		event: 'started',
		n: 1,
		prev_sha256: null,
		plan_sha256: plan,
		source_sha: manifest.source.sha,
	});
	const bytes = canonicalFile({...manifest, ledger: {n: 1, sha256: sha256Hex(first)}});
	writeFileSync(file, bytes);
	const published = {...names, at: manifest.finished_at, event: 'published', n: 2, prev_sha256: sha256Hex(first), result: manifest.result};
	writeFileSync(path.join(verification, 'ledger.jsonl'), `${first}\n${canonicalJson({...published, manifest_sha256: sha256Hex(bytes)})}\n`);
}

function setModes(directory: string): void {
	chmodSync(directory, 0o700);
	for (const entry of readdirSync(directory, {withFileTypes: true})) {
		const name = path.join(directory, entry.name);
		if (entry.isDirectory()) {
			setModes(name);
		} else {
			chmodSync(name, 0o600);
		}
	}
}
