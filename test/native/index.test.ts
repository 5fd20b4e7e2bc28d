import {mkdirSync, statSync, writeFileSync} from 'node:fs';
import test from 'ava';

import {loadAddon, loadNative, supervisorPath} from '../../native/index.ts';
import {refusalOf} from '../helpers/refusal.ts';
import {temporaryDirectory} from '../helpers/temporary-directory.ts';

test('the native parts lie beside the compiled loader', t => {
	t.is(loadNative(), loadNative(), 'loaded once');
	t.true((statSync(supervisorPath()).mode & 0o111) !== 0);
});

for (const [title, make] of [
	['is not there', () => undefined],
	['is no library', (file: string) => writeFileSync(file, 'text')],
	['is a directory', (file: string) => mkdirSync(file)],
	['is empty', (file: string) => writeFileSync(file, '')],
] as const) {
	test(`an addon that ${title} is refused with the command that builds it`, t => {
		const file = `${temporaryDirectory(t)}/bailiff.node`;
		make(file);
		const refusal = refusalOf(() => loadAddon(file));
		t.is(refusal?.code, 'RUN_NATIVE_MISSING');
		t.true(refusal?.message.includes(file) && refusal.message.includes('make -C native'));
		t.deepEqual(refusal?.details, {file});
	});
}

for (const [title, text] of [
	['another version', 'module.exports = {version: 0};'],
	['no function', 'module.exports = {version: 3};'],
	['nothing', 'module.exports = null;'],
] as const) {
	test(`an addon with ${title} is refused as built from other sources`, t => {
		const file = `${temporaryDirectory(t)}/bailiff.js`;
		writeFileSync(file, text);
		t.regex(refusalOf(() => loadAddon(file))?.message ?? '', /built from other sources/);
	});
}
