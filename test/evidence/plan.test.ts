import {readdirSync, readFileSync} from 'node:fs';
import {fileURLToPath} from 'node:url';
import test from 'ava';
import {BailiffError} from '../../core/errors.ts';
import {parsePlan, resolvePlan} from '../../evidence/plan.ts';
import {defaultPath} from '../../evidence/plan-schema.ts';

const vectors = fileURLToPath(new URL('../../../test/vectors/plans/', import.meta.url));

/** What each bad plan must be refused with: a code of the parser, or the pointers of all its problems. */
const refusals: Readonly<Record<string, string | readonly string[]>> = {
	'bad-argv-empty': ['/commands/0/argv'],
	'bad-argv-nul': ['/commands/0/argv/1'],
	'bad-argv-string': ['/commands/0/argv'],
	'bad-bom': 'CORE_JSON_BOM',
	'bad-branch-as-sha': ['/source_sha'],
	'bad-cwd-absolute': ['/commands/0/cwd'],
	'bad-cwd-traversal': ['/commands/0/cwd'],
	'bad-deep': 'CORE_JSON_DEPTH',
	'bad-duplicate-id': ['/commands/1/id'],
	'bad-duplicate-key': 'CORE_JSON_DUPLICATE_KEY',
	'bad-duplicate-key-escaped': 'CORE_JSON_DUPLICATE_KEY',
	'bad-empty': 'CORE_JSON_EMPTY',
	'bad-exit-code-256': ['/commands/0/expected_exit_code'],
	'bad-invalid-utf8': 'CORE_JSON_UTF8',
	'bad-issue-boolean': ['/issue'],
	'bad-issue-zero': ['/issue'],
	'bad-lone-surrogate': 'CORE_JSON_LONE_SURROGATE',
	'bad-no-commands': ['/commands'],
	'bad-output-boolean': ['/commands/0/max_output_bytes'],
	'bad-output-fraction': 'CORE_JSON_NUMBER_FORM',
	'bad-output-missing': ['/commands/0/max_output_bytes'],
	'bad-output-negative': ['/commands/0/max_output_bytes'],
	'bad-output-over': ['/commands/0/max_output_bytes'],
	'bad-owner-slash': ['/owner'],
	'bad-owner-traversal': ['/owner'],
	'bad-proto-key': 'CORE_JSON_PROTO_KEY',
	'bad-raw-control': 'CORE_JSON_CONTROL_CHARACTER',
	'bad-short-sha': ['/source_sha'],
	'bad-timeout-boolean': ['/commands/0/timeout_seconds'],
	'bad-timeout-infinite': 'CORE_JSON_NUMBER_RANGE',
	'bad-timeout-missing': ['/commands/0/timeout_seconds'],
	'bad-timeout-nan': 'CORE_JSON_SYNTAX',
	'bad-timeout-negative': ['/commands/0/timeout_seconds'],
	'bad-timeout-null': ['/commands/0/timeout_seconds'],
	'bad-timeout-over': ['/commands/0/timeout_seconds'],
	'bad-timeout-string': ['/commands/0/timeout_seconds'],
	'bad-timeout-zero': ['/commands/0/timeout_seconds'],
	'bad-trailing-bytes': 'CORE_JSON_TRAILING_BYTES',
	'bad-unknown-key': ['/commands/0/retry'],
	'bad-upper-sha': ['/source_sha'],
};

const command = {id: 'unit', argv: ['true'], timeout_seconds: 5, max_output_bytes: 100};
const plan = {
	schema: 'verification-plan/v3',
	owner: 'acme',
	repository: 'widget',
	issue: 7,
	source_sha: '0123456789abcdef0123456789abcdef01234567',
	commands: [command],
};

function parse(value: unknown): ReturnType<typeof parsePlan> {
	return parsePlan(Buffer.from(JSON.stringify(value)));
}

function refusal(run: () => unknown): BailiffError {
	try {
		run();
	} catch (error) {
		if (error instanceof BailiffError) {
			return error;
		}

		throw error;
	}

	throw new Error('the plan was accepted');
}

type Found = {readonly code: string; readonly pointer: string; readonly message: string};

function problemsOf(value: unknown): Found[] {
	const error = refusal(() => parse(value));
	return error.details['problems'] as unknown as Found[];
}

test('every bad plan of the vectors has a row here', t => {
	const names = readdirSync(vectors).filter(name => name.startsWith('bad-'));
	t.deepEqual(names.map(name => name.replace('.json', '')).toSorted(), Object.keys(refusals).toSorted());
});

for (const [name, expected] of Object.entries(refusals)) {
	test(`parsePlan() refuses ${name}`, t => {
		const error = refusal(() => parsePlan(readFileSync(`${vectors}${name}.json`)));
		if (typeof expected === 'string') {
			t.is<string, string>(error.code, expected);
		} else {
			t.is(error.code, 'EVIDENCE_PLAN_INVALID');
			t.deepEqual(
				(error.details['problems'] as unknown as Found[]).map(problem => problem.pointer),
				expected,
			);
		}
	});
}

