import {homedir} from 'node:os';
import {readPartialTarget, toAbsolute} from '../arguments.ts';
import type {CommandCall, Reply} from '../command-spec.ts';
import {exitCodes} from '../exit-codes.ts';
import {newPlan} from '../first-plan/new-plan.ts';
import {writeNewFile} from '../new-file.ts';

/** `bailiff plan new`: a first plan for a checkout, on stdout or in a new file outside it (R-PLAN-7). */
export async function planNew(call: CommandCall): Promise<Reply> {
	const repoRoot = toAbsolute(call.options.required('repoRoot'));
	const output = call.options.text('output');
	const {plan, bytes, notes} = await newPlan({
		repoRoot,
		target: readPartialTarget(call.options),
		searchPath: process.env['PATH'] ?? '',
		home: homeDirectory(),
		hasSandbox: true,
	});
	const written = output === null ? null : writeNewFile(output, bytes, repoRoot);
	return {
		exitCode: exitCodes.yes,
		json: {plan, output: written, notes: [...notes]},
		text: written === null ? bytes : `wrote ${written}: ${plan.commands.map(({id}) => id).join(', ')}`,
		...(notes.length > 0 ? {note: notes.map(note => `note: ${note}`).join('\n')} : {}),
	};
}

/** Null for a user without HOME and without an entry in the account files, as in many containers. */
function homeDirectory(): string | null {
	try {
		return homedir();
	} catch {
		return null;
	}
}
