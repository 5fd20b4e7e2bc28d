import {visibleLine} from '../core/visible-text.ts';
import type {ValidateAnswer} from '../evidence/validate.ts';
import type {ArchiveOptions} from './archive-validation.ts';
import {readContractPath, toAbsolute} from './arguments.ts';
import type {CommandCall, Reply} from './command-spec.ts';
import {exitCodes} from './exit-codes.ts';
import type {OptionValues} from './option-values.ts';
import {problemLines} from './problem-lines.ts';

/** The four flags of the readers of archives (E-READ-2). */
export function readArchiveOptions(options: OptionValues): ArchiveOptions {
	return {
		contractPath: readContractPath(options),
		repoRoot: toAbsolute(options.required('repoRoot')),
		artifactRoot: toAbsolute(options.required('artifactRoot')),
		manifest: options.required('manifest'),
	};
}

/** Their answer; it never reads like that of fresh evidence. */
export function archiveReply({options}: CommandCall, answer: ValidateAnswer, meaning: string): Reply {
	const {verdict, result, problems, manifest_sha256: sha256} = answer;
	const isConsistent = verdict !== 'invalid';
	const run = visibleLine(options.required('artifactRoot'), 500);
	const text = [
		isConsistent ? `${verdict}: ${meaning}${result === null ? '' : `; its manifest says ${result}`}` : `${verdict}: the archive does not hold`,
		...(isConsistent ? ['this is an archive: no new run, no proof for a fresh publication'] : []),
		run,
		...(sha256 === null ? [] : [`manifest sha256 ${sha256}`]),
		...problemLines(problems),
	];
	return {
		exitCode: isConsistent ? exitCodes.yes : exitCodes.no,
		json: {...answer, attempts: null, problems: [...problems]},
		text: text.join('\n'),
	};
}
