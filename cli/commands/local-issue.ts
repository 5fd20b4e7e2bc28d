import {issueBodySha256} from '../../cache/index.ts';
import {BailiffError} from '../../core/errors.ts';
import {writeLocalIssue} from '../../publish/local/index.ts';
import {readLockWait, readTarget, toAbsolute} from '../arguments.ts';
import type {CommandCall, Reply} from '../command-spec.ts';
import {exitCodes} from '../exit-codes.ts';
import {readInputFile} from '../input-file.ts';

const maxBodyBytes = 1_000_000;

/** `bailiff local issue`: writes an issue of a local authority; one that is there gets this text and a new time (authority.md section 1). */
export async function localIssue(call: CommandCall): Promise<Reply> {
	const {options} = call;
	const target = readTarget(options);
	const {issue, isNew} = await writeLocalIssue(
		{directory: toAbsolute(options.required('authority')), target, wait: readLockWait(options)},
		{
			title: options.required('title'),
			body: readBody(options.required('bodyFile')),
			login: options.required('as'),
			state: options.text('state') === 'closed' ? 'closed' : 'open',
		},
	);
	const digest = issueBodySha256(issue);
	return {
		exitCode: exitCodes.yes,
		json: {...target, created: isNew, state: issue.state, updated_at: issue.updated_at, body_sha256: digest},
		text: `${isNew ? 'wrote' : 'changed'} ${target.owner}/${target.repository}#${target.issue} (${issue.state}), body ${digest}`,
	};
}

/** The bytes as they are: no line ending changed, no byte order mark taken away, so that the digest is the file's. */
function readBody(file: string): string {
	const {bytes} = readInputFile(file, maxBodyBytes);
	try {
		return new TextDecoder('utf-8', {fatal: true, ignoreBOM: true}).decode(bytes);
	} catch (error) {
		throw new BailiffError('CORE_JSON_UTF8', `${JSON.stringify(file)} is not valid UTF-8: an issue is text`, {cause: error});
	}
}
