import {BailiffError, type JsonValue} from '../../core/errors.ts';
import {parseStrictJson} from '../../core/strict-json.ts';
import {type FoundCommand, firstTimeouts} from './found-command.ts';
import type {ProjectFiles} from './project-files.ts';

type PackageManager = {readonly name: 'npm' | 'pnpm' | 'yarn' | 'bun'; readonly install: readonly string[]; readonly lockFiles: readonly string[]};

const managers: readonly PackageManager[] = [
	{name: 'pnpm', install: ['install', '--frozen-lockfile'], lockFiles: ['pnpm-lock.yaml']},
	{name: 'yarn', install: ['install', '--frozen-lockfile'], lockFiles: ['yarn.lock']},
	{name: 'bun', install: ['install', '--frozen-lockfile'], lockFiles: ['bun.lock', 'bun.lockb']},
	{name: 'npm', install: ['ci'], lockFiles: ['npm-shrinkwrap.json', 'package-lock.json']},
];
const scripts = [
	['build', firstTimeouts.build],
	['typecheck', firstTimeouts.lint],
	['lint', firstTimeouts.lint],
	['test', firstTimeouts.test],
] as const;
/** What `npm init` writes: it can only fail. */
const placeholder = /no test specified/;

/** A locked install where there are dependencies, then the scripts build, typecheck, lint and test of package.json. */
export function javascriptCommands(files: ProjectFiles): FoundCommand[] {
	const manifest = readPackage(files);
	if (manifest === null) {
		return [];
	}

	const locked = managers.find(({lockFiles}) => lockFiles.some(name => files.read(name) !== null));
	const name = locked?.name ?? 'npm';
	const common = {from: 'package.json', helpers: name === 'bun' ? [] : ['node', 'sh']};
	const hasDependencies = ['dependencies', 'devDependencies', 'optionalDependencies'].some(key => Object.keys(members(manifest[key])).length > 0);
	const install: FoundCommand[] =
		locked !== undefined && hasDependencies
			? [{...common, id: `${name}-install`, argv: [name, ...locked.install], timeoutSeconds: firstTimeouts.install, needsNetwork: true}]
			: [];
	const offered = members(manifest['scripts']);
	const runs = scripts
		.filter(([script]) => typeof offered[script] === 'string' && !placeholder.test(offered[script]))
		.map(([script, timeoutSeconds]) => ({...common, id: `${name}-${script}`, argv: [name, 'run', script], timeoutSeconds, needsNetwork: false}));
	return [...install, ...runs];
}

function readPackage(files: ProjectFiles): Readonly<Record<string, JsonValue>> | null {
	const text = files.read('package.json');
	if (text === null) {
		return null;
	}

	try {
		return members(parseStrictJson(Buffer.from(text.replace(/^\uFEFF/, '')), {maxBytes: 2 * 1_048_576, maxDepth: 64, anyNumber: true}));
	} catch (error) {
		if (error instanceof BailiffError) {
			return null;
		}

		throw error;
	}
}

function members(value: JsonValue | undefined): Readonly<Record<string, JsonValue>> {
	return typeof value === 'object' && value !== null && !isArray(value) ? value : {};
}

function isArray(value: JsonValue): value is readonly JsonValue[] {
	return Array.isArray(value);
}