for (const name of readdirSync(vectors).filter(found => found.startsWith('good-'))) {
	test(`parsePlan() accepts ${name}`, t => {
		t.is(parsePlan(readFileSync(vectors + name)).issue, 7);
	});
}

test('parsePlan() collects every problem, also duplicate ids and PATH beside wrong types, and throws once', t => {
	const found = problemsOf({
		...plan,
		issue: true,
		extra: 1,
		commands: [
			{...command, env: {PATH: '/bin', B: 1}, argv: ['', 'x']},
			{...command, timeout_seconds: undefined, purpose: 'red'},
		],
	});
	t.deepEqual(found.map(problem => `${problem.code} ${problem.pointer}`).toSorted(), [
		'EVIDENCE_MISSING_KEY /commands/1/timeout_seconds',
		'EVIDENCE_SCHEMA /commands/0/argv',
		'EVIDENCE_SCHEMA /commands/0/env/B',
		'EVIDENCE_SCHEMA /commands/0/env/PATH',
		'EVIDENCE_SCHEMA /commands/1/id',
		'EVIDENCE_SCHEMA /commands/1/purpose',
		'EVIDENCE_SCHEMA /issue',
		'EVIDENCE_UNKNOWN_KEY /extra',
	]);
});

const messages: ReadonlyArray<{readonly title: string; readonly value: unknown; readonly pattern: RegExp}> = [
	{
		title: 'names the limit and what to write for a timeout over it',
		value: {...plan, commands: [{...command, timeout_seconds: 3601}]},
		pattern: /at most 3600, found 3601: write a number of seconds above 0/,
	},
	{title: 'names the unknown key', value: {...plan, retries: 3}, pattern: /the key "retries" is not known here/},
	{
		title: 'names the missing key',
		value: {...plan, commands: [{id: 'a', argv: ['a'], timeout_seconds: 1}]},
		pattern: /"max_output_bytes" is missing: write a whole number of bytes/,
	},
	{title: 'says that a commit is 40 digits', value: {...plan, source_sha: 'main'}, pattern: /40 lower-case hexadecimal digits/},
	{title: 'says how a shell line is written', value: {...plan, commands: [{...command, argv: 'make test'}]}, pattern: /\["sh", "-c", "\.\.\."\]/},
	{title: 'points to the first of two equal ids', value: {...plan, commands: [command, command]}, pattern: /\/commands\/0 has the same one/},
];

for (const {title, value, pattern} of messages) {
	test(`a refused plan ${title}`, t => {
		t.regex(refusal(() => parse(value)).message, pattern);
	});
}

test('a refused plan never quotes a string of the plan', t => {
	const error = refusal(() => parse({...plan, source_sha: 'correct-horse-battery', commands: [{...command, purpose: 'staple-staple', cwd: '/correct-horse'}]}));
	t.notRegex(JSON.stringify(error), /horse|staple/);
});

test('a plan with a thousand problems shows ten of them in the message and all in the details', t => {
	const error = refusal(() => parse({...plan, commands: [{...command, argv: Array.from({length: 1000}, () => 1)}]}));
	t.is((error.details['problems'] as unknown as Found[]).length, 1000);
	t.regex(error.message, /1000 problems.*and 990 more$/s);
});

