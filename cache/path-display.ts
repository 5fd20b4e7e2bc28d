/** A latin1 path of git as a person may read it: quoted, control characters and bytes that are no UTF-8 escaped. */
export function displayPath(path: string): string {
	const bytes = Buffer.from(path, 'latin1');
	const text = bytes.toString('utf8');
	const isText = Buffer.from(text).equals(bytes);
	const shown = isText ? text : path.replaceAll(/[\x80-\xff]/g, byte => `\\x${byte.charCodeAt(0).toString(16)}`);
	// Other scripts stay readable; what reorders or hides text does not.
	return JSON.stringify(shown).replaceAll(/[\p{C}\u2028\u2029]/gu, character => `\\u{${character.codePointAt(0)?.toString(16) ?? ''}}`);
}
