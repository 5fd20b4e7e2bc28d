import {verifyMirror} from '../../cache/index.ts';
import {onMirrors} from '../cache-call.ts';
import type {CommandCall, Reply} from '../command-spec.ts';

/** `bailiff cache verify`: proves a mirror anew; damage is the answer no (C-HARD-7). */
export function cacheVerify(call: CommandCall): Promise<Reply> {
	return onMirrors(call, request => verifyMirror(request, {isFull: call.options.flag('full')}));
}
