import {giveCanonicalMode} from '../../cache/index.ts';
import {BailiffError} from '../../core/errors.ts';
import {readContractPath} from '../arguments.ts';
import type {CommandCall, Reply} from '../command-spec.ts';
import {exitCodes} from '../exit-codes.ts';

/** `bailiff cache chmod`: gives a place of the layout its canonical mode; the only change of a mode that there is (C-TRUST-7). */
export async function cacheChmod(call: CommandCall): Promise<Reply> {
	const mode = call.options.required('mode');
	if (!/^0?[0-7]{3}$/.test(mode)) {
		throw new BailiffError('CLI_USAGE', `--mode takes three octal digits, for example 0700, not ${JSON.stringify(mode)}`);
	}

	const change = giveCanonicalMode(readContractPath(call.options), call.options.required('path'), Number.parseInt(mode, 8));
	return {
		exitCode: exitCodes.yes,
		json: {command: 'cache chmod', status: 'ok', error: null, problems: [], locks: [], complete: true, change: {...change}},
		text: change.before === change.after ? `${change.path} has mode ${change.after} already` : `${change.path}: ${change.before} to ${change.after}`,
	};
}
