#!/usr/bin/env node
import {version} from '../core/version.ts';
import {guardCrashes, guardStdout, writeFailure, writeReply} from './output.ts';

async function main(argv: readonly string[]): Promise<void> {
	// An odd umask would take from us what we make ourselves; what it keeps from others stays kept.
	process.umask(process.umask() & 0o077);
	guardStdout();
	let isJson = asksForJson(argv);
	guardCrashes(isJson);
	try {
		if (argv[0] === '--version') {
			process.exitCode = writeReply({exitCode: 0, json: {version}, text: version}, isJson);
			return;
		}

		const {parseCommandLine} = await import('./program.ts');
		const parsed = parseCommandLine(argv);
		if (parsed.kind === 'text') {
			process.exitCode = writeReply({exitCode: 0, json: {help: parsed.text}, text: parsed.text}, isJson);
			return;
		}

		({isJson} = parsed.call);
		const command = await parsed.spec.load();
		process.exitCode = writeReply(await command(parsed.call), isJson);
	} catch (error) {
		process.exitCode = writeFailure(error, isJson);
	}
}

// A command line that cannot be parsed must still be answered in JSON.
function asksForJson(argv: readonly string[]): boolean {
	const end = argv.indexOf('--');
	return argv.slice(0, end === -1 ? argv.length : end).includes('--json');
}

void main(process.argv.slice(2));
