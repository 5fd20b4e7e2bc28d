import type {JsonValue} from '../core/errors.ts';
import type {OptionValues} from './option-values.ts';

/** What a command hands back: data for `--json` and text for people; only cli/output.ts writes either. */
export type Reply = {
	/** One of cli/exit-codes.ts, or that of a command which is passed on (`worktree exec`). */
	readonly exitCode: number;
	/** The one object on stdout with --json. */
	readonly json: {readonly [key: string]: JsonValue};
	/** For stdout without --json. A string is escaped for terminals where it is written; bytes are written as they are. */
	readonly text: string | Uint8Array;
	/** The command wrote its answer itself, while it still worked: nothing more goes to stdout, and the note to stderr also with --json. */
	readonly isAnswered?: true;
	/** For stderr without --json: what a person needs beside the answer. */
	readonly note?: string;
};

/** One call of a command. */
export type CommandCall = {
	readonly options: OptionValues;
	/** Positional arguments, in the order of the spec. */
	readonly arguments: readonly string[];
	readonly isJson: boolean;
};

/** What a module of cli/commands/ exports. */
export type CommandFunction = (call: CommandCall) => Promise<Reply>;

/** What an option takes. `choice` names its words; `target` is owner/repository#issue. */
export type OptionKind = 'flag' | 'text' | 'file' | 'directory' | 'whole' | 'seconds';

/** One option of a command. */
export type OptionSpec = {
	/** Long name without dashes, kebab-case. */
	readonly name: string;
	readonly kind: OptionKind;
	/** Shown in help as the value's place (`DIR`); absent for a flag. */
	readonly value?: string;
	readonly summary: string;
	readonly isRepeatable?: boolean;
	readonly isRequired?: boolean;
	readonly choices?: readonly string[];
};

/** One command: all that help, parsing and shell completion need, and its module, loaded only when it is called. */
export type CommandSpec = {
	/** `plan check` or `run`. */
	readonly path: string;
	readonly summary: string;
	readonly arguments: ReadonlyArray<{readonly name: string; readonly kind: 'file' | 'text'; readonly summary: string; readonly choices?: readonly string[]}>;
	readonly options: readonly OptionSpec[];
	readonly example: string;
	readonly load: () => Promise<CommandFunction>;
};
