import {mkdir, mkdtemp, rm, writeFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import path from 'node:path';
import test from 'ava';
import {closureOf} from './closure.ts';
import {repositoryRoot} from './repository.ts';

test('the verifier alone reaches zod, files, digests and paths, and nothing else', async t => {
	const {packages, builtins} = await closureOf(repositoryRoot, 'evidence/validate.ts');
	const allowed = ['node:crypto', 'node:fs', 'node:fs/promises', 'node:path'];
	t.deepEqual(packages, ['zod']);
	t.deepEqual(
		builtins.filter(name => !allowed.includes(name)),
		[],
	);
});

test('the command line starts with commander and no other package', async t => {
	const {packages} = await closureOf(repositoryRoot, 'cli/main.ts');
	t.deepEqual(
		packages.filter(name => name !== 'commander'),
		[],
	);
});

test('a child_process planted two imports away is seen, one behind import() is not', async t => {
	const root = await mkdtemp(path.join(tmpdir(), 'bailiff-closure-'));
	try {
		const files = {
			'evidence/validate.ts': "import {b} from './b.ts';\n\nexport const a = b;\n",
			'evidence/b.ts': "import {c} from './c.ts';\n\nexport const b = async () => [c, await import('./d.ts')];\n",
			'evidence/c.ts': "import {spawn} from 'node:child_process';\n\nexport const c = spawn;\n",
			'evidence/d.ts': "import {connect} from 'node:net';\n\nexport const d = connect;\n",
		};
		await mkdir(path.join(root, 'evidence'));
		for (const [file, source] of Object.entries(files)) {
			await writeFile(path.join(root, file), source);
		}

		t.deepEqual(await closureOf(root, 'evidence/validate.ts'), {packages: [], builtins: ['node:child_process']});
	} finally {
		await rm(root, {recursive: true, force: true});
	}
});
