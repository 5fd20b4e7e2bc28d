import {existsSync, readFileSync} from 'node:fs';
import path from 'node:path';
import test from 'ava';
import {filesBelow, houseFolders, repositoryRoot} from './repository.ts';

type Row = {
	readonly id: string;
	readonly implementedIn: readonly string[];
	readonly testedIn: readonly string[];
	readonly state: string;
	readonly line: string;
};

const read = (file: string): string => readFileSync(path.join(repositoryRoot, file), 'utf8');
const ids: readonly string[] = Object.values<string[]>(JSON.parse(read('test/vectors/contract-ids.json'))).flat();
const idForm = /\b(?:[A-Z]-[A-Z]+(?:3)?|BR|SR-[A-Z]+)-\d+\b/g;
const quoted = (cell: string): string[] => [...cell.matchAll(/`([^`]+)`/g)].map(match => match[1] ?? '');

const rows: Row[] = read('docs/contract.md')
	.split('\n')
	.filter(line => /^\| [A-Z]{1,2}-/.test(line))
	.map(line => {
		const [id = '', , implementedIn = '', testedIn = '', state = ''] = line
			.slice(2, -2)
			.split(' | ')
			.map(cell => cell.trim());
		return {id, implementedIn: quoted(implementedIn), testedIn: quoted(testedIn), state, line};
	});

test('docs/contract.md has exactly one row for every id of the contract, in its order', t => {
	t.deepEqual(
		rows.map(({id}) => id),
		ids,
	);
});

test('docs/contract.md names only files that are there', t => {
	const missing = rows.flatMap(({id, implementedIn, testedIn}) =>
		[...implementedIn, ...testedIn].filter(file => !existsSync(path.join(repositoryRoot, file))).map(file => `${id}: ${file}`),
	);
	t.deepEqual(missing, []);
});

test('docs/contract.md names sources under "implemented in" and tests, benches or vectors under "tested in"', t => {
	const misplaced = rows.flatMap(({id, implementedIn, testedIn}) => [
		...implementedIn.filter(file => !/^(?:core|evidence|native|runner|cache|publish|cli)\//.test(file)).map(file => `${id}: ${file}`),
		...testedIn.filter(file => !/^(?:test|bench)\//.test(file)).map(file => `${id}: ${file}`),
	]);
	t.deepEqual(misplaced, []);
});

test('each state is one of the five words, and all but done and open give a reason', t => {
	const odd = rows.filter(({state}) => !/^(?:done|open(?:: .+)?|partly: .+|diverges: .+|not verified here: .+)$/.test(state)).map(({line}) => line);
	t.deepEqual(odd, []);
});

test('what is done names where it is implemented and where it is tested', t => {
	const bare = rows.filter(({state, implementedIn, testedIn}) => state === 'done' && (implementedIn.length === 0 || testedIn.length === 0)).map(({id}) => id);
	t.deepEqual(bare, []);
});

test('what is done or partly built is named by its id in one of its files', t => {
	const silent = rows
		.filter(({state}) => /^(?:done|partly)/.test(state))
		.filter(({id, implementedIn, testedIn}) => ![...implementedIn, ...testedIn].some(file => mentions(file).has(id)))
		.map(({id}) => id);
	t.deepEqual(silent, []);
});

test('every id that a comment names stands in the contract', t => {
	const groups = new Set(ids.map(id => id.split('-').slice(0, 2).join('-')));
	const unknown = [...houseFolders, 'test', 'bench'].flatMap(folder =>
		['.ts', '.c', '.h'].flatMap(suffix =>
			filesBelow(folder, suffix).flatMap(file =>
				[...mentions(file)].filter(id => groups.has(id.split('-').slice(0, 2).join('-')) && !ids.includes(id)).map(id => `${file}: ${id}`),
			),
		),
	);
	t.deepEqual(unknown, []);
});

/** The contract ids that a file names; `R-END-3, 4`, `R-MECH-1..5` and `R-PLAN-1 to R-PLAN-6` count for each number. */
function mentions(file: string): Set<string> {
	const text = read(file);
	const found = new Set(text.match(idForm) ?? []);
	for (const [, group = '', first = '', last = ''] of text.matchAll(/\b([A-Z]-[A-Z]+3?)-(\d+)(?:\.\.| to \1-)(\d+)/g)) {
		for (let number = Number(first); number <= Number(last); number++) {
			found.add(`${group}-${number}`);
		}
	}

	for (const [, group = '', list = ''] of text.matchAll(/\b([A-Z]-[A-Z]+3?)-\d+((?:, \d+)+)/g)) {
		for (const number of list.match(/\d+/g) ?? []) {
			found.add(`${group}-${number}`);
		}
	}

	for (const id of ids.filter(name => !/\d$/.test(name) && text.includes(name))) {
		found.add(id);
	}

	return found;
}
