import path from 'node:path';
import {BailiffError} from '../core/errors.ts';
import {closing, SafeDirectory} from '../core/safe-file.ts';
import {visibleTail} from '../core/visible-text.ts';
import type {CommandRecord, Manifest} from '../evidence/manifest-schema.ts';

/** The end of one stored output, safe to show. */
export type OutputTail = {
	readonly commandId: string;
	/** Absolute. */
	readonly file: string;
	/** At most the last 20. Empty: nothing was written. */
	readonly lines: readonly string[];
};

const maxLines = 20;
const maxLineLength = 400;
const maxBytes = 4 * 1_048_576;

/**
 * The ends of the outputs of the command that made a published run fail; none where no executed command did.
 *
 * Total: an output that cannot be read is left out. Source: design.md, "Command line".
 */
export function failingTails(manifest: Manifest, runDirectory: string): OutputTail[] {
	const failed = manifest.commands.find(record => !record.passed) ?? manifest.commands.find(isRedacted);
	if (failed === undefined) {
		return [];
	}

	const written = [failed.output, ...failed.extra_outputs].filter(({bytes}) => bytes > 0);
	return (written.length > 0 ? written : [failed.output]).flatMap(({path: relative}) => {
		const file = path.join(runDirectory, relative);
		const bytes = readOutput(file);
		return bytes === null ? [] : [{commandId: failed.id, file, lines: visibleTail(bytes, {maxLines, maxLineLength})}];
	});
}

/** The tails as a person reads them. */
export function tailText(tails: readonly OutputTail[]): string {
	return tails
		.map(({commandId, file, lines}) => {
			const heading = lines.length === 0 ? `${commandId} wrote nothing: ${file}` : `the end of what ${commandId} wrote, whole in ${file}:`;
			return [heading, ...lines.map(line => `  | ${line}`)].join('\n');
		})
		.join('\n');
}

function isRedacted({output, extra_outputs: extra}: CommandRecord): boolean {
	return [output, ...extra].some(({redactions}) => redactions.length > 0);
}

function readOutput(file: string): Buffer | null {
	try {
		return closing(SafeDirectory.open(path.dirname(file)), directory => directory.readFile(path.basename(file), {maxBytes})).bytes;
	} catch (error) {
		if (error instanceof BailiffError) {
			return null;
		}

		throw error;
	}
}
