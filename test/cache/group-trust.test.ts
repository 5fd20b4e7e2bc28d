import test from 'ava';

import {membersProblem, unlistableSources} from '../../cache/group-trust.ts';

for (const [title, members, pattern] of [
	['the running account alone', {names: ['dev'], uids: [1000], unresolved: []}, null],
	['the running account twice, by primary group and by list', {names: ['dev'], uids: [1000, 1000], unresolved: []}, null],
	['no name for the number', {names: [], uids: [1000], unresolved: []}, /no name/],
	['another account', {names: ['dev'], uids: [1000, 1001, 1001], unresolved: []}, /uid 1001$/],
	['another account only', {names: ['dev'], uids: [0], unresolved: []}, /uid 0$/],
	['nobody', {names: ['dev'], uids: [], unresolved: []}, /does not have the running account/],
	['a listed name that is no account', {names: ['dev'], uids: [1000], unresolved: ['ghost']}, /ghost/],
] as const) {
	test(`a group with ${title} is ${pattern === null ? 'trusted' : 'not trusted'}`, t => {
		const problem = membersProblem(100, 1000, members);
		if (pattern === null) {
			t.is(problem, null);
		} else {
			t.regex(problem ?? '', pattern);
		}
	});
}

for (const [text, expected] of [
	[null, []],
	['', []],
	['passwd: files systemd\ngroup: files [SUCCESS=merge] systemd\n', []],
	['passwd: files sss\ngroup: files', ['sss']],
	['passwd:files\ngroup:\tfiles ldap # nis', ['ldap']],
	['# passwd: sss\npasswd: files', []],
	['passwd: compat\ngroup: compat', ['compat']],
	['initgroups: files winbind', ['winbind']],
	['hosts: files dns\nshadow: files sss\npasswd: files', []],
] as const) {
	test(`accounts of ${JSON.stringify(text)} ${expected.length === 0 ? 'can all be listed' : `hide some in ${expected.join(', ')}`}`, t => {
		t.deepEqual(unlistableSources(text), expected);
	});
}
