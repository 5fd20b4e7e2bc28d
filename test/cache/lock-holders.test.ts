import test from 'ava';

import {holdersInText, holdersText} from '../../cache/lock-holders.ts';

const text = `1: POSIX  ADVISORY  WRITE 100 08:01:77 0 EOF
2: FLOCK  ADVISORY  WRITE 200 08:01:77 0 EOF
2: -> FLOCK  ADVISORY  WRITE 201 08:01:77 0 EOF
3: FLOCK  ADVISORY  WRITE 300 00:2e:777 0 EOF
4: FLOCK  ADVISORY  READ 400 00:2e:18446744073709551615 0 EOF
5: OFDLCK ADVISORY  WRITE -1 08:01:77 0 EOF
`;

for (const [inode, expected] of [
	[77n, [200]],
	[777n, [300]],
	[7n, []],
	[18_446_744_073_709_551_615n, [400]],
] as const) {
	test(`the holders of inode ${inode} are ${JSON.stringify(expected)}, not who waits and not who has another kind of lock`, t => {
		t.deepEqual(holdersInText(text, inode), expected);
	});
}

for (const [holders, expected] of [
	[[{pid: 7, command: 'node'}], 'held by process 7 ("node")'],
	[[{pid: 7, command: 'a"\u001b[2J'}], String.raw`held by process 7 ("a\"\u001b[2J")`],
	[[{pid: 7, command: null}], 'held by process 7 (ended; a process that it started still has the lock)'],
	[[], 'held by a process that this system does not show'],
] as const) {
	test(`holders are shown as: ${expected}`, t => {
		t.is(holdersText(holders), expected);
	});
}
