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
	{
		path: 'evidence attest',
		summary: 'put your name to a run: sign its manifest (SSH key) or its in-toto statement (Ed25519 key)',
		arguments: [],
		options: [
			...rootOptions,
			...targetOptions,
			runOption,
			{
				name: 'key',
				kind: 'file',
				value: 'FILE',
				summary: 'an OpenSSH key (or the .pub file of one that an agent holds), or an Ed25519 key in PEM; mode 0600',
				isRequired: true,
			},
			{name: 'output', kind: 'file', value: 'FILE', summary: 'a new file (default: stdout)'},
		],
		example: 'bailiff evidence attest --root /srv/bailiff --target acme/widget#7 --run 20260801-120000-4f2a9c1e --key ~/.ssh/id_ed25519 --output manifest.sig',
		load: async () => (await import('../commands/evidence-attest.ts')).evidenceAttest,
	},
	{
		path: 'evidence verify-attestation',
		summary: 'say whether somebody whom you trust signed exactly this manifest; offline',
		arguments: [],
		options: [
			{name: 'manifest', kind: 'file', value: 'FILE', summary: 'the manifest.json', isRequired: true},
			{name: 'attestation', kind: 'file', value: 'FILE', summary: 'what evidence attest wrote', isRequired: true},
			{name: 'allowed-signers', kind: 'file', value: 'FILE', summary: 'whom you trust, in the form of ssh-keygen(1), ALLOWED SIGNERS'},
			{name: 'signer', kind: 'text', value: 'NAME', summary: 'only this one of the allowed signers'},
			{name: 'trusted-key', kind: 'file', value: 'FILE', summary: 'an Ed25519 public key in PEM that you trust', isRepeatable: true},
			{name: 'require-passed', kind: 'flag', summary: 'the signed record of a failed run is a no, too'},
		],
		example: 'bailiff evidence verify-attestation --manifest manifest.json --attestation manifest.sig --allowed-signers ~/.config/bailiff/signers',
		load: async () => (await import('../commands/evidence-verify-attestation.ts')).evidenceVerifyAttestation,
	},
];
