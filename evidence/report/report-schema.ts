import * as z from 'zod';
import {commandIdForm, countForm, issueForm, noNulForm, ownerForm, relPathForm, repositoryForm, rfc3339Form, runIdForm, sha256Form} from '../forms.ts';
import {claimSchema, commandRecordSchema, manifestSchema, stopSchema} from '../manifest-schema.ts';

/** Part of one stored output as text that is safe to show: no control sequence, no byte that could steer a terminal or a page. */
const shownTextSchema = z.strictObject({
	head: z.string(),
	/** Empty where the head is the whole file. */
	tail: z.string(),
	omitted_bytes: countForm,
});

/** One stored output in a report. */
export const reportOutputSchema = z.strictObject({
	stream: z.enum(['out', 'err']),
	path: relPathForm,
	sha256: sha256Form,
	bytes: countForm,
	seen_bytes: countForm,
	complete: z.boolean(),
	redactions: countForm,
	/** Why nothing of it is shown; null where something is. */
	withheld: z.enum(['unreadable', 'digest', 'secret']).nullable(),
	text: shownTextSchema.nullable(),
});
/** One stored output in a report. */
export type ReportOutput = z.infer<typeof reportOutputSchema>;

const sampleSchema = z.strictObject({
	/** Since the start of the command. */
	t_ms: countForm,
	/** Thousandths of one processor since the sample before. */
	cpu_millicores: countForm,
	rss_bytes: countForm,
	processes: countForm,
});
/** CPU and memory of a command at one moment. */
export type ReportSample = z.infer<typeof sampleSchema>;

/** One command of the plan in a report. */
export const reportCommandSchema = z.strictObject({
	index: countForm,
	id: commandIdForm,
	purpose: z.enum(['check', 'red', 'green']),
	argv: z.array(noNulForm),
	cwd: z.string(),
	expected_exit_code: countForm,
	timeout_seconds: z.number(),
	outcome: z.enum(['passed', 'failed', 'error', 'not_executed']),
	/** Why it did not pass; null where it did. */
	message: z.string().nullable(),
	/** Null: not executed, or not to its end. */
	record: commandRecordSchema.nullable(),
	claim: claimSchema.nullable(),
	outputs: z.array(reportOutputSchema),
	samples: z.array(sampleSchema),
});
/** One command of the plan in a report. */
export type ReportCommand = z.infer<typeof reportCommandSchema>;

/** bailiff-report/v1: the one view of a run from which every format is rendered. A view, no evidence: it can be checked against the run and nothing else. */
export const reportSchema = z.strictObject({
	schema: z.literal('bailiff-report/v1'),
	generator: z.strictObject({name: z.literal('bailiff'), version: z.string()}),
	/** unsound: the record contradicts itself or its ledger, whatever result it names. */
	verdict: z.enum(['passed', 'failed', 'unsound']),
	reasons: z.array(z.string()),
	run_id: runIdForm,
	target: z.strictObject({owner: ownerForm, repository: repositoryForm, issue: issueForm}),
	source: manifestSchema.shape.source,
	started_at: rfc3339Form,
	finished_at: rfc3339Form,
	duration_ms: countForm,
	manifest: z.strictObject({sha256: sha256Form, bytes: countForm}),
	plan: z.strictObject({sha256: sha256Form, bytes: countForm}),
	producer: manifestSchema.shape.producer,
	environment: manifestSchema.shape.environment,
	secret_scan: manifestSchema.shape.secret_scan,
	stop: stopSchema.nullable(),
	attempts: z.strictObject({same_plan_and_source: countForm, failed: countForm, unfinished: countForm}).nullable(),
	counts: z.strictObject({planned: countForm, executed: countForm, passed: countForm, failed: countForm, not_executed: countForm}),
	commands: z.array(reportCommandSchema),
	/** Why the run did not pass where no command says so: formats of tests carry it as a case of its own, so that they cannot look green. */
	run_fault: z.string().nullable(),
	problems: z.array(z.strictObject({code: z.string(), path: z.string().nullable(), pointer: z.string(), message: z.string()})),
});
/** bailiff-report/v1. */
export type Report = z.infer<typeof reportSchema>;
