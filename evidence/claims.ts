import type {Claim, CommandRecord} from './manifest-schema.ts';

/** The nine pointers that a claim of command `index` must hold, as strings: a reader compares them before it resolves anything. */
export type ClaimPointers = Omit<Claim, 'id'>;

/** The expected nine JSON Pointers of the command at `index`. Source: E-V3-4, shapes.ts: Claim. */
export function claimPointers(index: number): ClaimPointers {
	const command = `/commands/${index}`;
	return {
		argv: `${command}/argv`,
		cwd: `${command}/cwd`,
		expected_exit_code: `${command}/expected_exit_code`,
		exit_code: `${command}/exit_code`,
		output_path: `${command}/output/path`,
		output_sha256: `${command}/output/sha256`,
		timeout_seconds: `${command}/timeout_seconds`,
		execution_status: `${command}/execution_status`,
		termination: `${command}/termination`,
	};
}

/** One claim per executed command, in their order. Source: E-V3-4. */
export function buildClaims(commands: ReadonlyArray<Pick<CommandRecord, 'id'>>): Claim[] {
	return commands.map(({id}, index) => ({id, ...claimPointers(index)}));
}
