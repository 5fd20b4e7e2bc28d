import {syncMirror} from '../../cache/index.ts';
import {onMirrors} from '../cache-call.ts';
import type {CommandCall, Reply} from '../command-spec.ts';

/** `bailiff cache sync`: brings mirrors to the state of their authority (C-SYNC). */
export function cacheSync(call: CommandCall): Promise<Reply> {
	return onMirrors(call, syncMirror);
}
