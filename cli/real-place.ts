import {realpathSync} from 'node:fs';
import path from 'node:path';
import {errnoOf} from '../core/errors.ts';
import {fileRefusal} from '../core/file-fault.ts';

/** An absolute path with every link above its last part resolved, since the caller named it; the last part is never followed. Refuses: CORE_FILE_UNREADABLE. */
export function realPlace(place: string): string {
	try {
		return path.join(realpathSync(path.dirname(place)), path.basename(place));
	} catch (error) {
		throw fileRefusal(errnoOf(error) === 'ENOENT' ? 'missing' : 'unreadable', path.dirname(place), {cause: error});
	}
}
