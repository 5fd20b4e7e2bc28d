import type {GuardName} from './secret-rules.ts';

/** A guard judges at most so many characters: what is random or a password shows itself before. */
const judgedCharacters = 256;

/**
 * Whether `text` looks like a secret to this guard.
 *
 * - `present`: anything that is no mask and no variable.
 * - `password`: at least 6 characters that are not only words; no placeholder, path, address, call or member of an object.
 * - `random`: at least 12 characters that no person made up: letters and digits, spread evenly.
 * - `base64-pair`: base64 of a printable `name:value`, or anything random.
 */
export function passesGuard(guard: GuardName, text: string): boolean {
	return guards[guard](text.slice(0, judgedCharacters));
}

const guards: Readonly<Record<GuardName, (text: string) => boolean>> = {
	none: () => true,
	present: text => !isMask(text),
	password: text => !isPlaceholder(text) && !isReference(text) && looksChosen(text.replace(closers, '')),
	random: text => looksRandom(text.replace(closers, '')) && !isPlaceholder(text) && !isReference(text),
	'base64-pair': text => looksRandom(text) || isBase64Pair(text),
};

/** Shannon entropy in bits per character of a string of at least one character. */
export function entropyOf(text: string): number {
	const counts = new Map<string, number>();
	for (const character of text) {
		counts.set(character, (counts.get(character) ?? 0) + 1);
	}

	let bits = 0;
	for (const count of counts.values()) {
		bits -= (count / text.length) * Math.log2(count / text.length);
	}

	return bits;
}

const words = new Set(
	'pass password passwd passphrase passwort secret token user username null none nil undefined true false redacted hidden masked required optional'.split(' '),
);
/** Punctuation of the sentence or the structure around a value. */
const closers = /[),;.:\]}]+$/;
const variable = /^(?:\$[A-Za-z_]\w*|\$\{[^}]*\}|\$\{\{[^}]*\}\}|\$\([^)]*\)|%\w+%?|<[^>]*>|\{\{[^}]*\}\}|\{\w*\})[),;.:\]}]*$/;
const pathOrAddress = /^(?:\.{0,2}\/|~\/|[a-z][a-z0-9+.-]*:\/\/|[A-Za-z]:\\)/i;
const member = /^[A-Za-z_$]+\d{0,2}(?:\??\.[A-Za-z_$]+\d{0,2})+[),;]*$/;
const call = /^[A-Za-z_$][\w$]{0,40}(?:\??\.[A-Za-z_$][\w$]{0,40}){0,8}[(<[]/;
/** Minified source code, as a stack trace shows it: a variable of a few letters, or a literal, and punctuation. */
const minified = /^(?:[A-Za-z_$][\w$]{0,2}|null|void|true|false|undefined|this|new|await)[,?;)}\]]/;
const wordsOnly = /^(?:[A-Z]?[a-z]+|[A-Z]+)(?:[-_./:,;|](?:[A-Z]?[a-z]+|[A-Z]+))*$/;
const camelWords = /^[A-Z]?[a-z]{2,}(?:[A-Z][a-z]{2,})*$/;

function isMask(text: string): boolean {
	return /^(.)\1*$/s.test(text) || variable.test(text) || /^\[?redacted\]?$/i.test(text);
}

function isPlaceholder(text: string): boolean {
	return isMask(text) || words.has(text.toLowerCase().replace(closers, ''));
}

/** Something that names where a value lies: a path, an address, source code. */
function isReference(text: string): boolean {
	return pathOrAddress.test(text) || member.test(text) || call.test(text) || minified.test(text);
}

function looksChosen(text: string): boolean {
	return text.length >= 6 && /[A-Za-z]/.test(text) && !wordsOnly.test(text) && !camelWords.test(text) && entropyOf(text) >= 2;
}

function looksRandom(text: string): boolean {
	const digits = text.replace(/[^0-9]+/g, '').length;
	const isMixed = /[a-z]/.test(text) && /[A-Z]/.test(text);
	const isSpread = isMixed ? digits >= 1 : digits >= 3 && digits * 8 >= text.length;
	return text.length >= 12 && /[A-Za-z]/.test(text) && isSpread && entropyOf(text) >= 3;
}

function isBase64Pair(text: string): boolean {
	return /^[\x20-\x7e]+:[\x20-\x7e]+$/.test(Buffer.from(text, 'base64').toString('latin1'));
}
