import {chmodSync, mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, unlinkSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import test from 'ava';
import {HeadReader, locateCheckout, readLinkFile} from '../../cache/git-directory.ts';
import type {BailiffError} from '../../core/errors.ts';
import {at, makeCheckout, write} from '../helpers/checkout.ts';
import type {TestRepository} from '../helpers/repository.ts';
import {temporaryDirectory} from '../helpers/temporary-directory.ts';

test('locateCheckout() finds the git directory of an ordinary clone', t => {
	const {path: checkout} = makeCheckout(t);
	const gitDir = path.join(checkout, '.git');
	t.deepEqual(locateCheckout(checkout), {checkout, gitDir, commonDir: gitDir});
});

test('locateCheckout() finds both directories of a linked worktree', t => {
	const repository = makeCheckout(t);
	const linked = `${repository.path}-linked`;
	repository.git('worktree', 'add', '-q', '--detach', linked);
	const commonDir = at(repository, '.git');
	t.deepEqual(locateCheckout(linked), {checkout: linked, gitDir: path.join(commonDir, 'worktrees', path.basename(linked)), commonDir});
});

test('locateCheckout() follows the .git file of a separate git directory', t => {
	const repository = makeCheckout(t);
	const apart = `${repository.path}-apart`;
	renameSync(at(repository, '.git'), apart);
	writeFileSync(at(repository, '.git'), `gitdir: ../${path.basename(apart)}\n`);
	t.is(locateCheckout(repository.path).gitDir, apart);
});

test('locateCheckout() resolves links above the checkout once', t => {
	const repository = makeCheckout(t);
	const link = `${path.dirname(repository.path)}-link`;
	symlinkSync(path.dirname(repository.path), link);
	t.teardown(() => {
		unlinkSync(link);
	});
	t.is(locateCheckout(path.join(link, 'checkout')).checkout, repository.path);
});

type Refusal = {readonly title: string; readonly change: (repository: TestRepository) => string; readonly pattern: RegExp};
const refusals: readonly Refusal[] = [
	{title: 'a relative path', change: () => 'some/checkout', pattern: /absolute path/},
	{title: 'a path with ".."', change: repository => `${repository.path}/../checkout`, pattern: /absolute path/},
	{title: 'a path that is not there', change: repository => `${repository.path}-none`, pattern: /does not exist/},
	{title: 'a file', change: repository => at(repository, 'a.txt'), pattern: /must be a directory/},
	{title: 'a directory below a checkout', change: repository => at(repository, 'src'), pattern: /no \.git/},
	{
		title: 'a link to a checkout',
		change: repository => (symlinkSync(repository.path, `${repository.path}-link`), `${repository.path}-link`),
		pattern: /not a symbolic link/,
	},
	{
		title: 'a .git that is a link',
		change: repository => (
			renameSync(at(repository, '.git'), `${repository.path}-git`), symlinkSync(`${repository.path}-git`, at(repository, '.git')), repository.path
		),
		pattern: /not a symbolic link/,
	},
	{title: 'a commondir in an ordinary clone', change: repository => (write(repository, '.git/commondir', '/tmp\n'), repository.path), pattern: /commondir/},
	{
		title: 'a .git file without a target',
		change: repository => (rmSync(at(repository, '.git'), {recursive: true}), write(repository, '.git', 'x\n'), repository.path),
		pattern: /is not "gitdir: PATH"/,
	},
	{
		title: 'a .git file that leads nowhere',
		change: repository => (rmSync(at(repository, '.git'), {recursive: true}), write(repository, '.git', 'gitdir: gone\n'), repository.path),
		pattern: /cannot be reached: ENOENT/,
	},
	{
		title: 'a worktree that was moved',
		change: repository => (renameSync(linkedOf(repository), `${repository.path}-moved`), `${repository.path}-moved`),
		pattern: /git worktree repair/,
	},
	{
		title: 'a .git file taken from another worktree',
		change: repository => {
			const linked = linkedOf(repository);
			mkdirSync(`${repository.path}-thief`);
			writeFileSync(`${repository.path}-thief/.git`, readFileSync(path.join(linked, '.git')));
			return `${repository.path}-thief`;
		},
		pattern: /registered at another place/,
	},
	{
		title: 'a worktree whose common directory is not its own',
		change: repository => {
			const linked = linkedOf(repository);
			writeFileSync(at(repository, `.git/worktrees/${path.basename(linked)}/commondir`), '/\n');
			return linked;
		},
		pattern: /is no worktree of/,
	},
];

function linkedOf(repository: TestRepository): string {
	repository.git('worktree', 'add', '-q', '--detach', `${repository.path}-linked`);
	return `${repository.path}-linked`;
}

for (const {title, change, pattern} of refusals) {
	test(`locateCheckout() refuses ${title}`, t => {
		const named = change(makeCheckout(t));
		const error = t.throws<BailiffError>(() => locateCheckout(named));
		t.is(error?.code, 'CACHE_CHECKOUT_INVALID');
		t.regex(error?.message ?? '', pattern);
	});
}

const id = 'a'.repeat(40);
const other = 'b'.repeat(40);
type Head = {readonly title: string; readonly files: Readonly<Record<string, string>>; readonly expected: string | null};
const heads: readonly Head[] = [
	{title: 'an id', files: {HEAD: `${id}\n`}, expected: id},
	{title: 'a loose reference', files: {HEAD: 'ref: refs/heads/main\n', 'refs/heads/main': `${id}\n`}, expected: id},
	{title: 'a reference of a reference', files: {HEAD: 'ref: refs/heads/x\n', 'refs/heads/x': 'ref: refs/heads/y\n', 'refs/heads/y': `${id}\n`}, expected: id},
	{
		title: 'a packed reference',
		files: {HEAD: 'ref: refs/heads/main\n', 'packed-refs': `# pack-refs with: peeled\n${other} refs/heads/a\n${id} refs/heads/main\n^${other}\n`},
		expected: id,
	},
	{title: 'the first packed reference without a header', files: {HEAD: 'ref: refs/heads/main\n', 'packed-refs': `${id} refs/heads/main\n`}, expected: id},
	{
		title: 'a loose reference over a packed one',
		files: {HEAD: 'ref: refs/heads/main\n', 'refs/heads/main': `${id}\n`, 'packed-refs': `${other} refs/heads/main\n`},
		expected: id,
	},
	{
		title: 'nothing for a name that only ends alike',
		files: {HEAD: 'ref: refs/heads/main\n', 'packed-refs': `${id} refs/heads/x/refs/heads/main\n`},
		expected: null,
	},
	{title: 'nothing for an unborn branch', files: {HEAD: 'ref: refs/heads/main\n'}, expected: null},
	{title: 'nothing for a loop', files: {HEAD: 'ref: refs/heads/x\n', 'refs/heads/x': 'ref: refs/heads/x\n'}, expected: null},
	{title: 'nothing for a reference that climbs out', files: {HEAD: 'ref: refs/../../secret\n'}, expected: null},
	{title: 'nothing for a name outside refs', files: {HEAD: 'ref: config\n', config: `${id}\n`}, expected: null},
	{title: 'nothing for a short id', files: {HEAD: 'abc123\n'}, expected: null},
	{title: 'nothing for a sha256 id', files: {HEAD: `${'a'.repeat(64)}\n`}, expected: null},
	{title: 'nothing for an empty file', files: {HEAD: ''}, expected: null},
	{title: 'nothing without HEAD', files: {}, expected: null},
	{title: 'nothing for a huge file', files: {HEAD: `${id}\n${'x'.repeat(100_000)}`}, expected: null},
];
for (const {title, files, expected} of heads) {
	test(`HeadReader reads ${title}`, t => {
		const gitDir = temporaryDirectory(t);
		for (const [name, content] of Object.entries(files)) {
			mkdirSync(path.dirname(path.join(gitDir, name)), {recursive: true});
			writeFileSync(path.join(gitDir, name), content);
		}

		const reader = new HeadReader({checkout: '/nonexistent', gitDir, commonDir: gitDir});
		t.is(reader.read(), expected);
		t.is(reader.read(), expected);
	});
}

test('readLinkFile() follows no link and waits for no pipe', t => {
	const directory = temporaryDirectory(t);
	writeFileSync(path.join(directory, 'file'), 'x');
	symlinkSync('file', path.join(directory, 'link'));
	mkdirSync(path.join(directory, 'directory'));
	t.is(readLinkFile(path.join(directory, 'file')), 'x');
	t.is(readLinkFile(path.join(directory, 'link')), null);
	t.is(readLinkFile(path.join(directory, 'directory')), null);
	t.is(readLinkFile(path.join(directory, 'none')), null);
	chmodSync(path.join(directory, 'file'), 0o644);
	t.is(readLinkFile(path.join(directory, 'file'), 0), null);
});
