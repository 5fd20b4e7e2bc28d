import {BailiffError} from '../../core/errors.ts';
import {visibleLine} from '../../core/visible-text.ts';
import type {InspectAnswer} from '../../evidence/inspect.ts';
import {readContractPath, readTarget, toAbsolute} from '../arguments.ts';
import type {CommandCall, Reply} from '../command-spec.ts';
import {exitCodes} from '../exit-codes.ts';
import {inspectRun} from '../inspection.ts';
import {problemLines} from '../problem-lines.ts';

/** `bailiff evidence inspect`: binds the source of a run to git objects, without a checkout (E-READ-5). Anything but everything bound is a no. */
export async function evidenceInspect(call: CommandCall): Promise<Reply> {
	const {options} = call;
	const mirror = options.text('mirror');
	const bundle = options.text('bundle');
	if (mirror !== null && bundle !== null) {
		throw new BailiffError('CLI_USAGE', '--mirror and --bundle both name where the source is taken from: give one of them');
	}

	const answer = await inspectRun({
		contractPath: readContractPath(options),
		target: readTarget(options),
		runId: options.required('run'),
		...(mirror === null ? {} : {mirror: toAbsolute(mirror)}),
		...(bundle === null ? {} : {bundle: toAbsolute(bundle)}),
	});
	return {
		exitCode: answer.verdict === 'source-bound' ? exitCodes.yes : exitCodes.no,
		json: {
			...answer,
			attempts: answer.attempts === null ? null : {...answer.attempts},
			evidence_gap: answer.evidence_gap.map(gap => ({...gap})),
			problems: [...answer.problems],
		},
		text: describe(answer),
	};
}

const meanings: Readonly<Record<InspectAnswer['verdict'], string>> = {
	'source-bound': 'the evidence holds, and all of its source is bound',
	'evidence-gap': 'nothing is wrong, and not everything could be bound',
	invalid: 'the evidence does not hold',
};

function describe({verdict, result, source, bound, evidence_gap: gaps, manifest_sha256: sha256, problems}: InspectAnswer): string {
	return [
		`${verdict}: ${meanings[verdict]}${result === null ? '' : `; the run ${result}`}`,
		...(source === null ? [] : [`source ${source.sha}, tree ${source.tree}`]),
		...(sha256 === null ? [] : [`manifest sha256 ${sha256}`]),
		...bound.map(item => `  bound         ${visibleLine(item, 200)}`),
		...gaps.map(({item, reason}) => `  evidence gap  ${visibleLine(item, 200)}: ${visibleLine(reason, 1000)}`),
		...problemLines(problems),
	].join('\n');
}
