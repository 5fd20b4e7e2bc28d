import {visibleLine} from '../../core/visible-text.ts';
import {readContractPath, toAbsolute} from '../arguments.ts';
import type {CommandCall, Reply} from '../command-spec.ts';
import {exitCodes} from '../exit-codes.ts';
import {receiveBundle} from '../export.ts';

/** `bailiff evidence receive`: takes a bundle in, against a digest that came by another way (E-EXP-2). */
export async function evidenceReceive(call: CommandCall): Promise<Reply> {
	const {options} = call;
	const {receipt, runDirectory, receivedDirectory} = await receiveBundle({
		contractPath: readContractPath(options),
		bundle: toAbsolute(options.required('bundle')),
		expectedSha256: options.required('expectedSha256'),
	});
	const {owner, repository, issue} = receipt.target;
	return {
		exitCode: exitCodes.yes,
		json: {run_directory: runDirectory, received_directory: receivedDirectory, receipt},
		text: [
			`received run ${receipt.run_id} of ${visibleLine(`${owner}/${repository}#${issue}`, 600)} on ${receipt.source.sha}; it ${receipt.result}`,
			`evidence ${visibleLine(runDirectory, 1000)}`,
			`source and receipt ${visibleLine(receivedDirectory, 1000)}`,
			`manifest sha256 ${receipt.manifest_sha256}`,
		].join('\n'),
	};
}
