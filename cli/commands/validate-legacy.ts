import {archiveReply, readArchiveOptions} from '../archive-reply.ts';
import {validateLegacy as validateArchive} from '../archive-validation.ts';
import type {CommandCall, Reply} from '../command-spec.ts';

/** `bailiff validate-legacy`: says whether the digests of an archived v1 run hold, read only (E-READ-3). */
export async function validateLegacy(call: CommandCall): Promise<Reply> {
	const answer = await validateArchive(readArchiveOptions(call.options));
	return archiveReply(call, answer, 'place, source and the digests of the outputs agree; nothing else is said');
}
