import {BailiffError} from '../../core/errors.ts';
import {catalogue, groupSummaries} from '../catalogue/index.ts';
import type {CommandCall, Reply} from '../command-spec.ts';
import {completionScript, shells} from '../completion-script.ts';

/** `bailiff completion SHELL`: prints the completion script of a shell. */
export async function completion(call: CommandCall): Promise<Reply> {
	const shell = shells.find(name => name === call.arguments[0]);
	if (shell === undefined) {
		throw new BailiffError('CLI_USAGE', `the shell must be one of ${shells.join(', ')}`);
	}

	const script = completionScript(shell, catalogue, groupSummaries);
	return {exitCode: 0, json: {script}, text: script};
}
