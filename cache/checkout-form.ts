import {gitObjectId} from './git-objects.ts';

/**
 * In which form a checkout holds the blob of a path, as the committed attributes say: unchanged; with CRLF for LF, always or
 * only for text (`text=auto eol=crlf`); or, with Git LFS, the file that the pointer names.
 */
export type CheckoutForm = 'plain' | 'crlf' | 'crlf-auto' | 'lfs';

const cr = 0x0d;
const lf = 0x0a;

/** The bytes that a checkout of `blob` holds where the attributes ask for eol=crlf. Source: R-START-3, gitattributes(5) "eol". */
export function toCrlfForm(blob: Buffer, form: 'crlf' | 'crlf-auto'): Buffer {
	if (form === 'crlf-auto' && (hasCarriageReturn(blob) || looksBinary(blob))) {
		return blob;
	}

	const text = blob.toString('latin1');
	return Buffer.from(text.replaceAll(/(?<!\r)\n/g, '\r\n'), 'latin1');
}

/**
 * Whether `bytes` are the CRLF form of the blob `id`; 'unknown' where only the blob itself can tell (it mixes both line ends).
 *
 * A blob that git made has LF alone, so that it can be had back from the file and proven by its id.
 */
export function matchCrlfForm(bytes: Buffer, id: string, form: 'crlf' | 'crlf-auto'): boolean | 'unknown' {
	const candidates = [bytes, Buffer.from(bytes.toString('latin1').replaceAll('\r\n', '\n'), 'latin1')];
	const blob = candidates.find(candidate => gitObjectId('blob', candidate) === id);
	return blob === undefined ? 'unknown' : toCrlfForm(blob, form).equals(bytes);
}

/** What a Git LFS pointer says, or null where the blob is none. Source: Git LFS specification, "The Pointer". */
export function parseLfsPointer(blob: Buffer): {readonly sha256: string; readonly bytes: number} | null {
	if (blob.length > 1024) {
		return null;
	}

	const lines = blob.toString('utf8').split('\n');
	const oid = lines.map(line => /^oid sha256:([0-9a-f]{64})$/.exec(line)?.[1]).find(found => found !== undefined);
	const size = lines.map(line => /^size (\d{1,15})$/.exec(line)?.[1]).find(found => found !== undefined);
	if (lines[0] !== 'version https://git-lfs.github.com/spec/v1' || oid === undefined || size === undefined) {
		return null;
	}

	return {sha256: oid, bytes: Number(size)};
}

function hasCarriageReturn(blob: Buffer): boolean {
	return blob.includes(cr);
}

/** git's own guess: a NUL, or more than one unusual control character in 128 usual ones. */
function looksBinary(blob: Buffer): boolean {
	let usual = 0;
	let unusual = 0;
	// A closing Ctrl-Z is an end mark of old systems, not a sign of binary content.
	const end = blob.at(-1) === 0x1a ? blob.length - 1 : blob.length;
	for (let at = 0; at < end; at++) {
		const byte = blob[at] ?? 0;
		if (byte === 0) {
			return true;
		}

		if (byte !== lf && byte !== cr) {
			if (isUnusual(byte)) {
				unusual++;
			} else {
				usual++;
			}
		}
	}

	return usual >> 7 < unusual;
}

/** Backspace, tab, form feed and escape are usual in text. */
function isUnusual(byte: number): boolean {
	return byte === 0x7f || (byte < 0x20 && ![0x08, 0x09, 0x0c, 0x1b].includes(byte));
}
