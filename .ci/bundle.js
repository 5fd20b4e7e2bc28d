// Bundles the start of the command line (build/cli/main.js with `plan check`) into OUTPUT (default build/bin) and compiles it. Everything else, the verifier
// above all, stays as tsc wrote it and is loaded from there when a command needs it.
import {execFileSync} from 'node:child_process';
import {chmodSync, copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {build} from 'esbuild';

const root = path.resolve(import.meta.dirname, '..');
const commandLine = path.join(root, 'build/cli');
const output = path.resolve(process.argv[2] ?? path.join(root, 'build/bin'));
const bundle = path.join(output, 'command-line.cjs');
const inside = new Set(['program.js', 'commands/plan-check.js']);
const samplePlan = {
	schema: 'verification-plan/v3',
	owner: 'acme',
	repository: 'widget',
	issue: 1,
	source_sha: '0'.repeat(40),
	path: '/usr/bin:/bin',
	sandbox: {mode: 'required', filesystem: {read: ['/opt']}, network: 'none'},
	limits: {open_files: 256},
	commands: [
		{id: 'unit', argv: ['make', 'test'], timeout_seconds: 0.5, max_output_bytes: 1000, cwd: 'a/b', env: {CI: 'true'}, expected_exit_code: 1, purpose: 'red'},
	],
};

/** A dynamic import of anything else leads back to what tsc wrote. */
const others = {
	name: 'others',
	setup(builder) {
		builder.onResolve({filter: /^\./}, ({kind, path: specifier, resolveDir}) => {
			const file = path.resolve(resolveDir, specifier);
			if (kind !== 'dynamic-import' || inside.has(path.relative(commandLine, file))) {
				return undefined;
			}

			return {path: path.relative(output, file), external: true};
		});
	},
};

await build({
	absWorkingDir: root,
	entryPoints: [path.join(commandLine, 'main.js')],
	outfile: bundle,
	bundle: true,
	platform: 'node',
	format: 'cjs',
	target: 'node20.19',
	legalComments: 'inline',
	logLevel: 'warning',
	plugins: [others],
});
// Compiled code that was read back has lost where import() starts from: the launcher imports instead.
const text = readFileSync(bundle, 'utf8')
	.replace(/^#!.*/, '')
	.replaceAll(/\bimport\("/g, 'importModule("');
writeFileSync(bundle, `(function (require, importModule) {${text}\n})`);
writeFileSync(path.join(output, 'command-line.compiled'), compile());
copyFileSync(path.join(import.meta.dirname, 'launcher.cjs'), path.join(output, 'bailiff.cjs'));
chmodSync(path.join(output, 'bailiff.cjs'), 0o755);

/** What V8 compiled by the end of a `plan check` in a process of its own. */
function compile() {
	const directory = mkdtempSync(path.join(tmpdir(), 'bailiff-bundle-'));
	try {
		const plan = path.join(directory, 'plan.json');
		const compiled = path.join(directory, 'compiled');
		writeFileSync(plan, JSON.stringify(samplePlan));
		const program = `const [, bundle, , , , compiled] = process.argv;
process.argv.pop();
const script = new vm.Script(fs.readFileSync(bundle, 'utf8'), {filename: bundle});
process.on('exit', () => fs.writeFileSync(compiled, script.createCachedData()));
script.runInThisContext()(require);`;
		execFileSync(process.execPath, ['-e', program, bundle, 'plan', 'check', plan, compiled], {stdio: ['ignore', 'ignore', 'inherit']});
		return readFileSync(compiled);
	} finally {
		rmSync(directory, {recursive: true, force: true});
	}
}
