import {bootstrapMirror} from '../../cache/index.ts';
import {onMirrors} from '../cache-call.ts';
import type {CommandCall, Reply} from '../command-spec.ts';

/** `bailiff cache bootstrap`: makes the mirror of a repository, or brings it up to date (C-BOOT). */
export function cacheBootstrap(call: CommandCall): Promise<Reply> {
	return onMirrors(call, bootstrapMirror);
}
