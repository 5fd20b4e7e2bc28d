import {passesGuard} from './secret-guards.ts';
import {type SecretRule, secretRules} from './secret-rules.ts';

/** A rule, ready to search. */
export class RuleSearch {
	readonly id: string;
	readonly #rule: SecretRule;
	readonly #pattern: RegExp;
	readonly #tail: RegExp | null;

	constructor(rule: SecretRule) {
		this.id = rule.id;
		this.#rule = rule;
		this.#pattern = new RegExp(rule.pattern, rule.ignoreCase ? 'dgi' : 'dg');
		this.#tail = rule.tail === null ? null : new RegExp(`${rule.tail}*`, 'y');
	}

	/** Calls `found` with each stretch of `text` that is a secret to this rule, ascending. */
	search(text: string, found: (start: number, end: number) => void): void {
		this.#pattern.lastIndex = 0;
		for (let match = this.#pattern.exec(text); match !== null; match = this.#pattern.exec(text)) {
			const [from, to] = match.indices?.[1] ?? [match.index, match.index + match[0].length];
			const start = this.#start(text, from, to);
			if (start !== null && passesGuard(this.#rule.guard, text.slice(start, to))) {
				const end = this.#end(text, from, to);
				found(start, end);
				this.#pattern.lastIndex = Math.max(end, match.index + 1);
			} else {
				// What is no secret can hold the name of one.
				this.#pattern.lastIndex = Math.max(from, match.index + 1);
			}
		}
	}

	/** Where the value begins: behind earlier marks, or with the head that belongs to it; null where nothing is left or the head is missing. */
	#start(text: string, from: number, to: number): number | null {
		const {head} = this.#rule;
		if (head !== null) {
			return headStart(text, from, head);
		}

		let start = from;
		while (start < to && text.startsWith('[REDACTED]', start)) {
			start += '[REDACTED]'.length;
		}

		return start < to ? start : null;
	}

	/** Where the value ends: with its characters, or with the quote that it stands in (a passphrase has blanks). */
	#end(text: string, from: number, to: number): number {
		if (this.#tail === null) {
			return to;
		}

		this.#tail.lastIndex = to;
		const end = to + (this.#tail.exec(text)?.[0].length ?? 0);
		return from === 0 ? end : end + restOfQuote(text.slice(end, end + longestPhrase), text.charAt(from - 1));
	}
}

/** A quote that is still open after so many characters is none around this value. */
const longestPhrase = 200;

function restOfQuote(text: string, opener: string): number {
	const close = /^["'\x60]$/.test(opener) ? text.search(new RegExp(`\\\\{0,4}${opener}|[\\r\\n]`)) : -1;
	return close === -1 || /[\r\n]/.test(text.charAt(close)) ? 0 : close;
}

function headStart(text: string, from: number, head: NonNullable<SecretRule['head']>): number | null {
	const characters = new RegExp(head.characters);
	let start = from;
	while (start > 0 && characters.test(text.charAt(start - 1))) {
		start--;
	}

	const first = text.slice(start, from).indexOf(head.from);
	return first === -1 ? null : start + first;
}

let compiled: readonly RuleSearch[] | null = null;

/** All rules in their order of precedence, compiled at the first call. */
export function compiledRules(): readonly RuleSearch[] {
	compiled ??= secretRules.map(rule => new RuleSearch(rule));
	return compiled;
}
