import {readFileSync} from 'node:fs';

import {errnoOf} from '../core/errors.ts';
import {type GroupMembers, loadNative} from '../native/index.ts';

/** Sources whose accounts can all be listed. With any other (ldap, sss, nis, compat ...) a member may exist that no list shows. */
const listableSources = new Set(['files', 'systemd']);

/**
 * Why group `gid` is not proved to have the account `uid` as its only member, or null where it is.
 *
 * Members are the accounts whose primary group it is and those on its member lists. Source: C-TRUST-1.
 */
export function groupProblem(gid: number, uid: number): string | null {
	const unlisted = unlistableSources(readNameServiceSwitch());
	if (unlisted.length > 0) {
		return `the members of group ${gid} cannot be established: accounts here may also come from ${unlisted.join(', ')} (/etc/nsswitch.conf)`;
	}

	return membersProblem(gid, uid, loadNative().groupMembers(gid));
}

/** The same judgement over members already read. Source: C-TRUST-1. */
export function membersProblem(gid: number, uid: number, members: GroupMembers): string | null {
	if (members.names.length === 0) {
		return `group ${gid} has no name on this system`;
	}

	const group = `group ${gid} (${members.names.join(', ')})`;
	if (members.unresolved.length > 0) {
		return `${group} lists ${members.unresolved.join(', ')}, which is no account on this system`;
	}

	const others = [...new Set(members.uids)].filter(member => member !== uid);
	if (others.length > 0) {
		return `${group} also has the accounts with uid ${others.join(', ')}`;
	}

	return members.uids.length === 0 ? `${group} does not have the running account (uid ${uid}) as a member` : null;
}

/** The sources for accounts and groups in the text of an nsswitch.conf that cannot list all they know. null: no such file, only files are read. */
export function unlistableSources(text: string | null): readonly string[] {
	const found = new Set<string>();
	for (const line of (text ?? '').split('\n')) {
		const match = /^\s*(passwd|group|initgroups)\s*:([^#]*)/.exec(line);
		const sources = (match?.[2] ?? '').replaceAll(/\[[^\]]*\]/g, ' ').split(/\s+/);
		for (const source of sources.filter(word => word !== '' && !listableSources.has(word))) {
			found.add(source);
		}
	}

	return [...found];
}

function readNameServiceSwitch(): string | null {
	try {
		return readFileSync('/etc/nsswitch.conf', 'utf8');
	} catch (error) {
		if (errnoOf(error) === 'ENOENT') {
			return null;
		}

		throw error;
	}
}
