import {build} from 'esbuild';

/** What can be reached from an entry by static imports: npm packages and Node modules. */
export type Closure = {readonly packages: readonly string[]; readonly builtins: readonly string[]};

/**
 * Follows the static value imports of `entry` (relative to `root`) to their end on esbuild's own graph.
 * Lint sees one import, this sees the whole chain. Dynamic imports are not followed.
 */
export async function closureOf(root: string, entry: string): Promise<Closure> {
	const {metafile} = await build({
		absWorkingDir: root,
		entryPoints: [entry],
		bundle: true,
		splitting: true,
		write: false,
		metafile: true,
		platform: 'node',
		format: 'esm',
		outdir: 'unused',
		logLevel: 'silent',
		treeShaking: false,
	});
	const packages = new Set<string>();
	const builtins = new Set<string>();
	const seen = new Set<string>();
	const visit = (file: string): void => {
		if (seen.has(file)) {
			return;
		}

		seen.add(file);
		const name = /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(file)?.[1];
		if (name !== undefined) {
			packages.add(name);
			return;
		}

		for (const edge of metafile.inputs[file]?.imports ?? []) {
			if (edge.kind === 'dynamic-import') {
				continue;
			}

			if (edge.external === true) {
				builtins.add(edge.path);
			} else {
				visit(edge.path);
			}
		}
	};
	visit(entry);
	return {packages: [...packages].toSorted(), builtins: [...builtins].toSorted()};
}
