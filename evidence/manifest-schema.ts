import * as z from 'zod';
import {
	commandIdForm,
	commitIdForm,
	countForm,
	errnoForm,
	issueForm,
	noNulForm,
	ownerForm,
	relPathForm,
	repositoryForm,
	rfc3339Form,
	runIdForm,
	sha256Form,
} from './forms.ts';
import {layers} from './plan-schema.ts';

/** The five words of R-STATUS-1. */
export const statuses = ['completed', 'timeout', 'output_limit', 'cleanup_failed', 'descendant_cleanup'] as const;
/** How the execution of a command ended. */
export type Status = (typeof statuses)[number];

/** What made the ladder of R-END-2 start. */
export const triggers = ['timeout', 'output_limit', 'descendant', 'internal'] as const;
/** The cause of a status; null only with completed. */
export type Trigger = (typeof triggers)[number];

/** Signal names as shapes.ts writes them: SigName or SIGRTMIN+N, never SIGRTMAX-N. */
export const signalForm = z.string().regex(/^SIG(?:[A-Z][A-Z0-9]{1,9}|32|33|RTMIN(?:\+(?:[1-9]|[12]\d|30))?)$/);

/** R-STATUS-2. */
export const terminationSchema = z.strictObject({
	term_sent: z.boolean(),
	kill_sent: z.boolean(),
	direct_child_reaped: z.boolean(),
	group_cleanup_completed: z.boolean(),
});
/** The flags of R-STATUS-2, set from the system calls that were made. */
export type Termination = z.infer<typeof terminationSchema>;

/** A published output and its redactions. */
export const outputFileSchema = z.strictObject({
	path: relPathForm,
	sha256: sha256Form,
	bytes: countForm,
	seen_bytes: countForm,
	complete: z.boolean(),
	redactions: z.array(z.strictObject({offset: countForm, length: z.literal(10), rule: z.string().min(1).max(128)})).max(1000),
});
/** A published output and its redactions. */
export type OutputFile = z.infer<typeof outputFileSchema>;

/** One line of a trace file (R-OUT-3). */
export const traceLineSchema = z.strictObject({
	t_us: countForm,
	kind: z.enum(['out', 'err', 'sample']),
	offset: countForm.nullable(),
	length: countForm.nullable(),
	cpu_us: countForm.nullable(),
	rss_bytes: countForm.nullable(),
	processes: countForm.nullable(),
});
/** One line of a trace file. */
export type TraceLine = z.infer<typeof traceLineSchema>;

/** CPU time and memory of a command (R-RES-1). */
export const resourcesSchema = z.strictObject({
	user_us: countForm,
	system_us: countForm,
	max_rss_bytes: countForm,
	peak_group_rss_bytes: countForm.nullable(),
	samples: countForm,
});
/** CPU time and memory of a command. */
export type Resources = z.infer<typeof resourcesSchema>;

/** How one limit bound (S-REC). */
export const limitBinding = z.enum(['cgroup2', 'cgroup1', 'rlimit', 'mount', 'none']);

/** What the sandbox really did (S-REC). */
export const sandboxRecordSchema = z.strictObject({
	mode: z.literal('required'),
	layers: z.record(z.enum(layers), z.enum(['kernel', 'partial', 'none'])),
	network: z.enum(['none', 'loopback', 'host']),
	mounts_sha256: sha256Form,
	filter_sha256: sha256Form,
	limits: z.strictObject({
		memory_bytes: limitBinding,
		cpu_seconds: limitBinding,
		processes: limitBinding,
		open_files: limitBinding,
		file_size_bytes: limitBinding,
		tmp_bytes: limitBinding,
	}),
	leftovers: countForm,
	quiet: z.boolean(),
});
/** What the sandbox really did. */
export type SandboxRecord = z.infer<typeof sandboxRecordSchema>;

