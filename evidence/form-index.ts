/** Forms are at least this long (E-V3-7: values have 8 bytes, and each of their spellings is as long or longer). */
const prefixLength = 8;
const hashBits = 16;

/** Finds any of many texts in one pass: by a hash of four characters first, by the first eight then, by the whole at last. */
export class FormIndex<Form extends {readonly text: string}> {
	readonly #hashes = new Uint8Array(1 << hashBits);
	readonly #byPrefix = new Map<string, Form[]>();

	/** Shape: each text has 8 characters or more, one for each byte. */
	constructor(forms: readonly Form[]) {
		for (const form of forms) {
			const {text} = form;
			this.#hashes[hashOf(shifted(shifted(shifted(shifted(0, text, 0), text, 1), text, 2), text, 3))] = 1;
			const prefix = text.slice(0, prefixLength);
			const sharing = this.#byPrefix.get(prefix);
			if (sharing === undefined) {
				this.#byPrefix.set(prefix, [form]);
			} else {
				sharing.push(form);
			}
		}
	}

	/** Calls `found` for each place where a form stands in `text`; time is linear in the text, whatever the number of forms. */
	search(text: string, found: (form: Form, at: number) => void): void {
		let window = 0;
		for (let end = 0; end < text.length; end++) {
			window = shifted(window, text, end);
			const at = end - 3;
			if (at < 0 || this.#hashes[hashOf(window)] === 0) {
				continue;
			}

			for (const form of this.#byPrefix.get(text.slice(at, at + prefixLength)) ?? []) {
				if (text.startsWith(form.text, at)) {
					found(form, at);
				}
			}
		}
	}
}

/** The last four characters as one number of 32 bits. */
function shifted(window: number, text: string, at: number): number {
	return (window << 8) | (text.charCodeAt(at) & 0xff);
}

function hashOf(window: number): number {
	return Math.imul(window, 0x9e3779b1) >>> (32 - hashBits);
}
