import {mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {
	bootstrapMirror,
	createProfile,
	createWorktree,
	initRoot,
	openGit,
	readProfile,
	removeWorktree,
	type WorktreeReport,
	type WorktreeRequest,
} from '../cache/index.ts';
import {addLocalApproval, authorityUrl, layOutRepository, openLocalAuthority, writeLocalIssue} from '../publish/local/index.ts';
import {spawnProgram} from '../runner/spawn.ts';
import {makeRepository} from '../test/helpers/repository.ts';
import {type Figure, median} from './figure.ts';

const files = 20_000;
const rounds = 5;

/** Making an issue's worktree with all its gates and proofs, against git worktree add with parallel checkout and one git status; in process. */
export async function measure(): Promise<readonly Figure[]> {
	const base = realpathSync(mkdtempSync(path.join(tmpdir(), 'bailiff-bench-')));
	try {
		const request = await lay(base);
		const mirror = path.join(base, 'root/repositories/acme/widget/repository.git');
		const plain: number[] = [];
		const ours: number[] = [];
		// In turns, so that a busy machine slows both; and with an idle disk, since what the removal before left to write is nobody's cost.
		for (let round = 0; round < rounds; round++) {
			await settle(base);
			plain.push(await addPlainly(mirror, path.join(base, 'plain/checkout')));
			await settle(base);
			ours.push(
				await milliseconds(async () => {
					expectOk(await createWorktree(request));
				}),
			);
			expectOk(await removeWorktree({...request, deliveredBranch: 'main'}));
		}

		const [bailiff, git] = [median(ours), median(plain)];
		return [
			{
				id: 'C-PERF-1',
				name: `worktree create of ${files} files, against git worktree add (checkout.workers=0) and git status`,
				measured: bailiff / git,
				unit: 'x',
				wanted: {atMost: 1.15},
				note: `medians of ${rounds}: ${bailiff.toFixed(0)} ms and ${git.toFixed(0)} ms`,
			},
		];
	} finally {
		rmSync(base, {recursive: true});
	}
}

async function addPlainly(mirror: string, checkout: string): Promise<number> {
	const took = await milliseconds(async () => {
		await plainGit('-c', 'checkout.workers=0', '--git-dir', mirror, 'worktree', 'add', '--quiet', '--detach', '--lock', '--', checkout, 'refs/heads/main');
		await plainGit('-C', checkout, 'status', '--porcelain');
	});
	await plainGit('--git-dir', mirror, 'worktree', 'unlock', checkout);
	await plainGit('--git-dir', mirror, 'worktree', 'remove', checkout);
	return took;
}

async function settle(base: string): Promise<void> {
	await run('/usr/bin/sync', '-f', base);
}

async function plainGit(...args: string[]): Promise<void> {
	await run('/usr/bin/git', ...args);
}

async function run(file: string, ...args: string[]): Promise<void> {
	const result = await spawnProgram({
		file,
		args,
		cwd: '/',
		env: {PATH: '/usr/bin:/bin', HOME: '/nonexistent', GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_SYSTEM: '/dev/null'},
		maxStdoutBytes: 10_000_000,
		maxStderrBytes: 10_000,
		timeoutMs: 600_000,
		graceMs: 1000,
	});
	if (result.exitCode !== 0) {
		throw new Error(`${file} ${args.join(' ')}: ${result.stderr.toString()}`);
	}
}

async function lay(base: string): Promise<WorktreeRequest> {
	const directory = path.join(base, 'authority');
	const name = {owner: 'acme', repository: 'widget'};
	const target = {...name, issue: 7};
	const checkout = path.join(base, 'source');
	for (let number = 0; number < files; number++) {
		const file = path.join(checkout, `part-${number % 400}`, `file-${number}.txt`);
		mkdirSync(path.dirname(file), {recursive: true});
		writeFileSync(file, `${number}\n`.repeat(100));
	}

	makeRepository(checkout, {});
	const git = await openGit();
	await layOutRepository({directory, ref: name, checkout, defaultBranch: null, logins: ['maintainer', 'impl-agent']}, git);
	await writeLocalIssue({directory, target}, {title: 'Measure', body: 'measure\n', login: 'maintainer', state: 'open'});
	await addLocalApproval({directory, target}, {kind: 'implementation', login: 'maintainer', base: null, branch: null, headSha: null});
	const place = path.join(base, 'profile');
	const provider = {kind: 'local', url: authorityUrl(directory)} as const;
	createProfile(place, {schema: 'bailiff.profile/v1', role: 'impl-agent', provider, login: 'impl-agent', account_id: 2, approvers: [1]});
	const profile = readProfile(place);
	const {paths} = initRoot(path.join(base, 'root'));
	const openAuthority: NonNullable<WorktreeRequest['openAuthority']> = async () => ({profile, authority: openLocalAuthority(profile, git)});
	const report = await bootstrapMirror({contractPath: paths.contract, name, git, openAuthority});
	if (report.status !== 'ok') {
		throw new Error(`no mirror: ${JSON.stringify(report.error)}`);
	}

	return {contractPath: paths.contract, target, git, openAuthority};
}

function expectOk(report: WorktreeReport): void {
	if (report.status !== 'ok') {
		throw new Error(JSON.stringify(report.error));
	}
}

async function milliseconds(work: () => Promise<void>): Promise<number> {
	const start = process.hrtime.bigint();
	await work();
	return Number(process.hrtime.bigint() - start) / 1e6;
}
