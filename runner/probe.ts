/** What `doctor` found out about one thing. */
export type Probe = {
	/** Stable, kebab-case. */
	readonly id: string;
	/** `fail`: no run can work. `warn`: something is lost. */
	readonly state: 'ok' | 'warn' | 'fail';
	/** What was seen. */
	readonly seen: string;
	/** What a person can do; null where nothing is wanting. */
	readonly mend: string | null;
};

/** A probe that found nothing wanting. */
export function sound(id: string, seen: string): Probe {
	return {id, state: 'ok', seen, mend: null};
}

/** A probe that found something wanting. */
export function wanting(id: string, state: 'warn' | 'fail', found: {readonly seen: string; readonly mend: string}): Probe {
	return {id, state, ...found};
}
