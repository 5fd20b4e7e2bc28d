import {mirrorStatus} from '../../cache/index.ts';
import {onMirrors} from '../cache-call.ts';
import type {CommandCall, Reply} from '../command-spec.ts';

/** `bailiff cache status`: says what stands, without a lock and without a change. */
export function cacheStatus(call: CommandCall): Promise<Reply> {
	return onMirrors(call, mirrorStatus);
}
