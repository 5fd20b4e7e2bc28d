import {spawn} from 'node:child_process';
import type {ExecutionContext} from 'ava';

/** Runs module texts side by side, each in its own Node, and returns what each printed, trimmed. One that fails shows its stderr. */
export async function runModules(
	t: ExecutionContext,
	sources: readonly string[],
	options: {readonly cwd?: string; readonly env?: Readonly<Record<string, string>>} = {},
): Promise<string[]> {
	return Promise.all(
		sources.map(
			source =>
				new Promise<string>(resolve => {
					const child = spawn(process.execPath, ['--input-type=module', '-e', source], {...options, env: options.env ?? {}});
					let said = '';
					let complaint = '';
					child.stdout.on('data', (bytes: Buffer) => {
						said += bytes.toString();
					});
					child.stderr.on('data', (bytes: Buffer) => {
						complaint += bytes.toString();
					});
					child.once('close', code => {
						if (code !== 0) {
							t.log(complaint);
						}

						resolve(said.trim());
					});
				}),
		),
	);
}
