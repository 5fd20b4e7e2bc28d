import {generateKeyPairSync} from 'node:crypto';
import test from 'ava';
import {noKnownValues} from '../../evidence/known-values.ts';
import {scanOutput} from '../../evidence/secret-scan.ts';

const rsa = generateKeyPairSync('rsa', {modulusLength: 2048}).privateKey;
const ec = generateKeyPairSync('ec', {namedCurve: 'P-256'}).privateKey;
const ed25519 = generateKeyPairSync('ed25519').privateKey;

const keys: Readonly<Record<string, string>> = {
	'PKCS #8 RSA': rsa.export({type: 'pkcs8', format: 'pem'}).toString(),
	'PKCS #1 RSA': rsa.export({type: 'pkcs1', format: 'pem'}).toString(),
	'PKCS #8 EC': ec.export({type: 'pkcs8', format: 'pem'}).toString(),
	'SEC 1 EC': ec.export({type: 'sec1', format: 'pem'}).toString(),
	'PKCS #8 Ed25519': ed25519.export({type: 'pkcs8', format: 'pem'}).toString(),
	'encrypted PKCS #8': ec.export({type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'x'}).toString(),
	'encrypted PKCS #1': rsa.export({type: 'pkcs1', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'x'}).toString(),
};

/** The lines of base64 of a key, the short last one left out. */
function bodyOf(pem: string): string[] {
	return pem.split('\n').filter(line => /^[A-Za-z0-9+/=]{40,}$/.test(line));
}

function store(text: string): string {
	return scanOutput(Buffer.from(text), noKnownValues).stored.toString('utf8');
}

const forms: Readonly<Record<string, (pem: string) => string>> = {
	'as it is': pem => pem,
	'with CRLF': pem => pem.replaceAll('\n', '\r\n'),
	indented: pem => pem.replaceAll(/^/gm, '    '),
	'with a prefix on each line': pem => pem.replaceAll(/^(?=.)/gm, '2026-01-01T00:00:00.000Z [build] | '),
	'quoted in a list': pem =>
		pem
			.trimEnd()
			.split('\n')
			.map(line => `  "${line}",\n`)
			.join(''),
	'in JSON': pem => `{"key":${JSON.stringify(pem)},"other":1}`,
	'in JSON in JSON': pem => JSON.stringify(JSON.stringify({key: pem})),
	'on one line': pem => pem.trimEnd().replaceAll('\n', ' '),
	'in colour': pem => pem.replaceAll(/^.*$/gm, line => `\u001b[33m${line}\u001b[0m`),
	'with zero-width spaces': pem => pem.replaceAll('A', 'A\u200b'),
	'without its last line': pem => `${pem.trimEnd().split('\n').slice(0, -1).join('\n')}\n`,
	'without its last lines': pem => `${pem.trimEnd().split('\n').slice(0, -2).join('\n')}\n`,
	'broken off within a line': pem => pem.slice(0, pem.lastIndexOf('-----END') - 20),
	'without its first line': pem => pem.split('\n').slice(1).join('\n'),
	'without its first line, with a prefix on each line': pem =>
		pem
			.split('\n')
			.slice(1)
			.join('\n')
			.replaceAll(/^(?=.)/gm, '[build] '),
};

for (const [kind, pem] of Object.entries(keys)) {
	for (const [form, write] of Object.entries(forms)) {
		test(`a private key is found: ${kind} ${form}`, t => {
			const written = write(pem);
			const left = store(`line before\n${written}\nline after\n`);
			// Of a key of one line nothing is left without its last lines but a marker, which is no secret.
			t.is(left.includes('[REDACTED]'), /[A-Za-z0-9+/\u200b]{40}/.test(written));
			for (const line of bodyOf(pem)) {
				t.false(left.replaceAll('\u200b', '').includes(line.slice(0, 20)), left);
				t.false(left.replaceAll('\u200b', '').includes(line.slice(20, 40)), left);
			}

			t.is(store(left), left);
		});
	}
}

test('what stands around a key is kept', t => {
	const pem = keys['PKCS #8 RSA'] ?? '';
	t.is(store(`line before\n${pem}line after\n`), 'line before\n[REDACTED]\nline after\n');
	t.is(store(`${pem}between\n${pem}`), '[REDACTED]\nbetween\n[REDACTED]\n');
	t.is(store(`line before\n${pem.slice(0, 500)}\nline after: done.\n`), 'line before\n[REDACTED]\nline after: done.\n');
});

test('an OpenSSH key, an OpenPGP block and a PuTTY key are found', t => {
	const body = (keys['PKCS #8 RSA'] ?? '').split('\n').slice(1, 10).join('\n');
	const kinds = [
		`-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjEAAAAABG5vbmU\n${body}\n-----END OPENSSH PRIVATE KEY-----`,
		`-----BEGIN PGP PRIVATE KEY BLOCK-----\nVersion: 1\n\n${body}\n=abcd\n-----END PGP PRIVATE KEY BLOCK-----`,
		`---- BEGIN SSH2 ENCRYPTED PRIVATE KEY ----\nComment: "x"\n${body}\n---- END SSH2 ENCRYPTED PRIVATE KEY ----`,
		`PuTTY-User-Key-File-3: ssh-rsa\nPrivate-Lines: 9\n${body}\nPrivate-MAC: 0123`,
	];
	for (const key of kinds) {
		const left = store(key);
		t.true(left.includes('[REDACTED]'));
		t.true(
			bodyOf(body).every(line => !left.includes(line.slice(0, 24))),
			left,
		);
	}
});

test('a key of 16,384 bits is one redaction', t => {
	const body = (keys['PKCS #8 RSA'] ?? '').split('\n').slice(1, -2).join('\n');
	const pem = `-----BEGIN PRIVATE KEY-----\n${Array.from({length: 9}, () => body).join('\n')}\n-----END PRIVATE KEY-----\n`;
	t.is(store(pem), '[REDACTED]\n');
});
