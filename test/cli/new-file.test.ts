import {mkdirSync, readFileSync, symlinkSync} from 'node:fs';
import path from 'node:path';
import test from 'ava';
import {writeNewFile} from '../../cli/new-file.ts';
import {temporaryDirectory} from '../helpers/temporary-directory.ts';

test('a new file is written once and never again', t => {
	const directory = temporaryDirectory(t);
	mkdirSync(path.join(directory, 'checkout'));
	const file = path.join(directory, 'plan.json');
	t.is(writeNewFile(file, Buffer.from('one'), path.join(directory, 'checkout')), file);
	t.throws(() => writeNewFile(file, Buffer.from('two'), path.join(directory, 'checkout')), {code: 'CLI_FILE_NOT_WRITTEN', message: /never overwritten/});
	t.is(readFileSync(file, 'utf8'), 'one');
});

test('no way into the checkout is left open: by name, by "..", through a link', t => {
	const directory = temporaryDirectory(t);
	const checkout = path.join(directory, 'checkout');
	mkdirSync(path.join(checkout, 'sub'), {recursive: true});
	symlinkSync('checkout/sub', path.join(directory, 'link'));
	for (const file of [path.join(checkout, 'plan.json'), path.join(checkout, 'sub/../../checkout/p'), path.join(directory, 'link', 'p')]) {
		t.throws(() => writeNewFile(file, Buffer.from(''), checkout), {code: 'CLI_USAGE', message: /inside the checkout/});
	}
});

test('a dangling link is not followed and a missing directory is named', t => {
	const directory = temporaryDirectory(t);
	mkdirSync(path.join(directory, 'checkout'));
	symlinkSync('elsewhere', path.join(directory, 'dangling'));
	for (const name of ['dangling', 'none/plan.json']) {
		t.throws(() => writeNewFile(path.join(directory, name), Buffer.from(''), path.join(directory, 'checkout')), {code: 'CLI_FILE_NOT_WRITTEN'});
	}
});
