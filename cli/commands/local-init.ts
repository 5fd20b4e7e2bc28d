import {openGit} from '../../cache/index.ts';
import {layOutRepository} from '../../publish/local/index.ts';
import {readLockWait, toAbsolute} from '../arguments.ts';
import type {CommandCall, Reply} from '../command-spec.ts';
import {exitCodes} from '../exit-codes.ts';

const usualLogins = ['maintainer', 'impl-agent'];

/** `bailiff local init`: lays out a repository of a local authority; what is there is never changed (authority.md section 1). */
export async function localInit(call: CommandCall): Promise<Reply> {
	const {options} = call;
	const logins = options.list('account');
	const directory = toAbsolute(options.required('authority'));
	const ref = {owner: options.required('owner'), repository: options.required('repository')};
	const made = await layOutRepository(
		{
			directory,
			ref,
			checkout: toAbsolute(options.required('from')),
			defaultBranch: options.text('defaultBranch'),
			logins: logins.length === 0 ? usualLogins : logins,
		},
		await openGit(),
		readLockWait(options),
	);
	const accounts = made.accounts.map(({id, login}) => `${id} ${login}`).join(', ');
	return {
		exitCode: exitCodes.yes,
		json: {
			authority: directory,
			url: made.url,
			owner: ref.owner,
			repository: ref.repository,
			origin: made.originUrl,
			default_branch: {name: made.defaultBranch, sha: made.sha},
			accounts: made.accounts.map(({id, login}) => ({id, login})),
		},
		text: [
			`laid out ${ref.owner}/${ref.repository} at ${made.originUrl}`,
			`${made.defaultBranch} ${made.sha}`,
			`accounts ${accounts}`,
			'',
			'next: "bailiff local issue", "bailiff local approve", "bailiff profile new"',
		].join('\n'),
	};
}
