import {visibleLine} from '../../core/visible-text.ts';
import {readContractPath, toAbsolute} from '../arguments.ts';
import type {CommandCall, Reply} from '../command-spec.ts';
import {diagnose} from '../diagnosis.ts';
import {exitCodes} from '../exit-codes.ts';

/** `bailiff doctor`: what works here, and how to mend what does not. */
export async function doctor(call: CommandCall): Promise<Reply> {
	const {options} = call;
	const profile = options.text('profile');
	const namesRoot = options.text('root') !== null || options.text('contractPath') !== null;
	const {isFit, probes} = await diagnose(namesRoot ? readContractPath(options) : null, profile === null ? null : toAbsolute(profile));
	const width = Math.max(...probes.map(({id}) => id.length));
	const lines = probes.flatMap(({id, state, seen, mend}) => [
		`${state.padEnd(4)}  ${id.padEnd(width)}  ${visibleLine(seen, 500)}`,
		...(mend === null ? [] : [`${' '.repeat(width + 8)}${visibleLine(mend, 500)}`]),
	]);
	const verdict = isFit ? 'a run can work here' : 'no run can work here before the failures above are mended';
	return {
		exitCode: isFit ? exitCodes.yes : exitCodes.no,
		json: {fit: isFit, probes: [...probes]},
		text: [...lines, '', verdict].join('\n'),
	};
}
