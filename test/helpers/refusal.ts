import {BailiffError, type ErrorCode} from '../../core/errors.ts';

/** What a call is refused with: null where it is not. Anything but a BailiffError goes through. */
export function refusalOf(act: () => unknown): BailiffError | null {
	try {
		act();
	} catch (error) {
		if (error instanceof BailiffError) {
			return error;
		}

		throw error;
	}

	return null;
}

/** The code a call is refused with, or null. */
export function codeOf(act: () => unknown): ErrorCode | null {
	return refusalOf(act)?.code ?? null;
}

/** What an asynchronous call is refused with, or null. */
export async function refusalLater(act: () => Promise<unknown>): Promise<BailiffError | null> {
	try {
		await act();
	} catch (error) {
		if (error instanceof BailiffError) {
			return error;
		}

		throw error;
	}

	return null;
}
