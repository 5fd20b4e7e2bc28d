import {canonicalJson} from '../core/canonical-json.ts';
import {sha256Hex} from '../core/digest.ts';

/** What the value of a rule must look like beyond its pattern, so that prose, names and placeholders are no hits (evidence/secret-guards.ts). */
export type GuardName = 'none' | 'present' | 'password' | 'random' | 'base64-pair';

/** One rule: where its pattern matches and its guard agrees, the value is a secret. */
export type SecretRule = {
	/** Recorded with each redaction. */
	readonly id: string;
	/**
	 * Over text with one character per byte. Group 1 is the value where there is one, else the whole match. Its time is linear in the text:
	 * an open repetition is the last part of a pattern, and a pattern whose guard can say no has none at all (`tail` does its work).
	 */
	readonly pattern: string;
	readonly ignoreCase: boolean;
	readonly guard: GuardName;
	/** Character class by which an accepted value goes on behind the match, null where the pattern takes all of it. */
	readonly tail: string | null;
	/** What stands before the match and belongs to it: a run of `characters`, from the first `from` in it; without that the match is none. */
	readonly head: {readonly characters: string; readonly from: string} | null;
};

const quote = String.raw`["'\x60]`;
/** Between a name and its value: quotes around either, blanks, `=`, `:`, `=>`, `:=`. */
const assign = String.raw`(?:\\{0,3}["'\]]){0,2}[ \t]{0,4}(?:=>|:=|={1,2}|:)[ \t]{0,4}\\{0,3}${quote}?`;
/** What was redacted before does not hide what follows it. */
const marks = String.raw`(?:\[REDACTED\])*`;
const anything = String.raw`[^\s"'\x60\x00-\x1f\x7f]`;
const tokenCharacter = '[A-Za-z0-9+/_.~%:@!#*-]';
const tokenTail = '[A-Za-z0-9+/_.~%:@!#*=-]';
const keyWords = String.raw`(?:secret(?:[_-]?key(?:[_-]?base)?)?|token|(?:api|access|auth|account|private|signing|encryption|master|app)[_-]?key|credentials?)`;
const passwordWords = '(?:password|passwd|passphrase|passwort|pwd)';

/** A token that its own form gives away: nothing more is asked. */
function tokenForm(id: string, pattern: string): SecretRule {
	return {id, pattern, ignoreCase: false, guard: 'none', tail: null, head: null};
}

/** A form that other things have as well: `tail` continues what the guard accepted. */
function guarded(id: string, pattern: string, guard: GuardName, tail: string): SecretRule {
	return {id, pattern, ignoreCase: false, guard, tail, head: null};
}

type LabelledValue = {readonly characters: string; readonly guard: GuardName /** Default 8. */; readonly least?: number};

/** A value behind a name, in any case. */
function labelled(id: string, name: string, {characters, guard, least = 8}: LabelledValue): SecretRule {
	const tail = characters === tokenCharacter ? tokenTail : characters;
	return {id, pattern: `${name}${marks}(${characters}{${least},128})`, ignoreCase: true, guard, tail, head: null};
}

/**
 * The kept rules, in the order of precedence: where two hits overlap, the record names the earlier rule.
 * Private keys in text form span lines and are found by evidence/private-keys.ts; their markers stand here so that the digest covers them.
 */
