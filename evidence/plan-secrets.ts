import {BailiffError} from '../core/errors.ts';
import type {KnownValues} from './known-values.ts';
import type {Plan} from './plan-schema.ts';
import {pointerOf} from './schema-problems.ts';
import {findSecrets} from './secret-scan.ts';

/** A secret in a plan: where it stands and what found it, never what it is. */
export type PlanSecret = {readonly pointer: string; readonly rule: string};

/**
 * Refuses a plan that holds a secret in any of its strings (argv, cwd, env, paths) or anywhere else in its bytes: a plan is kept as evidence,
 * and to redact it would unbind it.
 *
 * Refuses: RUN_SECRET_IN_PLAN with `details.secrets` (pointer and rule, never the value). Source: E-V3-7, R-OUT-2.
 */
export function scanPlan(plan: Plan, planBytes: Uint8Array, known: KnownValues): void {
	const secrets = findPlanSecrets(plan, planBytes, known);
	const [first] = secrets;
	if (first === undefined) {
		return;
	}

	const place = first.pointer === '' ? 'the plan' : first.pointer;
	const more = secrets.length > 1 ? ` and ${secrets.length - 1} more` : '';
	throw new BailiffError(
		'RUN_SECRET_IN_PLAN',
		`${place} holds what looks like a secret (rule ${first.rule})${more}: a plan is kept as evidence, so take it out and let the command read it from a file or a service`,
		{details: {secrets}},
	);
}

/** The secrets of a plan, each place and rule once, in the order of the plan. */
export function findPlanSecrets(plan: Plan, planBytes: Uint8Array, known: KnownValues): PlanSecret[] {
	const text = new PlanText();
	text.add(plan, []);
	const bytes = text.bytes();
	const found = findSecrets(bytes, known).map(hit => ({pointer: text.pointerAt(hit.start), rule: hit.rule}));
	if (found.length === 0) {
		found.push(...findSecrets(Buffer.from(planBytes), known).map(hit => ({pointer: '', rule: hit.rule})));
	}

	return [...new Map(found.map(secret => [`${secret.pointer} ${secret.rule}`, secret])).values()];
}

/** All strings of a plan as one text: an argv as the line that it would be in a shell, a variable as `name=value`, anything else a line of its own. */
class PlanText {
	readonly #pieces: Buffer[] = [];
	readonly #places: Array<{readonly start: number; readonly pointer: string}> = [];
	#length = 0;

	add(value: unknown, path: readonly string[]): void {
		if (typeof value === 'string') {
			this.#put(value, path, '\n');
		} else if (path.at(-1) === 'argv' && Array.isArray(value)) {
			for (const [index, word] of value.entries()) {
				this.#put(String(word), [...path, String(index)], index + 1 === value.length ? '\n' : ' ');
			}
		} else if (typeof value === 'object' && value !== null) {
			for (const [key, member] of Object.entries(value)) {
				this.#addMember(key, member, path);
			}
		}
	}

	bytes(): Buffer {
		return Buffer.concat(this.#pieces);
	}

	/** Where the piece stands that holds byte `offset`. */
	pointerAt(offset: number): string {
		return this.#places.findLast(place => place.start <= offset)?.pointer ?? '';
	}

	#addMember(key: string, member: unknown, path: readonly string[]): void {
		if (path.at(-1) === 'env') {
			// The name itself could be the secret, so it is not part of its own pointer.
			this.#put(key, path, '=');
		}

		this.add(member, [...path, key]);
	}

	#put(text: string, path: readonly string[], end: string): void {
		this.#places.push({start: this.#length, pointer: pointerOf(path)});
		const bytes = Buffer.from(`${text}${end}`, 'utf8');
		this.#pieces.push(bytes);
		this.#length += bytes.length;
	}
}
