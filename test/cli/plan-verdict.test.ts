import {readdirSync, readFileSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import test from 'ava';
import {checkPlan} from '../../cli/plan-verdict.ts';
import {sha256Hex} from '../../core/digest.ts';
import {temporaryDirectory} from '../helpers/temporary-directory.ts';

const vectors = path.join('test', 'vectors', 'plans');

for (const name of readdirSync(vectors)) {
	test(`checkPlan() says ${name.startsWith('good-') ? 'yes to' : 'no, and why, to'} ${name}`, t => {
		const {verdict, problems, sha256} = checkPlan(path.join(vectors, name));
		t.is(verdict, name.startsWith('good-') ? 'valid' : 'invalid');
		t.is(problems.length === 0, verdict === 'valid');
		t.is(sha256, sha256Hex(readFileSync(path.join(vectors, name))));
		for (const {code, message} of problems) {
			t.regex(code, /^(?:CORE_JSON|EVIDENCE)_/);
			t.true(message.length > 10);
		}
	});
}

test('a plan of more than 1 MiB is no plan; a file that is not there is no answer', t => {
	const file = path.join(temporaryDirectory(t), 'plan.json');
	t.throws(() => checkPlan(file), {code: 'CORE_FILE_UNREADABLE'});
	writeFileSync(file, Buffer.alloc(1_048_577, ' '));
	const {verdict, problems, sha256} = checkPlan(file);
	t.is(verdict, 'invalid');
	t.is(sha256, null);
	t.is(problems[0]?.code, 'CORE_FILE_TOO_LARGE');
});
