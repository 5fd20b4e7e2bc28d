import {openGit} from '../../cache/index.ts';
import {BailiffError} from '../../core/errors.ts';
import type {RepositoryName} from '../../core/ids.ts';
import {layOutRepository} from '../../publish/local/index.ts';
import {parseRepositoryName, readLockWait, toAbsolute} from '../arguments.ts';
import type {CommandCall, Reply} from '../command-spec.ts';
import {exitCodes} from '../exit-codes.ts';
import type {OptionValues} from '../option-values.ts';
import {withInterrupts} from '../work-signals.ts';

const usualLogins = ['maintainer', 'impl-agent'];

/** `bailiff local init`: lays out a repository of a local authority; what is there is never changed (authority.md section 1). */
export async function localInit(call: CommandCall): Promise<Reply> {
	const {options} = call;
	const logins = options.list('account');
	const directory = toAbsolute(options.required('authority'));
	const ref = readRepository(options);
	const git = await openGit();
	const asked = {
		directory,
		ref,
		checkout: toAbsolute(options.required('from')),
		defaultBranch: options.text('defaultBranch'),
		logins: logins.length === 0 ? usualLogins : logins,
	};
	const made = await withInterrupts(signal => layOutRepository(asked, git, {...readLockWait(options), signal}));
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

function readRepository(options: OptionValues): RepositoryName {
	const target = options.text('target');
	const owner = options.text('owner');
	const repository = options.text('repository');
	if (target === null && owner !== null && repository !== null) {
		return parseRepositoryName(`${owner}/${repository}`);
	}

	if (target === null || owner !== null || repository !== null) {
		throw new BailiffError('CLI_USAGE', 'name the repository by --target OWNER/REPOSITORY, or by --owner and --repository');
	}

	return parseRepositoryName(target);
}
