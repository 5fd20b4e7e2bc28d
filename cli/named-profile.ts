import {type CommonReport, shellWord} from '../cache/index.ts';
import {toAbsolute} from './arguments.ts';
import type {OptionValues} from './option-values.ts';

const placeholder = / --profile DIR$/;

/** The report with the profile of this very call in the commands that it hands a person; without one `--profile DIR` is left to be filled in. */
export function withNamedProfile<Report extends CommonReport>(report: Report, options: OptionValues): Report {
	const profile = options.text('profile');
	if (profile === null) {
		return report;
	}

	const named = ` --profile ${shellWord(toAbsolute(profile))}`;
	return {...report, problems: report.problems.map(problem => ({...problem, remedy: problem.remedy?.replace(placeholder, () => named) ?? null}))};
}
