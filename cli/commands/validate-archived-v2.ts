import {archiveReply, readArchiveOptions} from '../archive-reply.ts';
import {validateArchivedV2 as validateArchive} from '../archive-validation.ts';
import type {CommandCall, Reply} from '../command-spec.ts';

/** `bailiff validate-archived-v2`: says whether an archived v2 run is consistent, read only (E-READ-2). */
export async function validateArchivedV2(call: CommandCall): Promise<Reply> {
	const answer = await validateArchive(readArchiveOptions(call.options));
	return archiveReply(call, answer, 'place, source, plan, claims and outputs agree; of deadlines and endings it says nothing');
}
