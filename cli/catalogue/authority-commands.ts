import type {CommandSpec, OptionSpec} from '../command-spec.ts';
import {targetOptions} from './shared-options.ts';

const authorityOption: OptionSpec = {name: 'authority', kind: 'directory', value: 'DIR', summary: 'the directory of the local authority', isRequired: true};
const loginOption: OptionSpec = {name: 'as', kind: 'text', value: 'LOGIN', summary: 'who does it, an account of the authority', isRequired: true};
const lockTimeoutOption: OptionSpec = {
	name: 'lock-timeout',
	kind: 'seconds',
	value: 'SECONDS',
	summary: 'how long to wait for DIR/.lock (default: refuse at once)',
};

/** The commands that lay out a role and a local authority (authority.md section 1). */
export const authorityCommands: readonly CommandSpec[] = [
	{
		path: 'profile new',
		summary: 'write a new profile: a role at one authority',
		arguments: [],
		options: [
			{name: 'profile', kind: 'directory', value: 'DIR', summary: 'the directory of the profile, made with mode 0700 where it is not there', isRequired: true},
			{
				name: 'kind',
				kind: 'text',
				value: 'KIND',
				summary: 'what the authority is',
				choices: ['local', 'gitea', 'forgejo', 'github', 'gitlab'],
				isRequired: true,
			},
			{name: 'url', kind: 'text', value: 'URL', summary: 'https://host/ of a forge, file:// URL or absolute path of a local authority', isRequired: true},
			{name: 'role', kind: 'text', value: 'ROLE', summary: 'name of the role', isRequired: true},
			{name: 'login', kind: 'text', value: 'LOGIN', summary: 'login of the account that acts', isRequired: true},
			{name: 'account-id', kind: 'whole', value: 'N', summary: 'stable id of that account', isRequired: true},
			{name: 'approver', kind: 'text', value: 'N', summary: 'id of an account whose approval counts', isRepeatable: true},
			{name: 'ca-file', kind: 'file', value: 'FILE', summary: 'certificates (PEM) that a forge is trusted by: a name in DIR, or absolute'},
		],
		example: 'bailiff profile new --profile ~/impl --kind local --url /srv/authority --role impl-agent --login impl-agent --account-id 2 --approver 1',
		load: async () => (await import('../commands/profile-new.ts')).profileNew,
	},
	{
		path: 'local init',
		summary: 'lay out a repository of a local authority from a checkout',
		arguments: [],
		options: [
			authorityOption,
			{name: 'target', kind: 'text', value: 'OWNER/REPOSITORY', summary: 'the repository in one word'},
			...targetOptions.filter(({name}) => name === 'owner' || name === 'repository'),
			{name: 'from', kind: 'directory', value: 'CHECKOUT', summary: 'the checkout whose history it starts with', isRequired: true},
			{name: 'default-branch', kind: 'text', value: 'B', summary: 'the default branch (default: the one that the checkout is on)'},
			{name: 'account', kind: 'text', value: 'LOGIN', summary: 'an account to add (default: maintainer and impl-agent)', isRepeatable: true},
			lockTimeoutOption,
		],
		example: 'bailiff local init --authority /srv/authority --owner acme --repository widget --from /src/widget',
		load: async () => (await import('../commands/local-init.ts')).localInit,
	},
	{
		path: 'local issue',
		summary: 'write an issue of a local authority, or its text anew',
		arguments: [],
		options: [
			authorityOption,
			...targetOptions,
			{name: 'title', kind: 'text', value: 'T', summary: 'its title', isRequired: true},
			{name: 'body-file', kind: 'file', value: 'F', summary: 'a UTF-8 file that holds its body, taken byte for byte', isRequired: true},
			loginOption,
			{name: 'state', kind: 'text', value: 'STATE', summary: 'open (default) or closed', choices: ['open', 'closed']},
			lockTimeoutOption,
		],
		example: 'bailiff local issue --authority /srv/authority --target acme/widget#7 --title "Count words" --body-file issue.md --as maintainer',
		load: async () => (await import('../commands/local-issue.ts')).localIssue,
	},
	{
		path: 'local approve',
		summary: 'approve the body of an issue as it stands now',
		arguments: [],
		options: [
			authorityOption,
			...targetOptions,
			{
				name: 'kind',
				kind: 'text',
				value: 'KIND',
				summary: 'what is approved: implementation, push or pull_request',
				choices: ['implementation', 'push', 'pull_request'],
				isRequired: true,
			},
			loginOption,
			{name: 'base', kind: 'text', value: 'SHA', summary: 'the commit that an approved discovery pinned'},
			{name: 'branch', kind: 'text', value: 'B', summary: 'the branch of a push or pull request'},
			{name: 'head', kind: 'text', value: 'SHA', summary: 'the exact commit of a push'},
			lockTimeoutOption,
		],
		example: 'bailiff local approve --authority /srv/authority --target acme/widget#7 --kind implementation --as maintainer',
		load: async () => (await import('../commands/local-approve.ts')).localApprove,
	},
];
