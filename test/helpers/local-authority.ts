import {mkdirSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import type {ExecutionContext} from 'ava';
import {type Authority, createProfile, type Git, openGit, type Profile, readProfile} from '../../cache/index.ts';
import type {Target} from '../../core/ids.ts';
import {addLocalApproval, authorityUrl, layOutRepository, openLocalAuthority, writeLocalIssue} from '../../publish/local/index.ts';
import {makeRepository, type TestRepository} from './repository.ts';
import {temporaryDirectory} from './temporary-directory.ts';

/** A local authority with one repository, an open issue that is approved, and the profile of the one who works on it. */
export type LocalGround = {
	readonly base: string;
	readonly directory: string;
	readonly target: Target;
	/** The bare repository, and the checkout that it was made of. */
	readonly gitDir: string;
	readonly source: TestRepository;
	readonly profile: Profile;
	readonly git: Git;
	readonly authority: Authority;
};

/** The body of the issue; its line endings are mixed on purpose. */
export const issueBody = 'Line one\r\nLine two\n';

/** Lays out acme/widget with issue 7 by the same functions as the command line: `maintainer` (1) approved, `impl-agent` (2) acts. */
export async function localGround(t: ExecutionContext, files: Readonly<Record<string, string>> = {'a.txt': 'a\n'}): Promise<LocalGround> {
	const base = temporaryDirectory(t);
	const directory = path.join(base, 'authority');
	const target = {owner: 'acme', repository: 'widget', issue: 7};
	const source = makeRepository(path.join(base, 'source'), files);
	const git = await openGit();
	await layOutRepository({directory, ref: target, checkout: source.path, defaultBranch: null, logins: ['maintainer', 'impl-agent']}, git);
	await writeLocalIssue({directory, target}, {title: 'Count words', body: issueBody, login: 'maintainer', state: 'open'});
	await addLocalApproval({directory, target}, {kind: 'implementation', login: 'maintainer', base: null, branch: null, headSha: null});
	const profile = newProfile(path.join(base, 'profile'), {kind: 'local', url: authorityUrl(directory)});
	const gitDir = path.join(directory, 'acme/widget/repository.git');
	return {base, directory, target, gitDir, source, profile, git, authority: openLocalAuthority(profile, git)};
}

/** Writes and reads a profile of impl-agent (2), whose approver is maintainer (1). */
export function newProfile(directory: string, provider: {readonly kind: 'local' | 'gitea'; readonly url: string; readonly ca_file?: string}): Profile {
	createProfile(directory, {schema: 'bailiff.profile/v1', role: 'impl-agent', provider: {...provider}, login: 'impl-agent', account_id: 2, approvers: [1]});
	if (provider.kind === 'gitea') {
		writeFileSync(path.join(directory, '.env'), 'GITEA_TOKEN=0123456789abcdef\n', {mode: 0o600});
	}

	return readProfile(directory);
}

/** Overwrites a record of the authority with this text, as a person with an editor would. */
export function writeRecordText(ground: LocalGround, name: string, text: string): void {
	const file = path.join(ground.directory, 'acme/widget', name);
	mkdirSync(path.dirname(file), {recursive: true});
	writeFileSync(file, text, {mode: 0o600});
}
