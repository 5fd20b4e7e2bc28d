import * as z from 'zod';
import {commandIdForm, commitIdForm, issueForm, noNulForm, ownerForm, repositoryForm} from './forms.ts';

/** The PATH of a plan that names none (shapes.ts). */
export const defaultPath = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

/** The layers of the sandbox (S-REC). */
export const layers = ['fs_write', 'fs_read', 'network', 'pid', 'env', 'memory', 'processes', 'syscalls'] as const;
/** One layer of the sandbox. */
export type Layer = (typeof layers)[number];

const positive = z.int().min(1);

/** The only home of limits (R-PLAN-6). */
export const limitsSchema = z.strictObject({
	memory_bytes: positive.exactOptional(),
	cpu_seconds: positive.exactOptional(),
	processes: positive.exactOptional(),
	open_files: positive.exactOptional(),
	file_size_bytes: positive.exactOptional(),
	tmp_bytes: positive.exactOptional(),
});
/** Limits as a plan writes them. */
export type Limits = z.infer<typeof limitsSchema>;

const anyPath = noNulForm.min(1);

/** A sandbox profile as a plan writes it (S-PLAN). */
export const sandboxProfileSchema = z.strictObject({
	mode: z.enum(['required', 'off']),
	filesystem: z
		.strictObject({
			root: z.enum(['host-ro', 'minimal']).exactOptional(),
			read: z.array(anyPath).exactOptional(),
			write: z.array(anyPath).exactOptional(),
			deny: z.array(noNulForm.regex(/^(?:\/|~\/)/)).exactOptional(),
			git: z.enum(['readonly', 'hidden']).exactOptional(),
		})
		.exactOptional(),
	network: z.enum(['none', 'loopback', 'host']).exactOptional(),
	nested: z.boolean().exactOptional(),
	require: z.array(z.enum(layers)).exactOptional(),
});
/** A sandbox profile as a plan writes it. */
export type SandboxProfile = z.infer<typeof sandboxProfileSchema>;

/** Variables of a command. */
export const environmentForm = z.record(z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/), noNulForm).superRefine(
	(env, context) => {
		if (Object.hasOwn(env, 'PATH')) {
			context.addIssue({code: 'custom', message: 'PATH is set by the "path" of the plan, not by env', path: ['PATH']});
		}
	},
	{when: ({value}) => isRecord(value)},
);

/** The words of a command. */
export const argvForm = z
	.array(noNulForm)
	.min(1)
	.max(4096)
	.refine(argv => argv[0] !== '', {message: 'argv[0] must not be empty', when: ({value}) => Array.isArray(value)});

/** A directory relative to the checkout. */
export const cwdForm = noNulForm.refine(isCwd, 'a cwd is relative to the checkout, without empty, "." or ".." components (the single "." is the checkout)');

/** Where executables are looked for. */
export const searchPathForm = noNulForm.refine(path => path.split(':').every(entry => entry.startsWith('/')), 'every entry of path must be absolute');

/** One command of a plan. */
export const planCommandSchema = z
	.strictObject({
		id: commandIdForm,
		argv: argvForm,
		timeout_seconds: z.number().min(1e-9).max(3600),
		max_output_bytes: z.int().min(0).max(1_048_576),
		cwd: cwdForm.exactOptional(),
		env: environmentForm.exactOptional(),
		expected_exit_code: z.int().min(0).max(255).exactOptional(),
		purpose: z.enum(['check', 'red', 'green']).exactOptional(),
		leak_timeout_seconds: z.number().min(0).max(3600).exactOptional(),
		streams: z.enum(['combined', 'split']).exactOptional(),
		produced: z.boolean().exactOptional(),
		sandbox: sandboxProfileSchema.exactOptional(),
		limits: limitsSchema.exactOptional(),
	})
	.refine(command => command.purpose !== 'red' || (command.expected_exit_code ?? 0) !== 0, {
		message: 'a red command must state an expected_exit_code other than 0',
		path: ['purpose'],
		when: ({value}) => isRecord(value),
	});
/** One command as a plan writes it. */
export type PlanCommand = z.infer<typeof planCommandSchema>;

/** verification-plan/v3 (R-PLAN). */
export const planSchema = z.strictObject({
	schema: z.literal('verification-plan/v3'),
	owner: ownerForm,
	repository: repositoryForm,
	issue: issueForm,
	source_sha: commitIdForm,
	commands: z
		.array(planCommandSchema)
		.min(1)
		.max(256)
		.superRefine(refuseTwins, {when: ({value}) => Array.isArray(value)}),
	fail_fast: z.boolean().exactOptional(),
	path: searchPathForm.exactOptional(),
	sandbox: sandboxProfileSchema.exactOptional(),
	limits: limitsSchema.exactOptional(),
});
/** A plan as it was written. */
export type Plan = z.infer<typeof planSchema>;

/** The keys of a plan whose number may have a fraction. */
export const planDecimalKeys = ['timeout_seconds', 'leak_timeout_seconds'] as const;

/** Runs beside other faults too (`when`), so that a person sees every problem at once: nothing about `commands` is certain but the array. */
function refuseTwins(commands: readonly unknown[], context: {addIssue: (issue: {code: 'custom'; message: string; path: PropertyKey[]}) => void}): void {
	const firstIndex = new Map<string, number>();
	for (const [index, command] of commands.entries()) {
		const id = isRecord(command) ? command['id'] : undefined;
		if (typeof id !== 'string') {
			continue;
		}

		const first = firstIndex.get(id);
		if (first === undefined) {
			firstIndex.set(id, index);
		} else {
			context.addIssue({code: 'custom', message: `every id must be unique, /commands/${first} has the same one`, path: [index, 'id']});
		}
	}
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
	return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isCwd(cwd: string): boolean {
	return cwd === '.' || cwd.split('/').every(part => part !== '' && part !== '.' && part !== '..');
}
