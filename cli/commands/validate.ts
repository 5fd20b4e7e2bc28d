import {visibleLine} from '../../core/visible-text.ts';
import {layers} from '../../evidence/plan-schema.ts';
import {maxReceiptBytes, parseReceipt} from '../../evidence/receipt.ts';
import type {ValidateAnswer} from '../../evidence/validate.ts';
import {readContractPath, readTarget, toAbsolute} from '../arguments.ts';
import type {CommandCall, Reply} from '../command-spec.ts';
import {exitCodes} from '../exit-codes.ts';
import {readInputFile} from '../input-file.ts';
import {problemLines} from '../problem-lines.ts';
import {validateRun} from '../validation.ts';

/** `bailiff validate`: says whether the evidence of a run holds against the checkout as it is now (E-READ-1). */
export async function validate(call: CommandCall): Promise<Reply> {
	const {options} = call;
	const runId = options.required('run');
	const repoRoot = options.text('repoRoot');
	const requirePassed = options.flag('requirePassed');
	const demanded = options.list('requireLayer');
	const requireLayers = layers.filter(layer => demanded.includes(layer));
	const receipt = options.text('receipt');
	const answer = await validateRun({
		contractPath: readContractPath(options),
		...(repoRoot === null ? {} : {repoRoot: toAbsolute(repoRoot)}),
		target: readTarget(options),
		runId,
		requirePassed,
		requireLayers,
		...(receipt === null ? {} : {receipt: parseReceipt(readInputFile(receipt, maxReceiptBytes).bytes)}),
		rescan: options.flag('rescan'),
	});
	const isYes =
		answer.verdict === 'valid-v3' &&
		(!requirePassed || answer.result === 'passed') &&
		!answer.problems.some(problem => problem.code === 'EVIDENCE_LAYER_NOT_HELD');
	return {
		exitCode: isYes ? exitCodes.yes : exitCodes.no,
		json: {...answer, attempts: answer.attempts === null ? null : {...answer.attempts}, problems: [...answer.problems]},
		text: describe(answer, runId),
	};
}

function describe(answer: ValidateAnswer, runId: string): string {
	const {verdict, result, attempts, problems} = answer;
	const meaning =
		verdict === 'valid-v3'
			? `the evidence of run ${visibleLine(runId, 128)} holds; the run ${result}`
			: `the evidence of run ${visibleLine(runId, 128)} does not hold`;
	return [
		`${verdict}: ${meaning}`,
		...(attempts === null
			? []
			: [`attempts with this plan on this commit: ${attempts.same_plan_and_source} (${attempts.failed} failed, ${attempts.unfinished} never ended)`]),
		...(answer.manifest_sha256 === null ? [] : [`manifest sha256 ${answer.manifest_sha256}`]),
		...problemLines(problems),
	].join('\n');
}
