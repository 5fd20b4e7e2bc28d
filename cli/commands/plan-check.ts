import type {CommandCall, Reply} from '../command-spec.ts';
import {exitCodes} from '../exit-codes.ts';
import {checkPlan} from '../plan-verdict.ts';
import {problemLines} from '../problem-lines.ts';

/** `bailiff plan check PLAN`: says whether a file is a well-formed plan and names every fault (R-PLAN-7). */
export async function planCheck(call: CommandCall): Promise<Reply> {
	const [file = ''] = call.arguments;
	const {verdict, plan, sha256, problems} = checkPlan(file);
	const json = {verdict, plan_sha256: sha256, problems: [...problems]};
	if (plan === null) {
		const count = problems.length === 1 ? 'one problem' : `${problems.length} problems`;
		return {exitCode: exitCodes.no, json, text: `${file} is no plan: ${count}\n${problemLines(problems).join('\n')}`};
	}

	const {owner, repository, issue, source_sha: sourceSha, commands} = plan;
	const count = commands.length === 1 ? 'one command' : `${commands.length} commands`;
	const text = `${file} is a well-formed plan: ${count} on ${sourceSha.slice(0, 12)} for ${owner}/${repository}#${issue}\nsha256 ${sha256}`;
	return {exitCode: exitCodes.yes, json, text};
}
