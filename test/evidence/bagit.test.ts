import {createHash} from 'node:crypto';
import test from 'ava';
import {BailiffError} from '../../core/errors.ts';
import {type BagFile, bagFile, checkBag, isPayloadPath, tagFiles} from '../../evidence/bagit.ts';

const contents = {
	'data/run/plan.json': 'p',
	'data/run/manifest.json': 'mm',
	'data/ledger.jsonl': '',
	'data/source.pack': 'PACK',
	'data/run/output/000.log': '\u00ff',
};
const payload: readonly BagFile[] = Object.entries(contents).map(([path, text]) => bagFile(path, Buffer.from(text, 'latin1')));

function wholeBag(): Map<string, BagFile> {
	const tags = Array.from(tagFiles(payload, 'acme/widget#7/r1'), ([path, bytes]) => bagFile(path, bytes));
	return new Map([...payload, ...tags].map(file => [file.path, file]));
}

test('the tag files list every payload file with both digests, count its octets and say nothing of time or host', t => {
	const tags = tagFiles(payload.toReversed(), 'acme/widget#7/r1');
	t.deepEqual([...tags.keys()].toSorted(), [
		'bag-info.txt',
		'bagit.txt',
		'manifest-sha256.txt',
		'manifest-sha512.txt',
		'tagmanifest-sha256.txt',
		'tagmanifest-sha512.txt',
	]);
	t.is(tags.get('bagit.txt')?.toString(), 'BagIt-Version: 1.0\nTag-File-Character-Encoding: UTF-8\n');
	t.regex(tags.get('bag-info.txt')?.toString() ?? '', /^External-Identifier: acme\/widget#7\/r1\n(?:.*\n)*Payload-Oxum: 8\.5\n/);
	const digest = createHash('sha512').update('mm').digest('hex');
	const lines = tags.get('manifest-sha512.txt')?.toString().split('\n') ?? [];
	t.true(lines.includes(`${digest}  data/run/manifest.json`));
	t.deepEqual(lines, [...lines.slice(0, -1).toSorted((left, right) => (left.slice(130) < right.slice(130) ? -1 : 1)), '']);
	t.is(tags.get('tagmanifest-sha256.txt')?.toString().split('\n').length, 5);
});

test('a whole bag is accepted', t => {
	t.notThrows(() => checkBag(wholeBag(), 'acme/widget#7/r1'));
});

for (const path of wholeBag().keys()) {
	test(`a bag without ${path}, or with another one, is refused`, t => {
		const missing = wholeBag();
		missing.delete(path);
		t.is(t.throws(() => checkBag(missing, 'acme/widget#7/r1'), {instanceOf: BailiffError})?.code, 'EVIDENCE_BUNDLE_INVALID');
		const other = wholeBag().set(path, bagFile(path, Buffer.from('other')));
		t.is(t.throws(() => checkBag(other, 'acme/widget#7/r1'), {instanceOf: BailiffError})?.code, 'EVIDENCE_BUNDLE_INVALID');
	});
}

for (const path of [
	'data/run/../x',
	'data/run/output/00.log',
	'data/run/output/000.LOG',
	'data/run/output/000.log/x',
	'data/run/output/',
	'data/run/x.json',
	'data/ledger.jsonl\n',
	'/data/ledger.jsonl',
	'data//ledger.jsonl',
	'data/run/output/%30.log',
	'manifest-md5.txt',
]) {
	test(`${JSON.stringify(path)} has no place in a bag`, t => {
		t.false(isPayloadPath(path));
		const bag = wholeBag().set(path, bagFile(path, Buffer.from('x')));
		t.throws(() => checkBag(bag, 'acme/widget#7/r1'), {instanceOf: BailiffError, message: /has no place/});
	});
}
