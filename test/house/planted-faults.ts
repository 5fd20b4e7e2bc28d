/** One fault that lint must find: a file, what stands in it, and the rule that must speak up about it. */
export type PlantedFault = {readonly fault: string; readonly file: string; readonly source: string; readonly rule: string};

const many = (count: number, line: (index: number) => string): string => Array.from({length: count}, (_, index) => line(index)).join('\n');
const documented = (body: string): string => `/** Doc. */\nexport function a(): unknown {\n${body}\n}\n`;

/** Each row is planted alone in its file; all are linted in one run. */
export const plantedFaults: readonly PlantedFault[] = [
	{
		fault: 'core imports a higher folder',
		file: 'core/p-up.ts',
		source: "import {a} from '../runner/p-leaf.ts';\n\nexport const b = a;\n",
		rule: 'house(layered)',
	},
	{
		fault: 'a type-only import upward',
		file: 'cache/p-type.ts',
		source: "import type {A} from '../publish/p-leaf.ts';\n\nexport const a: A | null = null;\n",
		rule: 'house(layered)',
	},
	{fault: 'a dynamic import upward', file: 'cache/p-dynamic.ts', source: documented("\treturn import('../publish/p-leaf.ts');"), rule: 'house(layered)'},
	{fault: 'a re-export upward', file: 'cache/p-star.ts', source: "export * from '../publish/p-leaf.ts';\n", rule: 'house(layered)'},
	{fault: 'a named re-export upward', file: 'cache/p-named.ts', source: "export {a} from '../publish/p-leaf.ts';\n", rule: 'house(layered)'},
	{
		fault: 'an import() type upward',
		file: 'cache/p-import-type.ts',
		source: "/** Doc. */\nexport type A = import('../publish/p-leaf.ts').A;\n",
		rule: 'house(layered)',
	},
	{
		fault: 'evidence imports native',
		file: 'evidence/p-native.ts',
		source: "import {a} from '../native/p-leaf.ts';\n\nexport const b = a;\n",
		rule: 'house(layered)',
	},
	{fault: 'cli imports native', file: 'cli/p-native.ts', source: "import {a} from '../native/p-leaf.ts';\n\nexport const b = a;\n", rule: 'house(layered)'},
	{
		fault: 'a source folder imports a test',
		file: 'runner/p-test.ts',
		source: "import {a} from '../test/p-leaf.ts';\n\nexport const b = a;\n",
		rule: 'house(layered)',
	},
	{fault: 'core imports a package', file: 'core/p-zod.ts', source: "import {z} from 'zod';\n\nexport const a = z;\n", rule: 'house(owned)'},
	{fault: 'runner imports zod', file: 'runner/p-zod.ts', source: "import {z} from 'zod';\n\nexport const a = z;\n", rule: 'house(owned)'},
	{
		fault: 'a package that nobody owns',
		file: 'runner/p-lodash.ts',
		source: "import lodash from 'lodash';\n\nexport const a: unknown = lodash;\n",
		rule: 'house(owned)',
	},
	{
		fault: 'child_process outside runner/spawn.ts',
		file: 'evidence/p-child.ts',
		source: "import {spawn} from 'node:child_process';\n\nexport const a = spawn;\n",
		rule: 'house(owned)',
	},
	{fault: 'execa outside runner/spawn.ts', file: 'cache/p-execa.ts', source: "import {execa} from 'execa';\n\nexport const a = execa;\n", rule: 'house(owned)'},
	{
		fault: 'undici outside publish/http.ts',
		file: 'publish/p-undici.ts',
		source: "import {request} from 'undici';\n\nexport const a = request;\n",
		rule: 'house(owned)',
	},
	{fault: 'node:http anywhere', file: 'publish/p-http.ts', source: "import {get} from 'node:http';\n\nexport const a = get;\n", rule: 'house(owned)'},
	{
		fault: 'node:net outside the broker',
		file: 'cache/p-net.ts',
		source: "import {connect} from 'node:net';\n\nexport const a = connect;\n",
		rule: 'house(owned)',
	},
	{
		fault: 'commander outside cli',
		file: 'publish/p-commander.ts',
		source: "import {Command} from 'commander';\n\nexport const a = Command;\n",
		rule: 'house(owned)',
	},
	{
		fault: 'core imports another Node module',
		file: 'core/p-os.ts',
		source: "import {tmpdir} from 'node:os';\n\nexport const a = tmpdir;\n",
		rule: 'house(owned)',
	},
	{
		fault: 'native imports files',
		file: 'native/p-fs.ts',
		source: "import {readFileSync} from 'node:fs';\n\nexport const a = readFileSync;\n",
		rule: 'house(owned)',
	},
	{
		fault: 'require by the back door',
		file: 'runner/p-require.ts',
		source: "import {createRequire} from 'node:module';\n\nexport const a = createRequire;\n",
		rule: 'house(owned)',
	},
	{
		fault: 'a computed import()',
		file: 'runner/p-computed.ts',
		source: '/** Doc. */\nexport function a(name: string): Promise<unknown> {\n\treturn import(name);\n}\n',
		rule: 'house(literal-import)',
	},
	{fault: 'a plain Error', file: 'runner/p-error.ts', source: documented("\tthrow new Error('x');"), rule: 'house(coded-throw)'},
	{fault: 'a plain Error without new', file: 'runner/p-error-call.ts', source: documented("\tthrow TypeError('x');"), rule: 'house(coded-throw)'},
	{fault: 'a second error class', file: 'runner/p-class.ts', source: '/** Doc. */\nexport class OtherError extends Error {}\n', rule: 'house(coded-throw)'},
	{fault: 'new Date()', file: 'runner/p-date.ts', source: documented('\treturn new Date();'), rule: 'house(no-wall-clock)'},
	{fault: 'Date.now()', file: 'runner/p-now.ts', source: documented('\treturn Date.now();'), rule: 'house(no-wall-clock)'},
	{fault: 'performance.now()', file: 'runner/p-performance.ts', source: documented('\treturn performance.now();'), rule: 'house(no-wall-clock)'},
	{fault: 'process.hrtime', file: 'runner/p-hrtime.ts', source: documented('\treturn process.hrtime.bigint();'), rule: 'house(no-wall-clock)'},
	{
		fault: 'an exported function without a comment',
		file: 'runner/p-doc.ts',
		source: 'export function a(): number {\n\treturn 1;\n}\n',
		rule: 'house(doc-exports)',
	},
	{fault: 'an exported arrow function without a comment', file: 'runner/p-arrow.ts', source: 'export const a = (): number => 1;\n', rule: 'house(doc-exports)'},
	{fault: 'an exported type without a comment', file: 'runner/p-doc-type.ts', source: 'export type A = 1;\n', rule: 'house(doc-exports)'},
	{fault: 'an exported class without a comment', file: 'runner/p-doc-class.ts', source: 'export class A {\n\treadonly a = 1;\n}\n', rule: 'house(doc-exports)'},
	{fault: 'an export list that hides the comment', file: 'runner/p-list.ts', source: 'const a = 1;\nexport {a};\n', rule: 'house(doc-exports)'},
	{fault: 'process.env below cli', file: 'runner/p-env.ts', source: documented("\treturn process.env['HOME'];"), rule: 'house(process-edge)'},
	{fault: 'process.argv below cli', file: 'cache/p-argv.ts', source: documented('\treturn process.argv;'), rule: 'house(process-edge)'},
	{fault: 'process.stdout below cli', file: 'publish/p-stdout.ts', source: documented("\treturn process.stdout.write('x');"), rule: 'house(process-edge)'},
	{fault: 'process.cwd below cli', file: 'core/p-cwd.ts', source: documented('\treturn process.cwd();'), rule: 'house(process-edge)'},
	{fault: 'process.exit below cli', file: 'evidence/p-exit.ts', source: documented('\treturn process.exit(1);'), rule: 'house(process-edge)'},
	{fault: 'process taken apart', file: 'runner/p-apart.ts', source: documented('\tconst {env} = process;\n\treturn env;'), rule: 'house(process-edge)'},
	{fault: 'node:process', file: 'runner/p-node-process.ts', source: "import {env} from 'node:process';\n\nexport const a = env;\n", rule: 'house(owned)'},
	{fault: 'JSON.parse', file: 'evidence/p-json.ts', source: "export const a: unknown = JSON.parse('1');\n", rule: 'house(strict-json)'},
	{fault: 'a shell option', file: 'cli/p-shell.ts', source: 'export const a = {shell: true};\n', rule: 'house(no-shell)'},
	{
		fault: 'exec with a shell string',
		file: 'runner/spawn.ts',
		source: "import {exec} from 'node:child_process';\n\nexport const a = exec;\n",
		rule: 'house(no-shell)',
	},
	{fault: 'a file named utils', file: 'runner/utils.ts', source: 'export const a = 1;\n', rule: 'house(file-name)'},
	{
		fault: 'a suppression without a reason',
		file: 'runner/p-reason.ts',
		source: "// oxlint-disable-next-line no-console\nconsole.log('x');\n",
		rule: 'house(reasoned-disable)',
	},
	{fault: 'a cycle', file: 'runner/p-cycle.ts', source: "import {b} from './p-cycle-back.ts';\n\nexport const a = b;\n", rule: 'import(no-cycle)'},
	{fault: 'a default export', file: 'runner/p-default.ts', source: 'export default 1;\n', rule: 'import(no-default-export)'},
	{
		fault: 'an import without an extension',
		file: 'runner/p-extension.ts',
		source: "import {systemClock} from '../core/clock';\n\nexport const a = systemClock;\n",
		rule: 'import(extensions)',
	},
	{fault: 'a file name in camel case', file: 'runner/pCamel.ts', source: 'export const a = 1;\n', rule: 'unicorn(filename-case)'},
	{
		fault: 'a Node module without its prefix',
		file: 'runner/p-prefix.ts',
		source: "import {readFileSync} from 'fs';\n\nexport const a = readFileSync;\n",
		rule: 'unicorn(prefer-node-protocol)',
	},
	{fault: 'console', file: 'runner/p-console.ts', source: "console.log('x');\n\nexport const a = 1;\n", rule: 'eslint(no-console)'},
	{
		fault: 'a floating promise',
		file: 'runner/p-floating.ts',
		source: documented('\tPromise.resolve(1);\n\treturn 1;'),
		rule: 'typescript(no-floating-promises)',
	},
	{
		fault: 'a switch that forgets a case',
		file: 'runner/p-switch.ts',
		source: "/** Doc. */\nexport function a(k: 'x' | 'y'): number {\n\tswitch (k) {\n\t\tcase 'x':\n\t\t\treturn 1;\n\t}\n\n\treturn 0;\n}\n",
		rule: 'typescript(switch-exhaustiveness-check)',
	},
	{
		fault: 'an unsafe assertion',
		file: 'runner/p-assertion.ts',
		source: '/** Doc. */\nexport function a(x: unknown): string {\n\treturn x as string;\n}\n',
		rule: 'typescript(no-unsafe-type-assertion)',
	},
	{fault: 'any', file: 'runner/p-any.ts', source: 'export const a: any = 1;\n', rule: 'typescript(no-explicit-any)'},
	{
		fault: 'a non-null assertion',
		file: 'runner/p-bang.ts',
		source: '/** Doc. */\nexport function a(x: string | null): string {\n\treturn x!;\n}\n',
		rule: 'typescript(no-non-null-assertion)',
	},
	{fault: 'a thrown string', file: 'runner/p-throw.ts', source: documented("\tthrow 'x';"), rule: 'typescript(only-throw-error)'},
	{fault: 'a compiler error silenced', file: 'runner/p-ignore.ts', source: '// @ts-ignore\nexport const a: string = 1;\n', rule: 'typescript(ban-ts-comment)'},
	{
		fault: 'a value import of a type',
		file: 'runner/p-type-import.ts',
		source: "import {Clock} from '../core/clock.ts';\n\nexport const a: Clock | null = null;\n",
		rule: 'typescript(consistent-type-imports)',
	},
	{
		fault: 'a suppression that suppresses nothing',
		file: 'runner/p-unused.ts',
		source: '// oxlint-disable-next-line no-console -- no reason left\nexport const b = 2;\n',
		rule: 'Unused oxlint-disable',
	},
	{fault: 'more than 300 lines', file: 'runner/p-long.ts', source: `${many(301, index => `export const a${index} = ${index};`)}\n`, rule: 'eslint(max-lines)'},
	{
		fault: 'a function of more than 50 lines',
		file: 'runner/p-long-function.ts',
		source: documented(`${many(51, index => `\tvoid ${index};`)}\n\treturn 1;`),
		rule: 'eslint(max-lines-per-function)',
	},
	{
		fault: 'five parameters',
		file: 'runner/p-parameters.ts',
		source: '/** Doc. */\nexport function a(b: 1, c: 1, d: 1, e: 1, f: 1): unknown {\n\treturn [b, c, d, e, f];\n}\n',
		rule: 'eslint(max-params)',
	},
	{
		fault: 'blocks four deep',
		file: 'runner/p-deep.ts',
		source:
			'/** Doc. */\nexport function a(b: boolean): number {\n\tif (b) {\n\t\tif (b) {\n\t\t\tif (b) {\n\t\t\t\tif (b) {\n\t\t\t\t\treturn 1;\n\t\t\t\t}\n\t\t\t}\n\t\t}\n\t}\n\n\treturn 0;\n}\n',
		rule: 'eslint(max-depth)',
	},
	{
		fault: 'too many branches',
		file: 'runner/p-branches.ts',
		source: `/** Doc. */\nexport function a(b: number): number {\n${many(13, index => `\tif (b === ${index}) {\n\t\treturn ${index};\n\t}`)}\n\treturn -1;\n}\n`,
		rule: 'eslint(complexity)',
	},
];

/** What the planted files lean on; nothing may be found here. */
export const cleanFiles: Readonly<Record<string, string>> = {
	'runner/p-leaf.ts': 'export const a = 1;\n/** Doc. */\nexport type A = 1;\n',
	'publish/p-leaf.ts': 'export const a = 1;\n/** Doc. */\nexport type A = 1;\n',
	'native/p-leaf.ts': 'export const a = 1;\n',
	'test/p-leaf.ts': 'export const a = 1;\n',
	'cli/p-down.ts': "import {a} from '../publish/p-leaf.ts';\n\nexport const b = [a, process.env['HOME'], process.argv];\n",
};

/** The other half of the planted cycle: the rule may name either. */
export const cycleBack = {file: 'runner/p-cycle-back.ts', source: "import {a} from './p-cycle.ts';\n\nexport const b: number = a;\n"};
