import type {OptionSpec} from '../command-spec.ts';

/** How every command names its root (C-ROOT-1). */
export const rootOptions: readonly OptionSpec[] = [
	{name: 'root', kind: 'directory', value: 'DIR', summary: 'the root, absolute'},
	{name: 'contract-path', kind: 'file', value: 'FILE', summary: 'the same by its contract file DIR/harness/operations/repository-cache.md'},
];

/** How every command names an issue (C-ID-1). */
export const targetOptions: readonly OptionSpec[] = [
	{name: 'target', kind: 'text', value: 'OWNER/REPOSITORY#ISSUE', summary: 'the issue in one word'},
	{name: 'owner', kind: 'text', value: 'OWNER', summary: 'owner of the repository'},
	{name: 'repository', kind: 'text', value: 'REPOSITORY', summary: 'name of the repository'},
	{name: 'issue', kind: 'whole', value: 'N', summary: 'number of the issue'},
];

/** The checkout that a command works on or compares with. */
export const repoRootOption: OptionSpec = {name: 'repo-root', kind: 'directory', value: 'CHECKOUT', summary: 'the checkout', isRequired: true};

/** The run that a command reads. */
export const runOption: OptionSpec = {name: 'run', kind: 'text', value: 'ID', summary: 'the run id', isRequired: true};

/** The role that a command acts in (authority.md section 2). */
export const profileOption: OptionSpec = {name: 'profile', kind: 'directory', value: 'DIR', summary: 'the role, and the authority that it speaks to'};

/** The lease that a command works under (BR-7). */
export const handleOption: OptionSpec = {
	name: 'handle',
	kind: 'file',
	value: 'FILE',
	summary: 'work under the lease of this broker handle; no issue lock is taken',
};
