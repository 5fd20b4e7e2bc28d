import {randomBytes} from 'node:crypto';
import test from 'ava';
import {BailiffError} from '../../core/errors.ts';
import {KnownValues, noKnownValues} from '../../evidence/known-values.ts';
import {parsePlan} from '../../evidence/plan.ts';
import {scanPlan} from '../../evidence/plan-secrets.ts';

const token = `ghp_${randomBytes(18).toString('hex')}`;
const command = {id: 'unit', argv: ['make', 'test'], timeout_seconds: 5, max_output_bytes: 100};
const plan = {
	schema: 'verification-plan/v3',
	owner: 'acme',
	repository: 'widget',
	issue: 7,
	source_sha: '0123456789abcdef0123456789abcdef01234567',
	commands: [command],
};
const known = new KnownValues(['correct-horse-battery', 'NAME_THAT_IS_SECRET']);

function check(value: object, values: KnownValues = noKnownValues): unknown {
	const bytes = Buffer.from(JSON.stringify(value));
	try {
		scanPlan(parsePlan(bytes), bytes, values);
		return null;
	} catch (error) {
		if (error instanceof BailiffError && error.code === 'RUN_SECRET_IN_PLAN') {
			return error.details['secrets'];
		}

		throw error;
	}
}

const withCommand = (change: object): object => ({...plan, commands: [command, {...command, id: 'second', ...change}]});
const random = randomBytes(16).toString('hex');

for (const [title, value, pointer, rule] of [
	['a token in argv', withCommand({argv: ['curl', '-H', `x: ${token}`]}), '/commands/1/argv/2', 'github-token'],
	['a token in cwd', withCommand({cwd: `dir/${token}`}), '/commands/1/cwd', 'github-token'],
	['a token in a variable', withCommand({env: {CI: 'true', DEPLOY: token}}), '/commands/1/env/DEPLOY', 'github-token'],
	['a variable whose name says what it is', withCommand({env: {API_TOKEN: random}}), '/commands/1/env/API_TOKEN', 'labelled-secret'],
	['an option whose value is the next word', withCommand({argv: ['deploy', '--token', random]}), '/commands/1/argv/2', 'command-line-token'],
	['a password in an address', withCommand({argv: ['git', 'clone', 'https://robot:Tr0ub4dor@example.org/a']}), '/commands/1/argv/2', 'url-password'],
	['a token in a shell line', withCommand({argv: ['sh', '-c', `echo ${token} | login`]}), '/commands/1/argv/2', 'github-token'],
	[
		'a token in a path of the sandbox',
		{...plan, sandbox: {mode: 'required', filesystem: {read: [`/x/${token}`]}}},
		'/sandbox/filesystem/read/0',
		'github-token',
	],
	['a token as the name of the owner', {...plan, owner: token}, '/owner', 'github-token'],
] as const) {
	test(`scanPlan() refuses ${title} and names the place`, t => {
		t.deepEqual(check(value), [{pointer, rule}]);
	});
}

for (const [title, value, pointer] of [
	['in argv', withCommand({argv: ['login', 'correct-horse-battery']}), '/commands/1/argv/1'],
	['in base64 in a variable', withCommand({env: {X: Buffer.from('x:correct-horse-battery').toString('base64')}}), '/commands/1/env/X'],
	['as the name of a variable, which is then not named', withCommand({env: {NAME_THAT_IS_SECRET: '1'}}), '/commands/1/env'],
] as const) {
	test(`scanPlan() refuses a known value ${title}`, t => {
		t.deepEqual(check(value, known), [{pointer, rule: 'known-value'}]);
		t.is(check(value), null);
	});
}

test('a secret that only the bytes of the plan hold is refused, too', t => {
	const bytes = Buffer.from(JSON.stringify(plan).replace('"make"', '"make"'));
	const escaped = Buffer.from(JSON.stringify(withCommand({argv: ['x', 'PLACE']})).replace('PLACE', 'correct\\u002dhorse-battery'));
	t.throws(() => scanPlan(parsePlan(escaped), escaped, known), {code: 'RUN_SECRET_IN_PLAN'});
	const noise = Buffer.concat([bytes, Buffer.from(` ${token}`)]);
	t.throws(() => scanPlan(parsePlan(bytes), noise, noKnownValues), {
		code: 'RUN_SECRET_IN_PLAN',
		message: /^the plan holds what looks like a secret \(rule github-token\)/,
	});
});

test('the refusal never quotes the value', t => {
	const bytes = Buffer.from(JSON.stringify(withCommand({env: {A: token, B: 'correct-horse-battery'}, argv: ['x', token]})));
	const error = t.throws(() => scanPlan(parsePlan(bytes), bytes, known), {instanceOf: BailiffError, code: 'RUN_SECRET_IN_PLAN', message: /and 2 more/});
	t.notRegex(JSON.stringify(error), new RegExp(`${token.slice(4)}|horse`));
});

for (const [title, value] of [
	['an ordinary plan', withCommand({env: {CI: 'true', HOME: '/home/x', NODE_OPTIONS: '--max-old-space-size=4096'}})],
	['a variable that names another one', withCommand({argv: ['sh', '-c', 'curl -H "Authorization: Bearer $TOKEN" https://example.org']})],
	['a commit and digests', withCommand({argv: ['sh', '-c', `test "$(sha256sum a)" = ${'0123456789abcdef'.repeat(4)}`]})],
	['words that only sound like secrets', withCommand({id: 'secret-token', argv: ['pytest', 'tests/test_token_secret.py', '--password-file', '/run/x']})],
] as const) {
	test(`scanPlan() accepts ${title}`, t => {
		t.is(check(value), null);
	});
}
