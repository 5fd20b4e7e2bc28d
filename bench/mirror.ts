import {mkdirSync, mkdtempSync, realpathSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {bootstrapMirror, createProfile, initRoot, type MirrorRequest, openGit, readProfile, syncMirror, verifyMirror} from '../cache/index.ts';
import {authorityUrl, layOutRepository, openLocalAuthority} from '../publish/local/index.ts';
import {spawnProgram} from '../runner/spawn.ts';
import {makeRepository} from '../test/helpers/repository.ts';
import type {Figure} from './figure.ts';

const files = 20_000;
const commits = 2000;
const branches = 900;
const rounds = 15;

/** A no-op sync with all its gates against a bare fetch of the same mirror, and the proof of a mirror of 20,000 files and 2,000 commits; in process. */
export async function measure(): Promise<readonly Figure[]> {
	const base = realpathSync(mkdtempSync(path.join(tmpdir(), 'bailiff-bench-')));
	try {
		const request = await lay(base);
		const report = await bootstrapMirror(request);
		if (report.status !== 'ok') {
			throw new Error(`no mirror: ${JSON.stringify(report.error)}`);
		}

		return [await measureSync(request, base), await measureVerify(request)];
	} finally {
		rmSync(base, {recursive: true});
	}
}

async function measureSync(request: MirrorRequest, base: string): Promise<Figure> {
	const mirror = path.join(base, 'root/repositories/acme/widget/repository.git');
	const url = `file://${path.join(base, 'authority/acme/widget/repository.git')}`;
	const syncs: number[] = [];
	const fetches: number[] = [];
	// In turns, so that a busy machine slows both.
	for (let round = 0; round < rounds; round++) {
		fetches.push(await milliseconds(() => plainFetch(mirror, url)));
		syncs.push(
			await milliseconds(async () => {
				expectOk(await syncMirror(request));
			}),
		);
	}

	const [sync, fetch] = [median(syncs), median(fetches)];
	return {
		id: 'C-PERF-1',
		name: `no-op sync of ${branches + 1} refs with all gates, against git fetch --prune`,
		measured: sync / fetch,
		unit: 'x',
		wanted: {atMost: 3},
		note: `medians of ${rounds}: ${sync.toFixed(0)} ms and ${fetch.toFixed(0)} ms`,
	};
}

async function measureVerify(request: MirrorRequest): Promise<Figure> {
	const samples: number[] = [];
	for (let round = 0; round < 5; round++) {
		samples.push(
			await milliseconds(async () => {
				expectOk(await verifyMirror(request, {isFull: false}));
			}),
		);
	}

	return {
		id: 'C-PERF-1',
		name: `cache verify of ${files} files and ${commits} commits`,
		measured: median(samples),
		unit: 'ms',
		wanted: {atMost: 2000},
		note: 'median of 5',
	};
}

/** As a person would: git's own defaults. */
async function plainFetch(mirror: string, url: string): Promise<void> {
	const env = {PATH: '/usr/bin:/bin', HOME: '/nonexistent', GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_SYSTEM: '/dev/null'};
	const args = ['--git-dir', mirror, 'fetch', '--prune', '--quiet', url, '+refs/*:refs/*'];
	const result = await spawnProgram({
		file: '/usr/bin/git',
		args,
		cwd: '/',
		env,
		maxStdoutBytes: 10_000,
		maxStderrBytes: 10_000,
		timeoutMs: 60_000,
		graceMs: 100,
	});
	if (result.exitCode !== 0) {
		throw new Error(result.stderr.toString());
	}
}

async function lay(base: string): Promise<MirrorRequest> {
	const git = await openGit();
	const {paths} = initRoot(path.join(base, 'root'));
	const source = makeRepository(path.join(base, 'source'), {});
	await git.run({command: ['fast-import', '--quiet', '--force'], gitDir: path.join(source.path, '.git'), input: Buffer.from(history())});
	const directory = path.join(base, 'authority');
	const name = {owner: 'acme', repository: 'widget'};
	await layOutRepository({directory, ref: name, checkout: source.path, defaultBranch: 'main', logins: ['maintainer', 'impl-agent']}, git);
	const profileDirectory = path.join(base, 'profile');
	mkdirSync(profileDirectory, {mode: 0o700});
	createProfile(profileDirectory, {
		schema: 'bailiff.profile/v1',
		role: 'impl-agent',
		provider: {kind: 'local', url: authorityUrl(directory)},
		login: 'impl-agent',
		account_id: 2,
		approvers: [1],
	});
	const profile = readProfile(profileDirectory);
	return {contractPath: paths.contract, name, git, openAuthority: async () => ({profile, authority: openLocalAuthority(profile, git)})};
}

/** One commit with every file, then one a changed file, and branches along the way. */
function history(): string {
	const lines: string[] = [];
	for (let commit = 0; commit < commits; commit++) {
		lines.push('commit refs/heads/main', `committer Bench <bench@example.invalid> ${1_700_000_000 + commit} +0000`, 'data 1', 'c');
		const changed = commit === 0 ? Array.from({length: files}, (_, index) => index) : [(commit * 7919) % files];
		for (const file of changed) {
			const text = `file ${file} in commit ${commit}\n`;
			lines.push(`M 100644 inline d${file % 200}/f${file}.txt`, `data ${text.length}`, text);
		}
	}

	for (let branch = 0; branch < branches; branch++) {
		lines.push(`reset refs/heads/b${branch}`, 'from refs/heads/main', '');
	}

	return `${lines.join('\n')}\n`;
}

function expectOk({status, error}: Awaited<ReturnType<typeof syncMirror>>): void {
	if (status !== 'ok') {
		throw new Error(JSON.stringify(error));
	}
}

async function milliseconds(work: () => Promise<void>): Promise<number> {
	const start = process.hrtime.bigint();
	await work();
	return Number(process.hrtime.bigint() - start) / 1e6;
}

function median(samples: readonly number[]): number {
	return samples.toSorted((left, right) => left - right)[Math.floor(samples.length / 2)] ?? Number.NaN;
}
