import {createHash, randomBytes} from 'node:crypto';
import test from 'ava';
import {canonicalJson} from '../../core/canonical-json.ts';
import {keyMarkers, secretRuleSet, secretRules} from '../../evidence/secret-rules.ts';
import {findSecrets} from '../../evidence/secret-scan.ts';

// Every example is made up here and now, so that no line of this repository looks like a secret to anybody.
const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const digits = '0123456789';

/** A string of `length` that surely holds a lower-case letter, an upper-case letter and digits where the alphabet has them. */
function made(alphabet: string, length: number): string {
	const text = [...createHash('sha512').update(`${alphabet}${length}`).digest(), ...createHash('sha512').update(`${length}${alphabet}`).digest()];
	return Array.from({length}, (_, index) => alphabet.charAt((text[index % text.length] ?? 0) % alphabet.length)).join('');
}

const alnum = (length: number): string => made(letters + digits, length);
const hex = (length: number): string => made('0123456789abcdef', length);
const upper = (length: number): string => made('ABCDEFGHIJKLMNOPQRSTUVWXYZ234567', length);
const base64 = (text: string): string => Buffer.from(text).toString('base64');
const jwt = [base64('{"alg":"HS256"}'), base64('{"sub":"1234567890"}'), alnum(43)].map(part => part.replaceAll('=', '')).join('.');

type Example = {readonly rule: string; readonly text: string /** Default: the whole text. */; readonly secret?: string};

const examples: readonly Example[] = [
	...['ghp', 'gho', 'ghu', 'ghs', 'ghr'].map(kind => ({rule: 'github-token', text: `${kind}_${alnum(36)}`})),
	{rule: 'github-fine-grained-token', text: `github_pat_${alnum(22)}_${alnum(59)}`},
	{rule: 'gitlab-token', text: `glpat-${alnum(20)}`},
	{rule: 'gitlab-token', text: `glrt-${alnum(20)}`},
	{rule: 'npm-token', text: `npm_${alnum(36)}`},
	{rule: 'pypi-token', text: `pypi-AgE${alnum(60)}`},
	{rule: 'rubygems-token', text: `rubygems_${hex(48)}`},
	{rule: 'crates-token', text: `cio${alnum(32)}`},
	{rule: 'docker-token', text: `dckr_pat_${alnum(27)}`},
	{rule: 'slack-token', text: `xoxb-${made(digits, 12)}-${alnum(24)}`},
	{rule: 'webhook-url', text: `hooks.slack.com/services/T${upper(8)}/B${upper(8)}/${alnum(24)}`},
	{rule: 'aws-access-key-id', text: `AKIA${upper(16)}`},
	{rule: 'aws-secret-key', text: `aws_secret_access_key = ${alnum(40)}`, secret: alnum(40)},
	{rule: 'aws-secret-key', text: `"AWS_SECRET_ACCESS_KEY": "${alnum(40)}"`, secret: alnum(40)},
	{rule: 'google-api-key', text: `AIza${alnum(35)}`},
	{rule: 'google-oauth-token', text: `ya29.${alnum(60)}`},
	{rule: 'azure-account-key', text: `AccountKey=${alnum(86)}==`},
	{rule: 'azure-client-secret', text: `${made(letters, 3)}8Q~${alnum(34)}`},
	{rule: 'atlassian-token', text: `ATATT3${alnum(60)}`},
	{rule: 'stripe-key', text: `sk_live_${alnum(24)}`},
	{rule: 'model-api-key', text: `sk-proj-${alnum(48)}`},
	{rule: 'model-api-key', text: `hf_${alnum(34)}`},
	{rule: 'sendgrid-key', text: `SG.${alnum(22)}.${alnum(43)}`},
	{rule: 'twilio-key', text: `SK${hex(32)}`},
	{rule: 'telegram-bot-token', text: `${made(digits, 10)}:AA${alnum(33)}`},
	{rule: 'digitalocean-token', text: `dop_v1_${hex(64)}`},
	{rule: 'shopify-token', text: `shpat_${hex(32)}`},
	{rule: 'databricks-token', text: `dapi${hex(32)}`},
	{rule: 'vault-token', text: `hvs.${alnum(24)}`},
	{rule: 'age-secret-key', text: `AGE-SECRET-KEY-1${upper(58)}`},
	{rule: 'jwt', text: jwt},
	{rule: 'basic-authorization', text: `Authorization: Basic ${base64('someone:something')}`, secret: base64('someone:something')},
	{rule: 'authorization-header', text: `> authorization: Bearer ${hex(20)}-x`, secret: `${hex(20)}-x`},
	{rule: 'authorization-header', text: `"Authorization": "token ${hex(40)}"`, secret: hex(40)},
	{rule: 'bearer-token', text: `-H Bearer ${alnum(32)}`, secret: alnum(32)},
	{rule: 'url-password', text: 'https://robot:Tr0ub4dor@example.org/a.git', secret: 'Tr0ub4dor'},
	{rule: 'url-password', text: 'https://user:pass@example.org/', secret: 'pass'},
	{rule: 'url-password', text: 'postgres://app:p@ss:w0rd@db/app', secret: 'p@ss:w0rd'},
	{rule: 'gitea-token', text: `GITEA_TOKEN=${hex(40)}`, secret: hex(40)},
	{rule: 'netrc-password', text: 'machine example.org login robot password correcthorse', secret: 'correcthorse'},
	{rule: 'registry-auth', text: `//registry.example.org/:_auth=${base64('robot:swordfish')}`, secret: base64('robot:swordfish')},
	{rule: 'registry-auth', text: `"auth": "${base64('robot:swordfish')}"`, secret: base64('robot:swordfish')},
	{rule: 'command-line-login', text: 'curl -u robot:hunter2x https://example.org', secret: 'hunter2x'},
	{rule: 'password', text: '{"password": "c0rrect horse battery", "other": "x"}', secret: 'c0rrect horse battery'},
	{rule: 'password', text: '{\\"password\\": \\"c0rrect horse\\", \\"other\\": 1}', secret: 'c0rrect horse'},
	{rule: 'password', text: 'password=hunter2', secret: 'hunter2'},
	{rule: 'labelled-secret', text: 'token=abc123def456', secret: 'abc123def456'},
	{rule: 'command-line-password', text: 'mysql --password hunter22x', secret: 'hunter22x'},
	{rule: 'command-line-token', text: `deploy --api-token ${alnum(24)}`, secret: alnum(24)},
	{rule: 'password', text: 'DB_PASSWORD=hunter22!x', secret: 'hunter22!x'},
	{rule: 'password', text: "passwd: 'S3cretS3cret'", secret: 'S3cretS3cret'},
	{rule: 'labelled-secret', text: `CLIENT_SECRET=${alnum(32)}`, secret: alnum(32)},
	{rule: 'labelled-secret', text: `"api_key" => "${hex(32)}"`, secret: hex(32)},
	{rule: 'labelled-secret', text: `{\\"token\\":\\"${alnum(40)}\\"}`, secret: alnum(40)},
];

