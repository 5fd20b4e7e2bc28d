import {type FoundCommand, firstTimeouts} from './found-command.ts';
import type {ProjectFiles} from './project-files.ts';

const wanted = [
	['lint', firstTimeouts.lint],
	['check', firstTimeouts.test],
	['test', firstTimeouts.test],
] as const;

/** The targets lint, check and test of the makefile that make itself would take. */
export function makeCommands(files: ProjectFiles): FoundCommand[] {
	for (const from of ['GNUmakefile', 'makefile', 'Makefile']) {
		const text = files.read(from);
		if (text !== null) {
			const targets = explicitTargets(text);
			return wanted
				.filter(([target]) => targets.has(target))
				.map(([target, timeoutSeconds]) => ({id: `make-${target}`, argv: ['make', target], timeoutSeconds, from, helpers: ['sh'], needsNetwork: false}));
		}
	}

	return [];
}

/** Names before a colon at the start of a line: rules, not assignments (`x := y`), recipes or special targets (`.PHONY`). */
function explicitTargets(makefile: string): ReadonlySet<string> {
	const joined = makefile.replaceAll('\\\n', ' ');
	const rules = joined.matchAll(/^([\w.%/ -]+?)\s*::?(?![:=])/gm);
	return new Set([...rules].flatMap(([, names]) => (names ?? '').split(/\s+/)).filter(name => !name.startsWith('.')));
}