/** One executed command. */
export const commandRecordSchema = z.strictObject({
	index: countForm,
	id: commandIdForm,
	purpose: z.enum(['check', 'red', 'green']),
	argv: z.array(noNulForm).min(1).max(4096),
	cwd: noNulForm.min(1),
	env_names: z.array(z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/)),
	executable: z.strictObject({path: noNulForm.min(1), sha256: sha256Form.nullable()}),
	expected_exit_code: z.int().min(0).max(255),
	exit_code: z.int().min(0).max(255).nullable(),
	signal: signalForm.nullable(),
	timeout_seconds: z.number().min(1e-9).max(3600),
	max_output_bytes: z.int().min(0).max(1_048_576),
	execution_status: z.enum(statuses),
	termination: terminationSchema,
	trigger: z.enum(triggers).nullable(),
	escaped: countForm,
	started_at_ms: countForm,
	duration_ms: countForm,
	output: outputFileSchema,
	extra_outputs: z.array(outputFileSchema).max(1),
	trace: z.strictObject({path: relPathForm, sha256: sha256Form, bytes: countForm}),
	resources: resourcesSchema.nullable(),
	sandbox: sandboxRecordSchema.nullable(),
	passed: z.boolean(),
});
/** One executed command. */
export type CommandRecord = z.infer<typeof commandRecordSchema>;

const pointer = z.string();

/** Nine JSON Pointers into the manifest (E-V3-4). */
export const claimSchema = z.strictObject({
	id: commandIdForm,
	argv: pointer,
	cwd: pointer,
	expected_exit_code: pointer,
	exit_code: pointer,
	output_path: pointer,
	output_sha256: pointer,
	timeout_seconds: pointer,
	execution_status: pointer,
	termination: pointer,
});
/** Nine JSON Pointers into the manifest. */
export type Claim = z.infer<typeof claimSchema>;

/** Why a run ended before the end of its plan. */
export const stopSchema = z.strictObject({
	reason: z.enum(['interrupted', 'secret_detected', 'source_drift', 'internal_error', 'start_failed', 'command_failed']),
	command: z.strictObject({index: countForm, id: commandIdForm}).nullable(),
	errno: errnoForm.nullable(),
	stage: z.enum(['chdir', 'resolve', 'exec', 'interpreter', 'fork']).nullable(),
	signal: z.enum(['SIGINT', 'SIGTERM', 'SIGHUP']).nullable(),
	termination: terminationSchema.nullable(),
});
/** Why a run ended before the end of its plan. */
export type Stop = z.infer<typeof stopSchema>;

/** evidence-manifest/v3 (E-V3). */
export const manifestSchema = z.strictObject({
	schema: z.literal('evidence-manifest/v3'),
	run_id: runIdForm,
	target: z.strictObject({owner: ownerForm, repository: repositoryForm, issue: issueForm}),
	source: z.strictObject({
		object_format: z.literal('sha1'),
		checkout: z.enum(['canonical', 'other']),
		sha: commitIdForm,
		tree: commitIdForm,
		head_before: commitIdForm,
		head_after: commitIdForm,
		clean_before: z.literal(true),
		tracked_changes_after: countForm,
	}),
	plan: z.strictObject({path: z.literal('plan.json'), sha256: sha256Form, bytes: countForm}),
	producer: z.strictObject({name: z.literal('bailiff'), version: z.string().min(1).max(64), role: z.string().min(1).max(64).nullable()}),
	environment: z.strictObject({
		platform: z.literal('linux'),
		arch: z.string().min(1).max(32),
		kernel: z.string().min(1).max(128),
		node: z.string().min(1).max(64),
		containment: z.enum(['descent', 'pid-namespace']),
		sandbox: z.strictObject({
			mode: z.enum(['required', 'off', 'mixed']),
			tool: z.strictObject({path: z.string().min(1), version: z.string().min(1).max(64), sha256: sha256Form, setuid: z.boolean()}).nullable(),
		}),
	}),
	secret_scan: z.strictObject({rules: countForm, rules_sha256: sha256Form, redactions: countForm}),
	ledger: z.strictObject({n: z.int().min(1), sha256: sha256Form}),
	started_at: rfc3339Form,
	finished_at: rfc3339Form,
	commands: z.array(commandRecordSchema).max(256),
	claims: z.array(claimSchema).max(256),
	stop: stopSchema.nullable(),
	result: z.enum(['passed', 'failed']),
});
/** evidence-manifest/v3. */
export type Manifest = z.infer<typeof manifestSchema>;

/** The keys of a manifest whose number may have a fraction. */
export const manifestDecimalKeys = ['timeout_seconds'] as const;
