import path from 'node:path';
import {createProfile, type ProfileDocument, providerKindOf, tokenKeyOf} from '../../cache/index.ts';
import {BailiffError} from '../../core/errors.ts';
import {authorityUrl} from '../../publish/local/index.ts';
import {toAbsolute} from '../arguments.ts';
import type {CommandCall, Reply} from '../command-spec.ts';
import {exitCodes} from '../exit-codes.ts';

/** `bailiff profile new`: writes `profile.json`; nothing that exists is changed (authority.md section 2). */
export async function profileNew(call: CommandCall): Promise<Reply> {
	const {options} = call;
	const directory = toAbsolute(options.required('profile'));
	const kind = providerKindOf(options.required('kind'));
	if (kind === null) {
		throw new BailiffError('CLI_USAGE', '--kind is local, gitea, forgejo, github or gitlab');
	}

	const url = options.required('url');
	const caFile = options.text('caFile');
	const document: ProfileDocument = {
		schema: 'bailiff.profile/v1',
		role: options.required('role'),
		provider: {kind, url: kind === 'local' && path.isAbsolute(url) ? authorityUrl(path.resolve(url)) : url, ...(caFile === null ? {} : {ca_file: caFile})},
		login: options.required('login'),
		account_id: options.number('accountId') ?? 0,
		approvers: options.list('approver').map(readId),
	};
	createProfile(directory, document);
	const key = tokenKeyOf(kind);
	const next = key === null ? null : `write the line ${key}=VALUE into ${path.join(directory, '.env')}, mode 0600`;
	return {
		exitCode: exitCodes.yes,
		json: {profile: directory, role: document.role, provider: {kind, url: document.provider.url}, token_key: key},
		text: `wrote the profile ${directory} (${document.role} at ${document.provider.url})`,
		...(next === null ? {} : {note: `next: ${next}`}),
	};
}

function readId(text: string): number {
	if (!/^[1-9]\d{0,14}$/.test(text)) {
		throw new BailiffError('CLI_USAGE', `--approver takes the id of an account, a whole number from 1, not ${JSON.stringify(text)}`);
	}

	return Number(text);
}
