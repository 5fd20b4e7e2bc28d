import type {StorePrimitives} from '../evidence/ports.ts';
import {loadNative} from '../native/index.ts';

/** What publication needs of native code, for parts that may not load it themselves. Refuses: RUN_NATIVE_MISSING. Source: E-PUB-2. */
export function storePrimitives(): StorePrimitives {
	const native = loadNative();
	return {
		renameNoReplace: (from, to) => native.renameNoReplace(from, to),
		syncFilesystem: directory => native.syncFilesystem(directory),
	};
}
