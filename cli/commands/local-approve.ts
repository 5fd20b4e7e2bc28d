import {addLocalApproval} from '../../publish/local/index.ts';
import {readLockWait, readTarget, toAbsolute} from '../arguments.ts';
import type {CommandCall, Reply} from '../command-spec.ts';
import {exitCodes} from '../exit-codes.ts';
import type {OptionValues} from '../option-values.ts';

/** `bailiff local approve`: adds an approval of the body as it stands now (authority.md section 1). */
export async function localApprove(call: CommandCall): Promise<Reply> {
	const {options} = call;
	const target = readTarget(options);
	const approval = await addLocalApproval(
		{directory: toAbsolute(options.required('authority')), target, wait: readLockWait(options)},
		{
			kind: readKind(options),
			login: options.required('as'),
			base: options.text('base'),
			branch: options.text('branch'),
			headSha: options.text('head'),
		},
	);
	return {
		exitCode: exitCodes.yes,
		json: {...target, approval},
		text: `approval ${approval.id} (${approval.kind}) of ${target.owner}/${target.repository}#${target.issue} for the body ${approval.body_sha256}`,
	};
}

/** The parser let no other word through. */
function readKind(options: OptionValues): 'implementation' | 'push' | 'pull_request' {
	const kind = options.required('kind');
	return kind === 'push' || kind === 'pull_request' ? kind : 'implementation';
}
