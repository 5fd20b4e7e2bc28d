import {Argument, Command, CommanderError, InvalidArgumentError, Option} from 'commander';
import {BailiffError} from '../core/errors.ts';
import {version} from '../core/version.ts';
import {catalogue, groupSummaries} from './catalogue/index.ts';
import type {CommandCall, CommandSpec, OptionSpec} from './command-spec.ts';
import {OptionValues} from './option-values.ts';

/** What a command line asks for: a command, or a text such as help. */
export type Parsed = {readonly kind: 'call'; readonly spec: CommandSpec; readonly call: CommandCall} | {readonly kind: 'text'; readonly text: string};

/**
 * Reads a command line (without node and script) strictly: whatever is not in the catalogue is refused with the nearest name.
 *
 * Refuses: CLI_USAGE.
 */
export function parseCommandLine(argv: readonly string[]): Parsed {
	let call: Parsed | null = null;
	let help = '';
	const program = createProgram(
		found => {
			call = found;
		},
		text => {
			help += text;
		},
	);
	try {
		program.parse(argv[0] === 'help' ? [...argv.slice(1), '--help'] : argv, {from: 'user'});
	} catch (error) {
		if (!(error instanceof CommanderError)) {
			throw error;
		}

		if (error.code === 'commander.helpDisplayed') {
			return {kind: 'text', text: help};
		}

		throw new BailiffError('CLI_USAGE', error.code === 'commander.help' ? missingCommand(argv) : usageMessage(error.message), {cause: error});
	}

	if (call === null) {
		throw new BailiffError('CLI_USAGE', missingCommand(argv));
	}

	return call;
}

function createProgram(onCall: (parsed: Parsed) => void, onHelp: (text: string) => void): Command {
	const program = new Command('bailiff');
	program
		.description('Runs a verification plan against an exact commit, keeps its commands in custody and leaves evidence that a reviewer can check.')
		.exitOverride()
		.configureOutput({writeOut: onHelp, writeErr: onHelp, outputError: () => {}})
		.enablePositionalOptions()
		.version(version, '--version', 'print the version')
		.helpOption('--help', 'print this help')
		.helpCommand(false)
		.addHelpText('after', `\nbailiff help COMMAND prints the help of a command.\n\nExample:\n  $ ${catalogue[0]?.example ?? ''}`);
	for (const spec of catalogue) {
		addCommand(program, spec, onCall);
	}

	return program;
}

function addCommand(program: Command, spec: CommandSpec, onCall: (parsed: Parsed) => void): void {
	const [first = '', second] = spec.path.split(' ');
	const parent = second === undefined ? program : (program.commands.find(command => command.name() === first) ?? createGroup(program, first));
	const command = parent.command(second ?? first).summary(spec.summary);
	command.description(`${capitalised(spec.summary)}.`);
	for (const argument of spec.arguments) {
		const added = new Argument(argument.name, argument.summary);
		command.addArgument(argument.choices === undefined ? added : added.choices(argument.choices));
	}

	for (const option of [...spec.options, jsonOption]) {
		command.addOption(createOption(option));
	}

	command.helpOption('--help', 'print this help').addHelpText('after', `\nExample:\n  $ ${spec.example}`);
	command.action(() => {
		const options = new OptionValues(command.opts());
		onCall({kind: 'call', spec, call: {options, arguments: command.args, isJson: options.flag('json')}});
	});
}

function createGroup(program: Command, name: string): Command {
	const group = program.command(name).description(capitalised(groupSummaries[name] ?? name));
	return group
		.helpOption('--help', 'print this help')
		.helpCommand(false)
		.summary(groupSummaries[name] ?? name);
}

const jsonOption: OptionSpec = {name: 'json', kind: 'flag', summary: 'print one JSON object on stdout and nothing else there'};

function createOption(spec: OptionSpec): Option {
	const option = new Option(spec.value === undefined ? `--${spec.name}` : `--${spec.name} <${spec.value}>`, spec.summary);
	option.makeOptionMandatory(spec.isRequired === true);
	if (spec.choices !== undefined) {
		option.choices(spec.choices);
	}

	if (spec.kind !== 'flag') {
		option.argParser<unknown>((text, previous) => parseValue(spec, text, previous));
	}

	return option;
}

// A single option that is given twice is a mistake that must not be settled by order.
function parseValue(spec: OptionSpec, text: string, previous: unknown): unknown {
	if (spec.choices !== undefined && !spec.choices.includes(text)) {
		throw new InvalidArgumentError(`Allowed choices are ${spec.choices.join(', ')}.`);
	}

	if (spec.isRepeatable === true) {
		return [...toTexts(previous), text];
	}

	if (previous !== undefined) {
		throw new InvalidArgumentError('It is given twice.');
	}

	switch (spec.kind) {
		case 'whole':
			return parseNumber(text, /^[1-9]\d{0,15}$/, 'A whole number from 1 was expected.');
		case 'seconds':
			return parseNumber(text, /^\d{1,6}(?:\.\d{1,3})?$/, 'A number of seconds from 0 to 999999 was expected.');
		case 'flag':
		case 'text':
		case 'file':
		case 'directory':
			return text;
		default:
			return spec.kind satisfies never;
	}
}

function toTexts(value: unknown): string[] {
	return Array.isArray(value) ? value.filter(item => typeof item === 'string') : [];
}

function parseNumber(text: string, form: RegExp, expectation: string): number {
	if (!form.test(text) || (!text.includes('.') && !Number.isSafeInteger(Number(text)))) {
		throw new InvalidArgumentError(expectation);
	}

	return Number(text);
}

function usageMessage(message: string): string {
	return message.replace(/^error: /, '').trimEnd();
}

function missingCommand(argv: readonly string[]): string {
	const group = argv[0] !== undefined && Object.hasOwn(groupSummaries, argv[0]) ? argv[0] : null;
	const names = catalogue.flatMap(({path}) => {
		const [first = '', second] = path.split(' ');
		return group === null ? [first] : second !== undefined && first === group ? [second] : [];
	});
	return `a command is missing, one of: ${[...new Set(names)].join(', ')}`;
}

function capitalised(text: string): string {
	return `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
}
