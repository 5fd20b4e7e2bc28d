import type {NativeParts} from '../native/index.ts';

let claims = 0;
let wasSubreaper = false;
let wasSealed = false;

/**
 * Makes this process a custodian while at least one claim is open: a subreaper, so that the orphans of a dead supervisor become its children, and
 * sealed, so that a command of the same user reaches neither its pipes nor its memory (R-MECH-4).
 *
 * The function that it returns gives the claim back; the last one restores what was before. Calling it twice does no harm.
 */
export function becomeCustodian(native: NativeParts): () => void {
	if (claims === 0) {
		wasSubreaper = native.isSubreaper();
		wasSealed = native.isSealed();
		native.setSubreaper(true);
		native.setSealed(true);
	}

	claims += 1;
	let isOpen = true;
	return () => {
		if (!isOpen) {
			return;
		}

		isOpen = false;
		claims -= 1;
		if (claims === 0) {
			native.setSubreaper(wasSubreaper);
			native.setSealed(wasSealed);
		}
	};
}