const edges: ReadonlyArray<{readonly title: string; readonly change: object; readonly isGood: boolean}> = [
	{title: 'a timeout of 1e-9 seconds', change: {timeout_seconds: 1e-9}, isGood: true},
	{title: 'a timeout of 3600 seconds', change: {timeout_seconds: 3600}, isGood: true},
	{title: 'a timeout below 1e-9 seconds', change: {timeout_seconds: 9e-10}, isGood: false},
	{title: 'a leak timeout of 0', change: {leak_timeout_seconds: 0}, isGood: true},
	{title: 'a leak timeout of null', change: {leak_timeout_seconds: null}, isGood: false},
	{title: 'a bound of 0 bytes', change: {max_output_bytes: 0}, isGood: true},
	{title: '4096 arguments', change: {argv: Array.from({length: 4096}, () => 'x')}, isGood: true},
	{title: '4097 arguments', change: {argv: Array.from({length: 4097}, () => 'x')}, isGood: false},
	{title: 'an empty argument after the first', change: {argv: ['x', '']}, isGood: true},
	{title: 'an empty first argument', change: {argv: ['']}, isGood: false},
	{title: 'a cwd with an empty component', change: {cwd: 'a//b'}, isGood: false},
	{title: 'a cwd that ends in a slash', change: {cwd: 'a/'}, isGood: false},
	{title: 'a cwd "./a"', change: {cwd: './a'}, isGood: false},
	{title: 'an empty cwd', change: {cwd: ''}, isGood: false},
	{title: 'a cwd with a component of three dots', change: {cwd: '.../a'}, isGood: true},
	{title: 'a variable whose name starts with a digit', change: {env: {'1A': 'x'}}, isGood: false},
	{title: 'a variable with NUL in its value', change: {env: {A: 'x\u0000'}}, isGood: false},
	{title: 'a variable named constructor', change: {env: {constructor: 'x'}}, isGood: true},
	{title: 'HOME in env', change: {env: {HOME: '/x'}}, isGood: true},
	{title: 'PATH in env', change: {env: {PATH: '/x'}}, isGood: false},
	{title: 'a red command that expects 0', change: {purpose: 'red'}, isGood: false},
	{title: 'a red command that expects 1', change: {purpose: 'red', expected_exit_code: 1}, isGood: true},
	{title: 'an id of 129 characters', change: {id: 'a'.repeat(129)}, isGood: false},
	{title: 'an id that starts with a dot', change: {id: '.a'}, isGood: false},
	{title: 'a deny path below the home directory', change: {sandbox: {mode: 'required', filesystem: {deny: ['~/.ssh']}}}, isGood: true},
	{title: 'a relative deny path', change: {sandbox: {mode: 'required', filesystem: {deny: ['.ssh']}}}, isGood: false},
	{title: 'a sandbox without a mode', change: {sandbox: {}}, isGood: false},
	{title: 'a limit of 0', change: {limits: {processes: 0}}, isGood: false},
];

for (const {title, change, isGood} of edges) {
	test(`a plan with ${title} is ${isGood ? 'accepted' : 'refused'}`, t => {
		const value = {...plan, commands: [{...command, ...change}]};
		if (isGood) {
			t.notThrows(() => parse(value));
		} else {
			t.is(refusal(() => parse(value)).code, 'EVIDENCE_PLAN_INVALID');
		}
	});
}

test('a plan of more than 1 MiB is refused before it is parsed', t => {
	t.is(refusal(() => parsePlan(Buffer.alloc(1_048_577, 0x20))).code, 'CORE_JSON_TOO_LARGE');
});

test('a plan path with a relative entry is refused', t => {
	t.deepEqual(
		problemsOf({...plan, path: '/bin:usr/bin'}).map(problem => problem.pointer),
		['/path'],
	);
	t.deepEqual(
		problemsOf({...plan, path: '/bin:'}).map(problem => problem.pointer),
		['/path'],
	);
});

test('resolvePlan() fills every default of shapes.ts', t => {
	const resolved = resolvePlan(parse(plan));
	t.deepEqual(resolved, {
		owner: 'acme',
		repository: 'widget',
		issue: 7,
		source_sha: plan.source_sha,
		fail_fast: true,
		path: defaultPath,
		sandboxMode: 'required',
		commands: [
			{
				index: 0,
				...command,
				cwd: '.',
				env: {},
				expected_exit_code: 0,
				purpose: 'check',
				leak_timeout_seconds: null,
				streams: 'combined',
				produced: false,
				sandbox: {
					mode: 'required',
					filesystem: {root: 'host-ro', read: [], write: ['.'], deny: [], git: 'readonly'},
					network: 'loopback',
					nested: false,
					require: ['fs_write', 'network', 'pid', 'env', 'syscalls'],
				},
				limits: {memory_bytes: 2_147_483_648, cpu_seconds: null, processes: 512, open_files: 1024, file_size_bytes: null, tmp_bytes: 1_073_741_824, asked: []},
			},
		],
	});
});

test("a command's own sandbox and limits replace the plan's as a whole", t => {
	const resolved = resolvePlan(
		parse({
			...plan,
			sandbox: {mode: 'required', network: 'host', filesystem: {write: ['out']}},
			limits: {processes: 5, cpu_seconds: 9},
			commands: [command, {...command, id: 'own', sandbox: {mode: 'off'}, limits: {open_files: 64}}],
		}),
	);
	const [first, second] = resolved.commands;
	t.is(resolved.sandboxMode, 'mixed');
	t.deepEqual(first?.sandbox.require, ['fs_write', 'pid', 'env', 'syscalls']);
	t.deepEqual(first?.sandbox.filesystem, {root: 'host-ro', read: [], write: ['out'], deny: [], git: 'readonly'});
	t.deepEqual(first?.limits.asked, ['cpu_seconds', 'processes']);
	t.deepEqual(second?.limits, {
		memory_bytes: null,
		cpu_seconds: null,
		processes: null,
		open_files: 64,
		file_size_bytes: null,
		tmp_bytes: null,
		asked: ['open_files'],
	});
	t.deepEqual(second?.sandbox.filesystem.write, ['.']);
});
