import {BailiffError, type JsonValue} from './errors.ts';

/**
 * The one byte form of a JSON value: keys sorted by UTF-16 code unit, no blanks, ECMAScript number form.
 *
 * Refuses: a lone surrogate (CORE_JSON_LONE_SURROGATE) and a number that is not finite (CORE_JSON_VALUE).
 * Source: RFC 8785.
 */
export function canonicalJson(value: JsonValue): string {
	if (typeof value === 'string') {
		return canonicalString(value);
	}

	if (typeof value === 'number') {
		if (!Number.isFinite(value)) {
			throw new BailiffError('CORE_JSON_VALUE', `a JSON number must be finite, not ${value}`);
		}

		return JSON.stringify(value);
	}

	if (value === null || typeof value === 'boolean') {
		return String(value);
	}

	if (isArray(value)) {
		return `[${value.map(item => canonicalJson(item)).join(',')}]`;
	}

	const members = Object.keys(value)
		.toSorted(byCodeUnit)
		.map(key => `${canonicalString(key)}:${canonicalJson(value[key] ?? null)}`);
	return `{${members.join(',')}}`;
}

/** The canonical bytes of a file: RFC 8785 plus one line feed (E-V3-1). */
export function canonicalFile(value: JsonValue): Buffer {
	return Buffer.from(`${canonicalJson(value)}\n`, 'utf8');
}

function isArray(value: JsonValue): value is readonly JsonValue[] {
	return Array.isArray(value);
}

function byCodeUnit(left: string, right: string): number {
	if (left === right) {
		return 0;
	}

	return left < right ? -1 : 1;
}

function canonicalString(text: string): string {
	if (!text.isWellFormed()) {
		throw new BailiffError('CORE_JSON_LONE_SURROGATE', 'a JSON string must not hold a lone surrogate');
	}

	return JSON.stringify(text);
}
