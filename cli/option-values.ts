import {BailiffError} from '../core/errors.ts';

/** The options of one call as they were parsed, read by name and checked by kind: no command ever touches an untyped value. */
export class OptionValues {
	readonly #values: Readonly<Record<string, unknown>>;

	constructor(values: Readonly<Record<string, unknown>>) {
		this.#values = values;
	}

	/** The text of an option, or null when it was not given. */
	text(name: string): string | null {
		const value = this.#values[name];
		return typeof value === 'string' ? value : null;
	}

	/** The number of an option, or null when it was not given. */
	number(name: string): number | null {
		const value = this.#values[name];
		return typeof value === 'number' ? value : null;
	}

	/** True when a flag was given. */
	flag(name: string): boolean {
		return this.#values[name] === true;
	}

	/** Every value of an option that may be repeated, in order. */
	list(name: string): readonly string[] {
		const value = this.#values[name];
		return Array.isArray(value) ? value.filter(item => typeof item === 'string') : [];
	}

	/**
	 * The text of an option that must be given.
	 *
	 * Refuses: CLI_USAGE when it is missing.
	 */
	required(name: string): string {
		const value = this.text(name);
		if (value === null) {
			throw new BailiffError('CLI_USAGE', `option ${optionFlag(name)} is missing`);
		}

		return value;
	}
}

/** `--repo-root` for `repoRoot`. */
export function optionFlag(name: string): string {
	return `--${name.replaceAll(/[A-Z]/g, letter => `-${letter.toLowerCase()}`)}`;
}