export const secretRules: readonly SecretRule[] = [
	tokenForm('github-token', 'gh[pousr]_[A-Za-z0-9]{36,}'),
	tokenForm('github-fine-grained-token', 'github_pat_[A-Za-z0-9_]{40,}'),
	tokenForm('gitlab-token', '(?:gl(?:pat|ptt|dt|rt|ft|soat|cbt|imt|agent|oas|ffct)-|GR1348941)[A-Za-z0-9_-]{20,}'),
	tokenForm('npm-token', 'npm_[A-Za-z0-9]{36,}'),
	tokenForm('pypi-token', 'pypi-AgE[A-Za-z0-9_-]{40,}'),
	tokenForm('rubygems-token', 'rubygems_[a-f0-9]{48,}'),
	guarded('crates-token', '(?<![A-Za-z0-9+/])cio[A-Za-z0-9]{32,64}', 'random', '[A-Za-z0-9]'),
	tokenForm('docker-token', 'dckr_(?:pat|oat)_[A-Za-z0-9_-]{20,}'),
	guarded('slack-token', '(?:xox[abeoprs]|xapp)-[A-Za-z0-9-]{20,128}', 'random', '[A-Za-z0-9-]'),
	tokenForm('webhook-url', String.raw`(?:hooks\.slack\.com/(?:services|workflows|triggers)|discord(?:app)?\.com/api/webhooks)/[A-Za-z0-9_/-]{24,}`),
	// Base64 of machine code holds the two rarer prefixes by chance.
	tokenForm('aws-access-key-id', '(?:AKIA|ASIA|(?<![A-Za-z0-9+/])(?:ABIA|ACCA)(?=[A-Z2-7]{16}(?![A-Za-z0-9+/])))[A-Z2-7]{16}'),
	labelled('aws-secret-key', String.raw`aws[\w-]{0,20}(?:secret|sk)[\w. -]{0,20}${assign}`, {characters: '[A-Za-z0-9/+]', guard: 'random'}),
	// In the middle of base64 it is chance.
	tokenForm('google-api-key', '(?:(?<![A-Za-z0-9+/])AIza[A-Za-z0-9_-]{35}|AIza[A-Za-z0-9_-]{35}(?![A-Za-z0-9+/_-]))'),
	tokenForm('google-oauth-token', String.raw`(?:ya29\.|GOCSPX-)[A-Za-z0-9_-]{20,}`),
	tokenForm('azure-account-key', '(?:AccountKey|SharedAccessKey)=[A-Za-z0-9+/]{40,}={0,2}'),
	guarded('azure-client-secret', '[A-Za-z0-9]{3}[0-9]Q~[A-Za-z0-9_~.-]{31,64}', 'random', '[A-Za-z0-9_~.-]'),
	guarded('atlassian-token', '(?:ATATT3|(?<![A-Za-z0-9+/])ATBB)[A-Za-z0-9_=-]{24,128}', 'random', '[A-Za-z0-9_=-]'),
	tokenForm('stripe-key', '(?:(?:sk|rk)_(?:live|test)_|whsec_)[A-Za-z0-9]{16,}'),
	guarded('model-api-key', '(?:sk-(?:proj|ant|svcacct|or|admin)-[A-Za-z0-9_-]{20,128}|sk-[A-Za-z0-9]{48}|hf_[A-Za-z0-9]{34,64})', 'random', '[A-Za-z0-9_-]'),
	tokenForm('sendgrid-key', String.raw`SG\.[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{40,}`),
	tokenForm('twilio-key', 'SK[0-9a-f]{32}'),
	tokenForm('telegram-bot-token', '[0-9]{8,10}:AA[A-Za-z0-9_-]{33}'),
	tokenForm('digitalocean-token', 'do[opr]_v1_[a-f0-9]{64}'),
	tokenForm('shopify-token', 'shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}'),
	tokenForm('databricks-token', 'dapi[0-9a-f]{32}'),
	tokenForm('vault-token', String.raw`hv[sbr]\.[A-Za-z0-9_-]{24,}`),
	tokenForm('age-secret-key', 'AGE-SECRET-KEY-1[0-9A-Z]{50,}'),
	{...tokenForm('jwt', String.raw`\.ey[AJ][A-Za-z0-9_-]{6,}`), tail: '[A-Za-z0-9_.-]', head: {characters: '[A-Za-z0-9_-]', from: 'eyJ'}},
	labelled('basic-authorization', String.raw`authorization${assign}basic[ \t]{1,4}`, {characters: '[A-Za-z0-9+/=_-]', guard: 'base64-pair'}),
	labelled('authorization-header', String.raw`authorization${assign}(?:bearer|token|apikey|negotiate)[ \t]{1,4}`, {characters: anything, guard: 'password'}),
	labelled('bearer-token', String.raw`bearer[ \t]{1,4}`, {characters: '[A-Za-z0-9._~+/=-]', guard: 'random'}),
	{id: 'url-password', pattern: String.raw`://[^\s/:@"'<>]{0,128}:([^\s/"'<>]{1,256})@`, ignoreCase: false, guard: 'present', tail: null, head: null},
	labelled('gitea-token', String.raw`(?:gitea|forgejo)[\w-]{0,20}token${assign}`, {characters: '[0-9a-f]', guard: 'random'}),
	labelled('netrc-password', String.raw`login[ \t\r\n]{1,8}[^\s]{1,128}[ \t\r\n]{1,8}password[ \t\r\n]{1,8}`, {characters: anything, guard: 'present'}),
	labelled('registry-auth', String.raw`(?:"auth"|_auth|_password)${assign}`, {characters: '[A-Za-z0-9+/=]', guard: 'base64-pair'}),
	labelled('command-line-login', String.raw`(?<![\w-])(?:-u|--user|--proxy-user)[ \t=]{1,2}${quote}?[\w.@+-]{1,64}:`, {
		characters: anything,
		guard: 'password',
		least: 6,
	}),
	labelled('command-line-password', String.raw`${passwordWords}(?<=-[a-z-]{1,40})[ \t]{1,4}${quote}?(?!-)`, {
		characters: anything,
		guard: 'password',
		least: 6,
	}),
	labelled('command-line-token', String.raw`${keyWords}(?<=-[a-z-]{1,40})[ \t]{1,4}${quote}?(?!-)`, {characters: tokenCharacter, guard: 'random'}),
	labelled('password', String.raw`${passwordWords}[_-]?[0-9]{0,2}${assign}`, {characters: anything, guard: 'password', least: 6}),
	labelled('labelled-secret', `${keyWords}${assign}`, {characters: tokenCharacter, guard: 'random'}),
];

/** Markers of private keys in text form. Source: RFC 7468, RFC 4716, OpenPGP armor, PuTTY. */
export const keyMarkers = {
	id: 'private-key',
	begin: '-{4,5} ?BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)? ?-{4,5}|Private-Lines: [0-9]{1,4}',
	end: '-{4,5} ?END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)? ?-{4,5}|Private-MAC:',
	/** First characters of the base64 body of OpenSSH, PKCS #8 (RSA, EC, Ed25519) and PKCS #1 keys: a key whose first line is missing. */
	body: '(?:b3BlbnNzaC1rZXktdjE|IBADANBgkqhkiG9w0BAQEFAASC|MIGHAgEAMBMGByqGSM49AgEG|MC4CAQAwBQYDK2VwBCIEI|IBAAKC[AQ][QgY]EA|IBAAKBgQ)[A-Za-z0-9+/=]{16,}',
} as const;

/** Name recorded for a hit of a value that was handed in: which one it was is never said. */
export const knownValueRule = 'known-value';

/** What the manifest says of the rules: how many, and the digest of their canonical JSON (never of known values). Source: shapes.ts: secret_scan. */
export const secretRuleSet: {readonly rules: number; readonly rules_sha256: string} = {
	rules: secretRules.length + 1,
	rules_sha256: sha256Hex(canonicalJson({rules: secretRules, keys: keyMarkers})),
};
