import {createHash} from 'node:crypto';
import {appendFileSync, chmodSync, cpSync, mkdirSync, renameSync, rmSync, symlinkSync, truncateSync, unlinkSync, utimesSync} from 'node:fs';
import test from 'ava';
import type {ErrorCode} from '../../core/errors.ts';
import {at, makeCheckout, tryTo, verdictOf, write} from '../helpers/checkout.ts';
import type {TestRepository} from '../helpers/repository.ts';

type Case = {
	readonly title: string;
	readonly files?: Readonly<Record<string, string>>;
	/** Changes the checkout after the commit. */
	readonly change: (repository: TestRepository) => void;
	/** Refusal, `state path` each; absent: accepted. */
	readonly refuses?: readonly string[];
	readonly code?: ErrorCode;
};

const crlf = {'.gitattributes': '*.bat text eol=crlf\n', 'x.bat': 'a\r\nb\r\n'};
const content = 'the real content of a large file\n';
const pointer = `version https://git-lfs.github.com/spec/v1\noid sha256:${createHash('sha256').update(content).digest('hex')}\nsize ${content.length}\n`;
const lfs = {'.gitattributes': '*.bin filter=lfs diff=lfs merge=lfs -text\n', 'x.bin': pointer};

const cases: readonly Case[] = [
	{title: 'a checkout exactly as it was committed', change: () => {}},
	{title: 'files that were only touched', change: repository => utimesSync(at(repository, 'a.txt'), 1, 1)},
	{title: 'ignored files and directories', change: repository => (write(repository, 'x.log', 'x'), write(repository, 'build/out/a', 'x'))},
	{title: 'ignored files in a directory of their own', change: repository => write(repository, 'fresh/deeper/x.log', 'x')},
	{title: 'an empty directory', change: repository => mkdirSync(at(repository, 'empty/er'), {recursive: true})},
	{title: 'a detached HEAD', change: repository => repository.git('checkout', '-q', '--detach')},
	{title: 'packed references', change: repository => repository.git('pack-refs', '--all')},
	{title: 'packed objects', change: repository => repository.git('gc', '-q')},
	{title: 'another group mode on a file', change: repository => chmodSync(at(repository, 'a.txt'), 0o600)},
	{title: 'a link whose target is as committed', change: repository => commitLink(repository, 'a.txt')},
	{title: 'a changed byte', change: repository => write(repository, 'a.txt', 'onE\n'), refuses: ['changed a.txt']},
	{title: 'a longer file', change: repository => appendFileSync(at(repository, 'a.txt'), 'x'), refuses: ['changed a.txt']},
	{title: 'an emptied file', change: repository => truncateSync(at(repository, 'a.txt')), refuses: ['changed a.txt']},
	{title: 'a deleted file', change: repository => unlinkSync(at(repository, 'src/b.txt')), refuses: ['deleted src/b.txt']},
	{
		title: 'a deleted directory',
		change: repository => rmSync(at(repository, 'src'), {recursive: true}),
		refuses: ['deleted src/b.txt', 'deleted src/deep/c.txt'],
	},
	{title: 'an added execute bit', change: repository => chmodSync(at(repository, 'a.txt'), 0o755), refuses: ['mode a.txt']},
	{title: 'a removed execute bit', change: repository => chmodSync(at(repository, 'run.sh'), 0o644), refuses: ['mode run.sh']},
	{
		title: 'an execute bit that core.fileMode=false hides',
		change: repository => (repository.git('config', 'core.fileMode', 'false'), chmodSync(at(repository, 'run.sh'), 0o644)),
		refuses: ['mode run.sh'],
	},
	{title: 'an untracked file', change: repository => write(repository, 'new.txt', 'x'), refuses: ['untracked new.txt']},
	{title: 'an untracked file in a new directory', change: repository => write(repository, 'new/er/file', 'x'), refuses: ['untracked new/er/file']},
	{title: 'an untracked link to a directory', change: repository => symlinkSync('src', at(repository, 'link')), refuses: ['untracked link']},
	{
		title: 'an untracked file that only info/exclude ignores',
		change: repository => (write(repository, '.git/info/exclude', 'hidden\n'), write(repository, 'hidden', 'x')),
		refuses: ['untracked hidden'],
	},
	{
		title: 'an untracked file that only core.excludesFile ignores',
		change: repository => (
			write(repository, '.git/rules', 'hidden\n'), repository.git('config', 'core.excludesFile', at(repository, '.git/rules')), write(repository, 'hidden', 'x')
		),
		refuses: ['untracked hidden'],
	},
	{
		title: 'an untracked .gitignore that hides itself and a file',
		change: repository => (write(repository, 'src/.gitignore', '*\n'), write(repository, 'src/evil.txt', 'x')),
		refuses: ['untracked src/.gitignore', 'untracked src/evil.txt'],
	},
	{
		title: 'names that git would take for patterns and options',
		change: repository => (
			write(repository, ':(glob)x', 'x'),
			write(repository, '-v', 'x'),
			write(repository, '"q', 'x'),
			write(repository, 'n\nl', 'x'),
			write(repository, ':!y.log', 'x')
		),
		refuses: ['untracked "q', 'untracked -v', 'untracked :(glob)x', 'untracked n\nl'],
	},
	{
		title: 'a change that is staged and undone in the file',
		change: repository => (write(repository, 'a.txt', 'staged\n'), repository.git('add', 'a.txt'), write(repository, 'a.txt', 'one\n')),
		refuses: ['staged a.txt'],
	},
	{title: 'a staged removal', change: repository => repository.git('rm', '-q', '--cached', 'a.txt'), refuses: ['staged a.txt']},
	{title: 'a staged new file', change: repository => (write(repository, 'new', 'x'), repository.git('add', 'new')), refuses: ['staged new']},
	{title: 'an intended new file', change: repository => (write(repository, 'new', ''), repository.git('add', '-N', 'new')), refuses: ['staged new']},
	{title: 'a staged mode', change: repository => repository.git('update-index', '--chmod=+x', 'a.txt'), refuses: ['staged a.txt']},
	{
		title: 'a change behind assume-unchanged',
		change: repository => (repository.git('update-index', '--assume-unchanged', 'a.txt'), write(repository, 'a.txt', 'two\n')),
		refuses: ['changed a.txt'],
	},
	{
		title: 'a change behind skip-worktree',
		change: repository => (repository.git('update-index', '--skip-worktree', 'a.txt'), write(repository, 'a.txt', 'two\n')),
		refuses: ['changed a.txt'],
	},
	{
		title: 'a sparse checkout',
		change: repository => repository.git('sparse-checkout', 'set', '--no-cone', '/a.txt'),
		refuses: ['deleted .gitignore', 'deleted run.sh', 'deleted src/b.txt', 'deleted src/deep/c.txt'],
	},
	{
		title: 'a file that became a link to the same bytes',
		change: repository => (renameSync(at(repository, 'a.txt'), at(repository, 'x.log')), symlinkSync('x.log', at(repository, 'a.txt'))),
		refuses: ['type a.txt'],
	},
	{
		title: 'a directory that became a link to the same files',
		change: repository => (renameSync(at(repository, 'src'), at(repository, 'build')), symlinkSync('build', at(repository, 'src'))),
		refuses: ['type src/b.txt', 'type src/deep/c.txt'],
	},
	{
		title: 'a file that became a directory',
		change: repository => (unlinkSync(at(repository, 'a.txt')), mkdirSync(at(repository, 'a.txt'))),
		refuses: ['type a.txt'],
	},
	{
		title: 'a link to another target',
		change: repository => (commitLink(repository, 'a.txt'), unlinkSync(at(repository, 'link')), symlinkSync('run.sh', at(repository, 'link'))),
		refuses: ['changed link'],
	},
	{
		title: 'a file where a link was committed',
		change: repository => (commitLink(repository, 'a.txt'), unlinkSync(at(repository, 'link')), write(repository, 'link', 'a.txt')),
		refuses: ['type link'],
	},
	{title: 'files with CRLF that the attributes ask for', files: crlf, change: recheckout},
	{
		title: 'files with LF where the attributes ask for CRLF',
		files: crlf,
		change: repository => (recheckout(repository), write(repository, 'x.bat', 'a\nb\n')),
		refuses: ['changed x.bat'],
	},
	{
		title: 'one LF among CRLF',
		files: crlf,
		change: repository => (recheckout(repository), write(repository, 'x.bat', 'a\r\nb\n')),
		refuses: ['changed x.bat'],
	},
	{
		title: 'CRLF without an attribute',
		change: repository => write(repository, 'a.txt', 'one\r\n'),
		refuses: ['changed a.txt'],
	},
	{
		title: 'CRLF that only the configuration asks for',
		files: {'.gitattributes': '* text=auto\n'},
		change: repository => (repository.git('config', 'core.eol', 'crlf'), recheckout(repository)),
		refuses: ['changed .gitattributes', 'changed .gitignore', 'changed a.txt', 'changed run.sh', 'changed src/b.txt', 'changed src/deep/c.txt'],
	},
	{
		title: 'a blob that holds both line ends, checked out by git with eol=crlf',
		files: {'mixed.bat': 'a\nb\r\nc\n'},
		change: repository => (
			write(repository, '.gitattributes', '*.bat text eol=crlf\n'),
			repository.git('add', '.gitattributes'),
			repository.git('commit', '-qm', 'x'),
			recheckout(repository)
		),
	},
	{
		title: 'binary and CRLF blobs under text=auto eol=crlf, as git checks them out',
		files: {'text.t': 'a\nb\n', 'binary.t': 'a\n\u0000b\n', 'crlf.t': 'a\r\nb\n'},
		change: repository => (
			write(repository, '.gitattributes', '*.t text=auto eol=crlf\n'),
			repository.git('add', '.gitattributes'),
			repository.git('commit', '-qm', 'x'),
			recheckout(repository)
		),
	},
	{title: 'an LFS pointer as it is committed', files: lfs, change: () => {}},
	{title: 'the file that an LFS pointer names', files: lfs, change: repository => write(repository, 'x.bin', content)},
	{
		title: 'another file of the same size than an LFS pointer names',
		files: lfs,
		change: repository => write(repository, 'x.bin', content.toUpperCase()),
		refuses: ['changed x.bin'],
	},
	{
		title: 'a changed file under the LFS filter whose blob is no pointer',
		files: {...lfs, 'x.bin': 'plain\n'},
		change: repository => write(repository, 'x.bin', 'other\n'),
		refuses: ['changed x.bin'],
	},
	{
		title: 'another filter',
		files: {'.gitattributes': 'a.txt filter=evil\n'},
		change: () => {},
		code: 'CACHE_CHECKOUT_UNSUPPORTED',
		refuses: ['filter=evil a.txt'],
	},
	{title: 'ident', files: {'.gitattributes': 'a.txt ident\n'}, change: () => {}, code: 'CACHE_CHECKOUT_UNSUPPORTED', refuses: ['ident a.txt']},
	{
		title: 'a filter behind a macro',
		files: {'.gitattributes': '[attr]odd filter=evil\nsrc/*.txt odd\n'},
		change: () => {},
		code: 'CACHE_CHECKOUT_UNSUPPORTED',
		refuses: ['filter=evil src/b.txt'],
	},
	{
		title: 'another encoding',
		files: {'.gitattributes': 'src/** working-tree-encoding=ISO-8859-1\n'},
		change: () => {},
		code: 'CACHE_CHECKOUT_UNSUPPORTED',
		refuses: ['working-tree-encoding=ISO-8859-1 src/b.txt', 'working-tree-encoding=ISO-8859-1 src/deep/c.txt'],
	},
	{title: 'attributes that change no bytes', files: {'.gitattributes': '* text=auto\n*.txt diff=evil merge=evil export-subst\n'}, change: () => {}},
	{
		title: 'rules of this machine beside committed ones',
		files: crlf,
		change: repository => (recheckout(repository), write(repository, '.git/info/attributes', '# none\n* -text\n')),
		code: 'CACHE_CHECKOUT_UNSUPPORTED',
		refuses: [],
	},
	{title: 'a submodule that is absent', change: repository => (commitSubmodule(repository), rmSync(at(repository, 'sub'), {recursive: true, force: true}))},
	{title: 'a submodule that is an empty directory', change: repository => (commitSubmodule(repository), mkdirSync(at(repository, 'sub'), {recursive: true}))},
	{
		title: 'a submodule with a file',
		change: repository => (commitSubmodule(repository), write(repository, 'sub/x.log', 'x')),
		refuses: ['submodule sub'],
	},
	{
		title: 'a submodule that is a link',
		change: repository => (
			commitSubmodule(repository), rmSync(at(repository, 'sub'), {recursive: true, force: true}), symlinkSync('src', at(repository, 'sub'))
		),
		refuses: ['type sub'],
	},
	{title: 'alternates', change: moveObjectsBehindAlternates},
	{title: 'a split index', change: repository => repository.git('update-index', '--split-index')},
	{title: 'an index of version 4', change: repository => repository.git('update-index', '--index-version', '4')},
	{title: 'an unfinished merge', change: startConflict, refuses: ['staged a.txt']},
	{
		title: 'no index at all',
		change: repository => unlinkSync(at(repository, '.git/index')),
		refuses: ['staged .gitignore', 'staged a.txt', 'staged run.sh', 'staged src/b.txt', 'staged src/deep/c.txt'],
	},
];

