import {realpathSync} from 'node:fs';
import {BailiffError} from '../../core/errors.ts';
import {closing, SafeDirectory} from '../../core/safe-file.ts';

/** The top directory of a checkout as detection reads it. */
export type ProjectFiles = {
	/** The text of a regular file, at most 1 MiB; null where there is none, or something else stands there. */
	readonly read: (name: string) => string | null;
};

const maxBytes = 1_048_576;

/** The files at the top of a checkout. Links, FIFOs and devices count as absent; nothing is waited for. */
export function projectFiles(checkout: string): ProjectFiles {
	const top = realpathSync(checkout);
	return {
		read(name) {
			try {
				return closing(SafeDirectory.open(top), directory => closing(directory.file(name), file => file.read(maxBytes).bytes.toString('utf8')));
			} catch (error) {
				if (error instanceof BailiffError) {
					return null;
				}

				throw error;
			}
		},
	};
}
