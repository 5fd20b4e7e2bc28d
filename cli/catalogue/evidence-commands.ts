import type {CommandSpec} from '../command-spec.ts';
import {rootOptions, runOption, targetOptions} from './shared-options.ts';

/** The commands that read evidence (E-VIEW-1). */
export const evidenceCommands: readonly CommandSpec[] = [
	{
		path: 'evidence list',
		summary: 'list the runs of an issue',
		arguments: [],
		options: [...rootOptions, ...targetOptions, {name: 'incomplete', kind: 'flag', summary: 'list what killed runs left behind instead'}],
		example: 'bailiff evidence list --root /srv/bailiff --target acme/widget#7',
		load: async () => (await import('../commands/evidence-list.ts')).evidenceList,
	},
	{
		path: 'evidence show',
		summary: 'show one run, or print one output of it',
		arguments: [],
		options: [
			...rootOptions,
			...targetOptions,
			runOption,
			{name: 'output', kind: 'text', value: 'ID', summary: 'print the output of this command'},
			{name: 'stream', kind: 'text', value: 'STREAM', summary: 'out (default; both streams where they were combined) or err', choices: ['out', 'err']},
		],
		example: 'bailiff evidence show --root /srv/bailiff --target acme/widget#7 --run 20260801-120000-4f2a9c1e --output unit',
		load: async () => (await import('../commands/evidence-show.ts')).evidenceShow,
	},
	{
		path: 'evidence schema',
		summary: 'print the JSON Schema of a manifest, of a line of the ledger, or of a report',
		arguments: [],
		options: [
			{
				name: 'document',
				kind: 'text',
				value: 'DOCUMENT',
				summary: 'manifest (default), ledger-line or report',
				choices: ['manifest', 'ledger-line', 'report'],
			},
			{name: 'version', kind: 'text', value: 'VERSION', summary: 'v3 (default), or of an archive: v2, v1', choices: ['v3', 'v2', 'v1']},
		],
		example: 'bailiff evidence schema > evidence-manifest.schema.json',
		load: async () => (await import('../commands/evidence-schema.ts')).evidenceSchema,
	},
	{
		path: 'evidence report',
		summary: 'make a report of one run for people or other tools',
		arguments: [],
		options: [
			...rootOptions,
			...targetOptions,
			runOption,
			{
				name: 'format',
				kind: 'text',
				value: 'FORMAT',
				summary: 'html, markdown, junit, ctrf or json',
				isRequired: true,
				choices: ['html', 'markdown', 'junit', 'ctrf', 'json'],
			},
			{name: 'output', kind: 'file', value: 'FILE', summary: 'a new file (default: stdout)'},
		],
		example: 'bailiff evidence report --root /srv/bailiff --target acme/widget#7 --run 20260801-120000-4f2a9c1e --format html --output report.html',
		load: async () => (await import('../commands/evidence-report.ts')).evidenceReport,
	},
];
