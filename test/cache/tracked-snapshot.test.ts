import {lstatSync, mkdirSync, unlinkSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import test from 'ava';
import {gitObjectId} from '../../cache/git-objects.ts';
import {TrackedSnapshot} from '../../cache/tracked-snapshot.ts';
import type {Proven} from '../../cache/worktree-walk.ts';
import {temporaryDirectory} from '../helpers/temporary-directory.ts';

/** What was proven of a file holding `content`, with the stamp that the file has now: as if it had been written again in the clock tick of that look. */
function provenAs(root: string, name: string, content: string): Proven {
	const rawId = gitObjectId('blob', Buffer.from(content));
	const tracked = {path: name, mode: '100644', id: rawId, form: 'plain'} as const;
	return {tracked, examined: {fault: null, stamp: lstatSync(path.join(root, name)), rawId, sha256: null}};
}

/** `agoMs`: how long before the look the file was last written. */
function snapshotOf(root: string, proven: readonly Proven[], agoMs: number): TrackedSnapshot {
	const writtenMs = Math.max(...proven.map(({examined}) => examined.stamp?.ctimeMs ?? 0));
	const clock = {wallMs: () => writtenMs + agoMs, monotonicNs: () => 0n};
	return new TrackedSnapshot(root, proven, {directories: ['', 'src'], clock, lookedAtMs: writtenMs + agoMs});
}

function makeTree(root: string, content: string): void {
	mkdirSync(path.join(root, 'src'));
	writeFileSync(path.join(root, 'src/a'), content);
}

const looks: ReadonlyArray<readonly [title: string, agoMs: number, changes: number]> = [
	['in the tick of the look is found by its bytes', 0, 1],
	['a moment before the look is found by its bytes', 10, 1],
	['that seems to lie in the future is found by its bytes', -5000, 1],
	['long before the look is known by its stamp alone', 60_000, 0],
];
for (const [title, agoMs, changes] of looks) {
	test(`countChanges(): a write ${title}`, t => {
		const root = temporaryDirectory(t);
		makeTree(root, 'two');
		t.is(snapshotOf(root, [provenAs(root, 'src/a', 'one')], agoMs).countChanges(), changes);
	});
}

test('countChanges() reads a racy file again until its stamp is old enough', t => {
	const root = temporaryDirectory(t);
	makeTree(root, 'one');
	const proven = provenAs(root, 'src/a', 'one');
	const writtenMs = proven.examined.stamp?.ctimeMs ?? 0;
	let nowMs = writtenMs;
	const clock = {wallMs: () => nowMs, monotonicNs: () => 0n};
	const snapshot = new TrackedSnapshot(root, [proven], {directories: ['', 'src'], clock, lookedAtMs: writtenMs});
	t.is(snapshot.countChanges(), 0);
	nowMs = writtenMs + 60_000;
	t.is(snapshot.countChanges(), 0);
	unlinkSync(path.join(root, 'src/a'));
	t.is(snapshot.countChanges(), 1);
});
