import {execFileSync} from 'node:child_process';
import {randomBytes} from 'node:crypto';
import {appendFileSync, chmodSync, existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, readlinkSync, symlinkSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import test, {type ExecutionContext} from 'ava';
import {FileLock, initRoot, openGit} from '../../../cache/index.ts';
import {BailiffError} from '../../../core/errors.ts';
import {layOutRepository, type NewRepository} from '../../../publish/local/index.ts';
import {readAuthorityRecord} from '../../../publish/local/records.ts';
import {eventually} from '../../helpers/eventually.ts';
import {localGround} from '../../helpers/local-authority.ts';
import {refusalLater} from '../../helpers/refusal.ts';
import {makeRepository} from '../../helpers/repository.ts';
import {temporaryDirectory} from '../../helpers/temporary-directory.ts';

const ref = {owner: 'acme', repository: 'widget'};

function asked(t: ExecutionContext): NewRepository & {readonly base: string} {
	const base = temporaryDirectory(t);
	makeRepository(path.join(base, 'source'), {'a.txt': 'a\n'});
	return {base, directory: path.join(base, 'authority'), ref, checkout: path.join(base, 'source'), defaultBranch: null, logins: ['maintainer']};
}

test('what is laid out is private, whole, and knows nothing of where it came from', async t => {
	const {directory, gitDir, source} = await localGround(t);
	t.deepEqual(readdirSync(directory).toSorted(), ['.lock', 'acme', 'authority.json']);
	t.deepEqual(readdirSync(path.join(directory, 'acme')), ['widget']);
	t.deepEqual(readdirSync(path.join(directory, 'acme/widget')).toSorted(), ['approvals', 'issues', 'repository.git', 'repository.json']);
	for (const place of ['', 'acme', 'acme/widget', 'acme/widget/issues', 'acme/widget/approvals', 'acme/widget/repository.git']) {
		t.is(lstatSync(path.join(directory, place)).mode & 0o7777, 0o700, place);
	}

	t.false(readFileSync(path.join(gitDir, 'config'), 'utf8').includes('remote'));
	t.false(existsSync(path.join(gitDir, 'hooks')));
	t.false(existsSync(path.join(gitDir, 'objects/info/alternates')));
	t.is(source.git('--git-dir', gitDir, 'rev-parse', 'refs/heads/main').trim(), source.sha);
});

test('a repository that is there is never touched, and a second one joins it', async t => {
	const wanted = asked(t);
	const git = await openGit();
	await layOutRepository(wanted, git);
	const record = path.join(wanted.directory, 'acme/widget/repository.json');
	const before = readFileSync(record, 'utf8');
	t.is((await refusalLater(() => layOutRepository(wanted, git)))?.code, 'PUBLISH_LOCAL_EXISTS');
	t.is(readFileSync(record, 'utf8'), before);
	const second = await layOutRepository({...wanted, ref: {...ref, repository: 'gadget'}, logins: ['maintainer', 'impl-agent', 'reviewer']}, git);
	t.deepEqual(second.accounts, [
		{id: 1, login: 'maintainer'},
		{id: 2, login: 'impl-agent'},
		{id: 3, login: 'reviewer'},
	]);
	t.deepEqual(readAuthorityRecord(wanted.directory).accounts, second.accounts);
	t.deepEqual(readdirSync(path.join(wanted.directory, 'acme')).toSorted(), ['gadget', 'widget']);
});

test('an empty directory in its place is not taken over', async t => {
	const wanted = asked(t);
	mkdirSync(path.join(wanted.directory, 'acme/widget'), {recursive: true, mode: 0o700});
	t.is((await refusalLater(async () => layOutRepository(wanted, await openGit())))?.code, 'PUBLISH_LOCAL_EXISTS');
});

test('a shallow source is refused before anything is made, with the command that mends it', async t => {
	const wanted = asked(t);
	const checkout = path.join(wanted.base, 'shallow $(touch x)');
	makeRepository(wanted.checkout, {'b.txt': 'b\n'}).git('clone', '-q', '--depth', '1', `file://${wanted.checkout}`, checkout);
	const refusal = await refusalLater(async () => layOutRepository({...wanted, checkout}, await openGit()));
	t.is(refusal?.code, 'CACHE_SHALLOW');
	t.true(refusal?.message.includes(`git -C '${checkout}' fetch --unshallow`));
	t.false(existsSync(wanted.directory));
	execFileSync('git', ['-C', checkout, 'fetch', '-q', '--unshallow'], {stdio: 'ignore'});
	await layOutRepository({...wanted, checkout}, await openGit());
	t.true(existsSync(wanted.directory));
});

test('a partial clone is refused, too', async t => {
	const wanted = asked(t);
	appendFileSync(path.join(wanted.checkout, '.git/config'), '[remote "origin"]\n\tpromisor = true\n\tpartialclonefilter = blob:none\n');
	const refusal = await refusalLater(async () => layOutRepository(wanted, await openGit()));
	t.is(refusal?.code, 'CACHE_SHALLOW');
	t.regex(refusal?.message ?? '', /partial clone/);
});

for (const [title, prepare, code] of [
	['a source without a commit', w => execGit(w.checkout, 'checkout', '-q', '--orphan', 'fresh'), 'CACHE_REPOSITORY_EMPTY'],
	['a source on no branch', w => execGit(w.checkout, 'checkout', '-q', '--detach'), 'CACHE_REPOSITORY_EMPTY'],
	['a source that is no checkout', w => ({...w, checkout: w.base}), 'CACHE_CHECKOUT_INVALID'],
	['a default branch that is not there', w => ({...w, defaultBranch: 'none'}), 'CACHE_REPOSITORY_EMPTY'],
	['a default branch that is no name', w => ({...w, defaultBranch: '--all'}), 'CACHE_REPOSITORY_EMPTY'],
	['an owner that is no name', w => ({...w, ref: {...ref, owner: '../x'}}), 'CORE_ID_OWNER'],
	['an authority that is not absolute', w => ({...w, directory: 'authority'}), 'CACHE_AUTHORITY_MALFORMED'],
	['a parent that is not there', w => ({...w, directory: path.join(w.base, 'none/authority')}), 'CACHE_WRITE_FAILED'],
	['an authority that everybody may write', w => (mkdirSync(w.directory), chmodSync(w.directory, 0o777)), 'CACHE_AUTHORITY_UNTRUSTED'],
	['an authority that is a link', w => symlinkSync(w.base, w.directory), 'CACHE_AUTHORITY_UNTRUSTED'],
	['an authority inside a root', w => ({...w, directory: path.join(initRoot(path.join(w.base, 'root')).paths.root, 'authority')}), 'CACHE_AUTHORITY_UNTRUSTED'],
	['a login with a blank', w => ({...w, logins: ['a b']}), 'CACHE_AUTHORITY_MALFORMED'],
] as const satisfies ReadonlyArray<readonly [string, (wanted: NewRepository & {readonly base: string}) => unknown, string]>) {
	test(`refused: ${title}`, async t => {
		const wanted = asked(t);
		const changed = prepare(wanted);
		const request = isRequest(changed) ? changed : wanted;
		t.is((await refusalLater(async () => layOutRepository(request, await openGit())))?.code, code);
		t.false(existsSync(path.join(wanted.directory, 'acme/widget')));
	});
}

test('a linked worktree is a source like any other: its branch counts, its history is whole', async t => {
	const wanted = asked(t);
	const checkout = path.join(wanted.base, 'linked');
	execGit(wanted.checkout, 'worktree', 'add', '-q', '-b', 'side', checkout);
	const made = await layOutRepository({...wanted, checkout}, await openGit());
	t.is(made.defaultBranch, 'side');
	t.is(made.sha, execGit(wanted.checkout, 'rev-parse', 'main').trim());
});

test('a clone that fails leaves no staging behind, and the next call goes through', async t => {
	const wanted = asked(t);
	const objects = path.join(wanted.checkout, '.git/objects');
	const blob = execGit(wanted.checkout, 'rev-parse', 'HEAD:a.txt').trim();
	const file = path.join(objects, blob.slice(0, 2), blob.slice(2));
	const bytes = readFileSync(file);
	chmodSync(file, 0o644);
	writeFileSync(file, 'damaged');
	const git = await openGit();
	t.is((await refusalLater(() => layOutRepository(wanted, git)))?.code, 'CACHE_GIT_FAILED');
	t.deepEqual(readdirSync(path.join(wanted.directory, 'acme')), []);
	writeFileSync(file, bytes);
	await layOutRepository(wanted, git);
	t.deepEqual(readdirSync(path.join(wanted.directory, 'acme')), ['widget']);
});

test('a signal ends git, which held the lock, and leaves neither staging nor lock behind', async t => {
	const wanted = asked(t);
	writeFileSync(path.join(wanted.checkout, 'large'), randomBytes(40_000_000));
	execGit(wanted.checkout, 'add', '-A');
	execGit(wanted.checkout, '-c', 'user.name=T', '-c', 'user.email=t@example.invalid', 'commit', '-q', '-m', 'large');
	const controller = new AbortController();
	const reason = new BailiffError('CLI_INTERRUPTED', 'SIGINT arrived');
	const lockFile = path.join(wanted.directory, '.lock');
	const work = refusalLater(async () => layOutRepository(wanted, await openGit(), {signal: controller.signal}));
	await eventually('git works under the lock', () =>
		readdirSync('/proc').some(pid => /^\d+$/.test(pid) && pid !== String(process.pid) && linkOrEmpty(`/proc/${pid}/fd/3`) === lockFile),
	);
	controller.abort(reason);
	t.is(await work, reason);
	t.deepEqual(readdirSync(path.join(wanted.directory, 'acme')), []);
	(await FileLock.acquire(lockFile, {timeoutMs: 5000})).close();
});

test('whoever holds DIR/.lock is not passed, and the lock is free afterwards', async t => {
	const wanted = asked(t);
	const git = await openGit();
	mkdirSync(wanted.directory, {mode: 0o700});
	const lock = await FileLock.acquire(path.join(wanted.directory, '.lock'));
	t.is((await refusalLater(() => layOutRepository(wanted, git)))?.code, 'CACHE_LOCK_BUSY');
	lock.close();
	await layOutRepository(wanted, git);
	(await FileLock.acquire(path.join(wanted.directory, '.lock'))).close();
	t.pass();
});

test('a planted .git of the checkout is not followed: no hook, no filter, no alias of it runs', async t => {
	const wanted = asked(t);
	const proof = path.join(wanted.base, 'ran');
	appendFileSync(
		path.join(wanted.checkout, '.git/config'),
		`[core]\n\tfsmonitor = touch ${proof}\n\tsshCommand = touch ${proof}\n[uploadpack]\n\tpackObjectsHook = touch ${proof}\n[alias]\n\tclone = "!touch ${proof}"\n`,
	);
	await layOutRepository(wanted, await openGit());
	t.false(existsSync(proof));
});

function execGit(cwd: string, ...args: string[]): string {
	return execFileSync('git', args, {cwd, encoding: 'utf8', env: {PATH: process.env['PATH'], GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_SYSTEM: '/dev/null'}});
}

function linkOrEmpty(file: string): string {
	try {
		return readlinkSync(file);
	} catch {
		return '';
	}
}

function isRequest(value: unknown): value is NewRepository {
	return typeof value === 'object' && value !== null && 'checkout' in value;
}
