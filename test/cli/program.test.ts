import test from 'ava';
import {array, assert, constantFrom, oneof, property, string} from 'fast-check';
import {catalogue, groupSummaries} from '../../cli/catalogue/index.ts';
import {type Parsed, parseCommandLine} from '../../cli/program.ts';
import {BailiffError} from '../../core/errors.ts';

function call(argv: readonly string[]): Extract<Parsed, {kind: 'call'}> {
	const parsed = parseCommandLine(argv);
	if (parsed.kind !== 'call') {
		throw new Error('not a call');
	}

	return parsed;
}

for (const [title, argv, message] of [
	['no command', [], /a command is missing, one of: .*\bplan\b/],
	['half a command', ['plan'], /a command is missing, one of: check\b/],
	['a mistyped command', ['paln'], /unknown command 'paln'\n\(Did you mean plan\?\)/],
	['a mistyped subcommand', ['plan', 'chek', 'x'], /unknown command 'chek'\n\(Did you mean check\?\)/],
	['a mistyped option', ['plan', 'check', '--jsno', 'x'], /unknown option '--jsno'\n\(Did you mean --json\?\)/],
	['an abbreviated option', ['plan', 'check', '--js', 'x'], /unknown option '--js'/],
	['a missing argument', ['plan', 'check'], /missing required argument 'PLAN'/],
	['one argument too many', ['plan', 'check', 'a', 'b'], /too many arguments/],
	['an unknown shell', ['completion', 'tcsh'], /Allowed choices are bash, zsh, fish/],
	['a value for a flag', ['plan', 'check', '--json=yes', 'x'], /unknown option '--json=yes'/],
] as const) {
	test(`${title} is wrong use`, t => {
		t.throws(() => parseCommandLine(argv), {code: 'CLI_USAGE', message});
	});
}

test('options may stand before and after arguments, and -- ends them', t => {
	t.true(call(['plan', 'check', 'x', '--json']).call.isJson);
	t.true(call(['plan', 'check', '--json', 'x']).call.isJson);
	const literal = call(['plan', 'check', '--', '--json']).call;
	t.false(literal.isJson);
	t.deepEqual(literal.arguments, ['--json']);
});

for (const spec of catalogue) {
	test(`bailiff ${spec.path} has a module, an example of itself and a help that shows it`, async t => {
		t.is(typeof (await spec.load()), 'function');
		t.regex(spec.example, new RegExp(`bailiff ${spec.path}\\b`));
		const help = parseCommandLine([...spec.path.split(' '), '--help']);
		t.true(help.kind === 'text' && help.text.includes(spec.example) && help.text.includes('--json'));
		t.deepEqual(parseCommandLine(['help', ...spec.path.split(' ')]), help);
	});
}

test('every group has a summary and the other way round', t => {
	const groups = new Set(catalogue.filter(({path}) => path.includes(' ')).map(({path}) => path.split(' ')[0] ?? ''));
	t.deepEqual([...groups].toSorted(), Object.keys(groupSummaries).toSorted());
});

test('whatever stands on a command line is a call, a help or wrong use, and never anything else', t => {
	const words = catalogue.flatMap(({path, options}) => [...path.split(' '), ...options.map(({name}) => `--${name}`)]);
	const word = oneof(constantFrom(...words, '--json', '--help', '--version', '--', '-', '', '--=', '--root='), string());
	assert(
		property(array(word, {maxLength: 8}), argv => {
			try {
				return ['call', 'text'].includes(parseCommandLine(argv).kind);
			} catch (error) {
				return error instanceof BailiffError && error.code === 'CLI_USAGE';
			}
		}),
		{numRuns: 500},
	);
	t.pass();
});
