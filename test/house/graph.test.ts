import {readFileSync} from 'node:fs';
import path from 'node:path';
import test from 'ava';
import {filesBelow, houseFolders, repositoryRoot} from './repository.ts';

/** A cycle in `graph` as the list of its nodes, or null. */
function findCycle(graph: ReadonlyMap<string, ReadonlySet<string>>): string[] | null {
	const done = new Set<string>();
	const visit = (node: string, trail: readonly string[]): string[] | null => {
		if (trail.includes(node)) {
			return [...trail.slice(trail.indexOf(node)), node];
		}

		if (done.has(node)) {
			return null;
		}

		for (const next of graph.get(node) ?? []) {
			const cycle = visit(next, [...trail, node]);
			if (cycle !== null) {
				return cycle;
			}
		}

		done.add(node);
		return null;
	};
	for (const node of graph.keys()) {
		const cycle = visit(node, []);
		if (cycle !== null) {
			return cycle;
		}
	}

	return null;
}

const everyImport = /(?:\bfrom|\bimport)\s*\(?\s*'(\.[^']+)'/g;
/** A command that is loaded when it is asked for may know the catalogue that loads it. */
const notLoadedLater = /(?:\bfrom|^import)\s*'(\.[^']+)'/gm;

/** File -> files that it imports. */
function importGraph(form: RegExp): Map<string, Set<string>> {
	const graph = new Map<string, Set<string>>();
	for (const file of houseFolders.flatMap(folder => filesBelow(folder, '.ts'))) {
		const source = readFileSync(path.join(repositoryRoot, file), 'utf8');
		const specifiers = [...source.matchAll(form)].map(match => match[1] ?? '');
		graph.set(file, new Set(specifiers.map(specifier => path.posix.join(path.posix.dirname(file), specifier))));
	}

	return graph;
}

test('no file imports itself through others, types included, import() left out', t => {
	t.is(findCycle(importGraph(notLoadedLater)), null);
});

test('no folder imports itself through others in any way', t => {
	const folders = new Map<string, Set<string>>();
	for (const [file, targets] of importGraph(everyImport)) {
		const folder = file.split('/')[0] ?? '';
		const others = [...targets].map(target => target.split('/')[0] ?? '').filter(target => target !== folder);
		folders.set(folder, new Set([...(folders.get(folder) ?? []), ...others]));
	}

	t.is(findCycle(folders), null);
});

test('every relative import names a file that is there', t => {
	const graph = importGraph(everyImport);
	t.true(graph.size > 10);
	const missing = [...graph].flatMap(([file, targets]) => [...targets].filter(target => !graph.has(target)).map(target => `${file} -> ${target}`));
	t.deepEqual(missing, []);
});

test('the search finds a planted cycle', t => {
	const graph = new Map([
		['a', new Set(['b'])],
		['b', new Set(['c'])],
		['c', new Set(['b'])],
	]);
	t.deepEqual(findCycle(graph), ['b', 'c', 'b']);
});
