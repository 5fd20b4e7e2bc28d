import {chmodSync, existsSync, linkSync, readFileSync, statSync, symlinkSync, writeFileSync} from 'node:fs';
import test from 'ava';
import {planLedgerMerge} from '../../evidence/ledger-merge.ts';
import {withEvidenceDirectory} from '../helpers/evidence-directory.ts';
import {codeOf} from '../helpers/refusal.ts';

const name = 'ledger.jsonl';

for (const [title, existing, incoming, merged] of [
	['nothing is there: it is written', null, 'a\nb\n', 'a\nb\n'],
	['the same is there', 'a\nb\n', 'a\nb\n', 'a\nb\n'],
	['the beginning is there: the rest is added', 'a\n', 'a\nb\n', 'a\nb\n'],
	['the beginning of a torn line is there: it is completed', 'a\nb', 'a\nb\n', 'a\nb\n'],
	['more is there: it stays', 'a\nb\nc\n', 'a\nb\n', 'a\nb\nc\n'],
	['an empty one is there', '', 'a\n', 'a\n'],
] as const) {
	test(`a ledger is joined where ${title}`, t => {
		withEvidenceDirectory(directory => {
			const file = directory.path(name);
			if (existing !== null) {
				writeFileSync(file, existing, {mode: 0o600});
			}

			const merge = planLedgerMerge(directory.verification, Buffer.from(incoming));
			t.is(existsSync(file) ? readFileSync(file, 'utf8') : null, existing, 'nothing is written before');
			merge.write();
			t.is(readFileSync(file, 'utf8'), merged);
			t.is(statSync(file).mode & 0o7777, 0o600);
		});
	});
}

test('a ledger that says something else is refused, and both stay as they are', t => {
	withEvidenceDirectory(directory => {
		writeFileSync(directory.path(name), 'a\nx\n', {mode: 0o600});
		for (const incoming of ['a\nb\n', 'b\n', 'a\nxx']) {
			t.is(
				codeOf(() => planLedgerMerge(directory.verification, Buffer.from(incoming))),
				'EVIDENCE_LEDGER_FORKED',
			);
		}

		t.is(readFileSync(directory.path(name), 'utf8'), 'a\nx\n');
	});
});

test('a ledger that others could have changed is refused', t => {
	withEvidenceDirectory(directory => {
		const file = directory.path(name);
		writeFileSync(file, 'a\n', {mode: 0o600});
		chmodSync(file, 0o644);
		t.is(
			codeOf(() => planLedgerMerge(directory.verification, Buffer.from('a\n'))),
			'CORE_FILE_UNTRUSTED',
		);
		chmodSync(file, 0o600);
		linkSync(file, `${directory.base}/second`);
		t.is(
			codeOf(() => planLedgerMerge(directory.verification, Buffer.from('a\n'))),
			'CORE_FILE_UNTRUSTED',
		);
	});
	withEvidenceDirectory(directory => {
		symlinkSync('/dev/zero', directory.path(name));
		t.is(
			codeOf(() => planLedgerMerge(directory.verification, Buffer.from('a\n'))),
			'CORE_FILE_UNTRUSTED',
		);
	});
});

test('a ledger that grew between the look and the write is not written over', t => {
	withEvidenceDirectory(directory => {
		const file = directory.path(name);
		writeFileSync(file, 'a\n', {mode: 0o600});
		const merge = planLedgerMerge(directory.verification, Buffer.from('a\nb\n'));
		writeFileSync(file, 'a\nc\n');
		t.is(
			codeOf(() => merge.write()),
			'CORE_FILE_CHANGED',
		);
		t.is(readFileSync(file, 'utf8'), 'a\nc\n');
	});
});
