import {visibleLine} from '../../core/visible-text.ts';
import {readContractPath, readTarget, toAbsolute} from '../arguments.ts';
import type {CommandCall, Reply} from '../command-spec.ts';
import {exitCodes} from '../exit-codes.ts';
import {exportRun} from '../export.ts';

/** `bailiff evidence export`: one run as a bundle for another user or host (E-EXP-1). */
export async function evidenceExport(call: CommandCall): Promise<Reply> {
	const {options} = call;
	const repoRoot = options.text('repoRoot');
	const {bundle, receiptPath, receipt} = await exportRun({
		contractPath: readContractPath(options),
		target: readTarget(options),
		runId: options.required('run'),
		output: toAbsolute(options.required('output')),
		...(repoRoot === null ? {} : {repoRoot: toAbsolute(repoRoot)}),
	});
	const {form, sha256, digest_of: digestOf} = receipt.bundle;
	return {
		exitCode: exitCodes.yes,
		json: {bundle, receipt_path: receiptPath, receipt},
		text: [
			`exported run ${visibleLine(receipt.run_id, 128)} to ${visibleLine(bundle, 1000)}`,
			`sha256 ${sha256} (of ${form === 'tar' ? 'the file' : digestOf})`,
			`receipt ${visibleLine(receiptPath, 1000)}`,
			'tell the receiver the digest by another way than the bundle',
		].join('\n'),
	};
}