for (const [index, {rule, text, secret}] of examples.entries()) {
	test(`the rule ${rule} finds exactly the value of example ${index}`, t => {
		const expected = secret ?? text;
		for (const [before, after] of [
			['', ''],
			['step 3: ', '\nnext line'],
			['=', ' y'],
		] as const) {
			const line = `${before}${text}${after}`;
			const hits = findSecrets(Buffer.from(line));
			t.deepEqual(
				hits.map(hit => [hit.rule, line.slice(hit.start, hit.end)]),
				[[rule, expected]],
			);
		}
	});
}

test('every rule has an example', t => {
	const tried = new Set(examples.map(example => example.rule));
	t.deepEqual(
		secretRules.map(rule => rule.id).filter(id => !tried.has(id)),
		[],
	);
});

test('a token is found whatever is glued to it', t => {
	for (const {text} of examples.filter(example => ['github-token', 'gitlab-token', 'npm-token', 'aws-access-key-id', 'jwt'].includes(example.rule))) {
		t.is(findSecrets(Buffer.from(`%20${text}`)).length, 1);
		t.is(findSecrets(Buffer.from(`"${text}"`)).length, 1);
	}
});

const sha512 = createHash('sha512').update('x').digest('base64');
const harmless: readonly string[] = [
	'',
	'12 passed, 0 failed',
	hex(40),
	hex(64),
	`sha256:${hex(64)}`,
	`commit ${hex(40)} (HEAD -> main, origin/main)`,
	`Merge: ${hex(7)} ${hex(8).slice(1)}`,
	`index ${hex(7)}..${hex(9).slice(2)} 100644`,
	`From ${hex(40)} Mon Sep 17 00:00:00 2001`,
	'remote: Counting objects: 100% (12/12), done.',
	'To https://example.org/acme/widget.git',
	'Cloning into bare repository over ssh://git@example.org:2222/acme/widget.git',
	'550e8400-e29b-41d4-a716-446655440000',
	'request id: 550e8400-e29b-41d4-a716-446655440000',
	`"integrity": "sha512-${sha512}"`,
	`npm notice shasum: ${hex(40)}`,
	`"resolved": "https://registry.example.org/left-pad/-/left-pad-1.3.0.tgz#${hex(40)}"`,
	`Digest: sha256:${hex(64)}`,
	`cache-key: node-modules-linux-x64-${hex(64)}`,
	`key=${hex(64)}`,
	'PWD=/srv/checkouts/widget2/build7',
	'OLDPWD=/usr/lib/node20',
	'password: required',
	'Password:',
	'password=********',
	'password=$DB_PASSWORD',
	// biome-ignore lint/suspicious/noTemplateCurlyInString: what a workflow file says
	'token: ${{ secrets.DEPLOY_TOKEN_2 }}',
	'password: process.env.DB_PASSWORD2',
	'const token = getToken(request, 12345678);',
	'password: string;',
	'return{username:Mr(r.username),password:i?Mr(r.password):void 0}',
	'constructor({password:e,rawPassword:t,signed:n}){',
	'if(r.password=null,t.at(-1)!=r.passwordVerification)throw e',
	'A2AhwgAyABNgIUIANBnxU2AhAgA0EMNgIMDO8CCyABIARHBEADQCABLQAAQSBHDYQ',
	'token: Option<Token2>',
	'error: unexpected token: expected identifier at line 1234567',
	'the bearer token authentication scheme',
	'WWW-Authenticate: Bearer realm="https://example.org/token",service="registry.example.org"',
	'authorization: required for this page 12345678',
	'--password --verbose',
	'--token-file /run/secrets/token1',
	'docker run -u 1000:1000 --user root:rootroot image',
	'POSTGRES_PASSWORD=postgres',
	'http://user:${PASSWORD}@example.org/',
	'http://user:***@example.org/',
	'http://localhost:8080/@scope/name',
	'time="2026-01-01T00:00:00Z" level=info msg="listening" addr=127.0.0.1:8080',
	'-----BEGIN PRIVATE KEY-----',
	"if (line === '-----BEGIN RSA PRIVATE KEY-----') {",
	'-----BEGIN CERTIFICATE-----\nMIIBszCCAVmgAwIBAgIUQ2VydGlmaWNhdGUgb25seSBhbmQgbm90aGluZyBlbHNl\n-----END CERTIFICATE-----',
	'-----BEGIN PUBLIC KEY-----\nMCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE=\n-----END PUBLIC KEY-----',
	'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE robot@example',
	'   Compiling serde v1.0.203\n   Compiling tokio-util v0.7.11\n    Finished `release` profile',
	'collected 128 items\ntests/test_token.py::test_secret_is_hidden PASSED [ 12%]',
	'go: downloading golang.org/x/crypto v0.24.0',
	'ok  \tgithub.com/acme/widget/internal/token\t0.012s',
	'CC      build/password_hash.o',
	'added 212 packages, and audited 213 packages in 4s',
	'eyJ is how base64 of a JSON object begins, as in eyJhbGciOiJIUzI1NiJ9',
	'[REDACTED] [REDACTED][REDACTED] password=[REDACTED] token: [REDACTED]',
];

