// The architecture as three tables. test/house/rules.js enforces them, docs/architecture.md explains them.

/** Folder -> folders that it may import. What is absent is forbidden. */
export const layers = {
	core: [],
	evidence: ['core'],
	native: ['core'],
	runner: ['core', 'evidence', 'native'],
	cache: ['core', 'evidence', 'native', 'runner'],
	publish: ['core', 'evidence', 'runner', 'cache'],
	cli: ['core', 'evidence', 'runner', 'cache', 'publish'],
	bench: ['core', 'evidence', 'native', 'runner', 'cache', 'publish', 'cli', 'test'],
	test: ['core', 'evidence', 'native', 'runner', 'cache', 'publish', 'cli', 'bench'],
};

/** Module -> the only files or folders (path prefixes) that may import it. A package without a row may be imported by tests and benches only. */
export const owners = {
	zod: ['evidence/', 'cache/', 'publish/', 'cli/'],
	commander: ['cli/'],
	execa: ['runner/spawn.ts'],
	'tree-kill': ['runner/'],
	pidusage: ['runner/'],
	undici: ['publish/http.ts'],
	'isomorphic-git': ['cache/witness.ts'],
	'node:child_process': ['runner/spawn.ts'],
	'node:cluster': [],
	'node:dgram': [],
	'node:http': [],
	'node:http2': [],
	'node:https': [],
	'node:module': ['native/', 'cli/main.ts'],
	'node:net': ['cache/broker'],
	'node:process': [],
	'node:tls': [],
	'node:vm': [],
	'node:worker_threads': [],
};

/** Folder -> the only Node modules that it may import, for the folders that an auditor reads alone. */
export const builtins = {
	core: ['node:crypto', 'node:fs', 'node:fs/promises', 'node:path'],
	evidence: ['node:crypto', 'node:fs', 'node:fs/promises', 'node:path', 'node:zlib'],
	native: ['node:module', 'node:path'],
};
