import {closeSync, fsyncSync, openSync, realpathSync, writeSync} from 'node:fs';
import path from 'node:path';
import {BailiffError, errnoOf} from '../core/errors.ts';
import {toAbsolute} from './arguments.ts';
import {isInside} from './first-plan/toolchain.ts';

/**
 * Writes a file that must not be there yet, outside a checkout (null: there is none to keep clean); returns its absolute path.
 *
 * Refuses: CLI_USAGE for a place inside `checkout` (an untracked file there would make `run` refuse), CLI_FILE_NOT_WRITTEN where it is there already or cannot be written.
 * Durability: flushed when it returns. Source: R-PLAN-7.
 */
export function writeNewFile(given: string, bytes: Uint8Array, checkout: string | null): string {
	const absolute = toAbsolute(given);
	try {
		const place = path.join(realpathSync(path.dirname(absolute)), path.basename(absolute));
		if (checkout !== null && isInside(place, realpathSync(checkout))) {
			throw new BailiffError(
				'CLI_USAGE',
				`${JSON.stringify(absolute)} lies inside the checkout, where a new file would make "run" refuse: name a place outside`,
			);
		}

		const descriptor = openSync(place, 'wx', 0o644);
		try {
			for (let at = 0; at < bytes.length; ) {
				at += writeSync(descriptor, bytes, at);
			}

			fsyncSync(descriptor);
		} finally {
			closeSync(descriptor);
		}

		return place;
	} catch (error) {
		if (error instanceof BailiffError) {
			throw error;
		}

		const errno = errnoOf(error);
		const reason = errno === 'EEXIST' ? 'is there already and is never overwritten: name a new file' : `cannot be written (${errno ?? 'unknown'})`;
		throw new BailiffError('CLI_FILE_NOT_WRITTEN', `${JSON.stringify(absolute)} ${reason}`, {cause: error, details: {path: absolute, errno}});
	}
}
