import {maintainMirror} from '../../cache/index.ts';
import {onMirrors} from '../cache-call.ts';
import type {CommandCall, Reply} from '../command-spec.ts';

/** `bailiff cache maintain`: packs a mirror anew while nobody works with it; drops no object. */
export function cacheMaintain(call: CommandCall): Promise<Reply> {
	return onMirrors(call, maintainMirror);
}
