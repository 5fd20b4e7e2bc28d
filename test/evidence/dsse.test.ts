import {generateKeyPairSync, verify as verifyBytes} from 'node:crypto';
import {envelopeFromJSON} from '@sigstore/bundle';
import {crypto as sigstoreCrypto, dsse as sigstoreDsse} from '@sigstore/core';
import test from 'ava';
import {canonicalFile} from '../../core/canonical-json.ts';
import {canonicalBase64, keyIdOf, openEnvelope, preAuthEncoding, sealEnvelope} from '../../evidence/dsse.ts';
import {statementPayloadType} from '../../evidence/statement.ts';

const {privateKey, publicKey} = generateKeyPairSync('ed25519');
const other = generateKeyPairSync('ed25519');
const payload = Buffer.from('{"_type":"x","text":"\u00e4\u20ac"}');
const sealed = sealEnvelope(payload, privateKey);
type Envelope = {payload: string; payloadType: string; signatures: Array<Record<string, string>>};
const envelope: Envelope = JSON.parse(sealed.toString());
const signature = envelope.signatures[0]?.['sig'] ?? '';

test('preAuthEncoding() gives the vector of the specification, and counts bytes and not characters', t => {
	t.is(preAuthEncoding('http://example.com/HelloWorld', Buffer.from('hello world')).toString(), 'DSSEv1 29 http://example.com/HelloWorld 11 hello world');
	t.is(preAuthEncoding('\u00e4', Buffer.from('\u20ac')).toString(), 'DSSEv1 2 \u00e4 3 \u20ac');
});

test('an envelope of ours is read by the libraries of sigstore, and its signature holds over their encoding', t => {
	const read = envelopeFromJSON(JSON.parse(sealed.toString()));
	t.deepEqual(read.payload, payload);
	const signed = sigstoreDsse.preAuthEncoding(read.payloadType, read.payload);
	const sig = read.signatures[0]?.sig ?? Buffer.alloc(0);
	t.true(sigstoreCrypto.verify(signed, publicKey, sig));
	t.true(verifyBytes(null, signed, publicKey, sig));
	t.false(sigstoreCrypto.verify(signed, other.publicKey, sig));
});

test('openEnvelope() gives the payload to whoever trusts the key, also among others', t => {
	t.deepEqual(openEnvelope(sealed, [other.publicKey, publicKey]), {isGood: true, payload, keyId: keyIdOf(publicKey)});
});

const altered = (change: Partial<Envelope> & {extra?: number}): Buffer => canonicalFile({...envelope, ...change});
const urlSafe = (text: string): string => text.replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
/** Other bits behind the last byte, which decoders ignore. */
const loose = (text: string): string => text.replace(/.(==?)$/, (_, pad: string) => `${pad === '==' ? 'x' : '9'}${pad}`);

const cases: ReadonlyArray<readonly [title: string, bytes: Buffer, code: string]> = [
	['a signature of another key', sealEnvelope(payload, other.privateKey), 'EVIDENCE_ATTESTATION_SIGNER'],
	['another payload under the same signature', altered({payload: Buffer.from('{}').toString('base64')}), 'EVIDENCE_ATTESTATION_SIGNER'],
	['another payload type', altered({payloadType: 'application/json'}), 'EVIDENCE_ATTESTATION_PAYLOAD_TYPE'],
	['a payload type in capitals', altered({payloadType: statementPayloadType.toUpperCase()}), 'EVIDENCE_ATTESTATION_PAYLOAD_TYPE'],
	[
		'a trusted keyid over a signature of nobody',
		altered({signatures: [{keyid: keyIdOf(publicKey), sig: Buffer.alloc(64).toString('base64')}]}),
		'EVIDENCE_ATTESTATION_SIGNER',
	],
	['a signature that is too short', altered({signatures: [{sig: Buffer.alloc(63).toString('base64')}]}), 'EVIDENCE_ATTESTATION_SIGNER'],
	['no signature', altered({signatures: []}), 'EVIDENCE_ATTESTATION_FORM'],
	['two signatures', altered({signatures: [{sig: signature}, {sig: signature}]}), 'EVIDENCE_ATTESTATION_FORM'],
	['an unknown key', altered({extra: 1}), 'EVIDENCE_ATTESTATION_FORM'],
	['the url-safe alphabet', altered({signatures: [{sig: urlSafe(signature)}]}), 'EVIDENCE_ATTESTATION_BASE64'],
	['blanks in base64', altered({signatures: [{sig: `${signature}\n`}]}), 'EVIDENCE_ATTESTATION_BASE64'],
	['unused bits in base64', altered({signatures: [{sig: loose(signature)}]}), 'EVIDENCE_ATTESTATION_BASE64'],
	['missing padding', altered({signatures: [{sig: signature.replace(/=+$/, '')}]}), 'EVIDENCE_ATTESTATION_BASE64'],
	['a key that stands twice', Buffer.from(sealed.toString().replace('{"payload"', '{"payload":"e30=","payload"')), 'EVIDENCE_ATTESTATION_FORM'],
	['no JSON', Buffer.from('hello'), 'EVIDENCE_ATTESTATION_FORM'],
	['nothing', Buffer.alloc(0), 'EVIDENCE_ATTESTATION_FORM'],
];

for (const [title, bytes, code] of cases) {
	test(`openEnvelope() refuses ${title}`, t => {
		t.like(openEnvelope(bytes, [publicKey]), {isGood: false, code});
	});
}

test('openEnvelope() trusts nobody where nobody is trusted', t => {
	t.like(openEnvelope(sealed, []), {isGood: false, code: 'EVIDENCE_ATTESTATION_SIGNER'});
});

test('canonicalBase64() takes exactly what an encoder writes', t => {
	t.deepEqual(canonicalBase64('aGk='), Buffer.from('hi'));
	t.deepEqual(canonicalBase64(''), Buffer.alloc(0));
	for (const text of ['aGk', 'aGl=', 'aG k=', 'aGk=\n', 'a-_=', '=']) {
		t.is(canonicalBase64(text), null, text);
	}
});