for (const {title, files: more, change, refuses, code} of cases) {
	test(`verify() ${refuses === undefined ? 'accepts' : 'refuses'} ${title}`, async t => {
		const repository = makeCheckout(t, more);
		change(repository);
		const verdict = await verdictOf(repository.path, repository.git('rev-parse', 'HEAD').trim());
		t.is(verdict.code, refuses === undefined ? null : (code ?? 'RUN_CHECKOUT_DIRTY'), verdict.message);
		t.deepEqual(verdict.paths, refuses ?? []);
	});
}

function recheckout(repository: TestRepository): void {
	repository.git('rm', '-q', '-r', '--cached', '.');
	repository.git('reset', '-q', '--hard');
}

function commitLink(repository: TestRepository, target: string): void {
	symlinkSync(target, at(repository, 'link'));
	repository.git('add', 'link');
	repository.git('commit', '-qm', 'link');
}

function commitSubmodule(repository: TestRepository): void {
	repository.git('update-index', '--add', '--cacheinfo', `160000,${repository.sha},sub`);
	repository.git('commit', '-qm', 'submodule');
}

function moveObjectsBehindAlternates(repository: TestRepository): void {
	const store = `${repository.path}-store`;
	cpSync(at(repository, '.git/objects'), store, {recursive: true});
	rmSync(at(repository, '.git/objects'), {recursive: true});
	write(repository, '.git/objects/info/alternates', `${store}\n`);
}

function startConflict(repository: TestRepository): void {
	repository.git('checkout', '-q', '-b', 'other');
	write(repository, 'a.txt', 'other\n');
	repository.git('commit', '-qam', 'other');
	repository.git('checkout', '-q', 'main');
	write(repository, 'a.txt', 'main\n');
	repository.git('commit', '-qam', 'main');
	tryTo(() => repository.git('merge', 'other'));
}
