import {initRoot, rootOf} from '../../cache/root.ts';
import {readContractPath} from '../arguments.ts';
import type {CommandCall, Reply} from '../command-spec.ts';
import {exitCodes} from '../exit-codes.ts';

/** `bailiff init --root DIR`: lays out a new root; an existing one is checked and never touched (C-ROOT-6). */
export async function init(call: CommandCall): Promise<Reply> {
	const {root} = rootOf(readContractPath(call.options));
	const {paths, outcome} = initRoot(root);
	return {
		exitCode: exitCodes.yes,
		json: {root: paths.root, contract_path: paths.contract, outcome},
		text: outcome === 'created' ? `laid out the root ${paths.root}\ncontract ${paths.contract}` : `${paths.root} is a root already: checked, nothing changed`,
	};
}