for (const [index, text] of harmless.entries()) {
	test(`ordinary output is no secret: ${index} ${JSON.stringify(text.slice(0, 60))}`, t => {
		t.deepEqual(findSecrets(Buffer.from(text)), []);
		t.deepEqual(findSecrets(Buffer.from(`\u001b[32m${text}\u001b[0m\r\n`)), []);
	});
}

test('a mebibyte of random bytes, of their base64 and of their hex is no secret', t => {
	const bytes = randomBytes(400_000);
	t.deepEqual(findSecrets(Buffer.from(bytes.toString('base64'))), []);
	t.deepEqual(findSecrets(Buffer.from(bytes.toString('hex'))), []);
});

test('the digest of the rules is over their canonical JSON, and the number counts the key rule', t => {
	t.is(secretRuleSet.rules, secretRules.length + 1);
	t.is(
		secretRuleSet.rules_sha256,
		createHash('sha256')
			.update(canonicalJson({rules: secretRules, keys: keyMarkers}))
			.digest('hex'),
	);
	t.is(new Set(secretRules.map(rule => rule.id)).size, secretRules.length);
});

test('no pattern of a rule has anything behind an open repetition', t => {
	for (const {id, pattern} of secretRules) {
		// A run of earlier marks is the one exception: what follows it cannot begin inside a mark.
		const rest = pattern.replaceAll(String.raw`(?:\[REDACTED\])*`, '').replace(/\{\d+,\}(?:=\{0,2\})?$/, '');
		t.notRegex(rest.replaceAll(/\[(?:\\.|[^\]])*\]/g, 'c'), /\{\d+,\}|(?<!\\)[*+]/, id);
	}
});
