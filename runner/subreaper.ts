import type {NativeParts} from '../native/index.ts';

let claims = 0;
let wasSubreaper = false;

/**
 * Makes this process a subreaper while at least one claim is open, so that the orphans of a dead supervisor become its children (R-MECH-4).
 * The function that it returns gives the claim back; the last one restores what was before. Calling it twice does no harm.
 */
export function claimSubreaper(native: NativeParts): () => void {
	if (claims === 0) {
		wasSubreaper = native.isSubreaper();
		native.setSubreaper(true);
	}

	claims += 1;
	let isOpen = true;
	return () => {
		if (!isOpen) {
			return;
		}

		isOpen = false;
		claims -= 1;
		if (claims === 0 && !wasSubreaper) {
			native.setSubreaper(false);
		}
	};
}
