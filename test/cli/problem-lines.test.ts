import test from 'ava';
import {problemLines} from '../../cli/problem-lines.ts';

test('a problem is one line with code, place and message, and cannot break out of it', t => {
	t.deepEqual(
		problemLines([
			{code: 'EVIDENCE_DIGEST', path: 'output/000.log', pointer: '', message: 'the digest differs'},
			{code: 'EVIDENCE_SCHEMA', path: null, pointer: '/a\nb', message: 'x\u001b[0m\ny'},
			{code: 'EVIDENCE_SCHEMA', path: null, pointer: '', message: 'whole'},
		]),
		['  EVIDENCE_DIGEST at output/000.log: the digest differs', '  EVIDENCE_SCHEMA at /a\\nb: x\\x1b[0m\\ny', '  EVIDENCE_SCHEMA: whole'],
	);
});
