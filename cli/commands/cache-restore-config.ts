import {restoreConfig} from '../../cache/index.ts';
import {BailiffError} from '../../core/errors.ts';
import {onMirrors} from '../cache-call.ts';
import type {CommandCall, Reply} from '../command-spec.ts';

/** `bailiff cache restore-config`: writes our own config of a mirror again, where it is still the one that a person looked at (C-HARD-2). */
export async function cacheRestoreConfig(call: CommandCall): Promise<Reply> {
	const expectSha256 = call.options.required('expectSha256');
	if (!/^[0-9a-f]{64}$/.test(expectSha256)) {
		throw new BailiffError('CLI_USAGE', '--expect-sha256 takes the 64 lower-case hexadecimal digits that the refusal showed');
	}

	return onMirrors(call, request => restoreConfig(request, {expectSha256}));
}
