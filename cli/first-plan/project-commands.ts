import {type FoundCommand, firstTimeouts} from './found-command.ts';
import {javascriptCommands} from './javascript-project.ts';
import {makeCommands} from './make-project.ts';
import type {ProjectFiles} from './project-files.ts';

/**
 * The commands of every project that is known here, in the order in which they are worth running: package.json, Makefile, Cargo.toml, go.mod, pyproject.toml or setup.py.
 *
 * Nothing is executed. Source: R-PLAN-7.
 */
export function findCommands(files: ProjectFiles): FoundCommand[] {
	return [...javascriptCommands(files), ...makeCommands(files), ...rustCommands(files), ...goCommands(files), ...pythonCommands(files)];
}

function rustCommands(files: ProjectFiles): FoundCommand[] {
	if (files.read('Cargo.toml') === null) {
		return [];
	}

	const locked = files.read('Cargo.lock') === null ? [] : ['--locked'];
	const common = {from: 'Cargo.toml', helpers: ['rustc', 'cc'], needsNetwork: true};
	return [
		{...common, id: 'cargo-build', argv: ['cargo', 'build', ...locked], timeoutSeconds: firstTimeouts.build},
		{...common, id: 'cargo-test', argv: ['cargo', 'test', ...locked], timeoutSeconds: firstTimeouts.test},
	];
}

function goCommands(files: ProjectFiles): FoundCommand[] {
	const module = files.read('go.mod');
	if (module === null) {
		return [];
	}

	const common = {from: 'go.mod', helpers: [], needsNetwork: /^\s*require\b/m.test(module)};
	return [
		{...common, id: 'go-vet', argv: ['go', 'vet', './...'], timeoutSeconds: firstTimeouts.lint},
		{...common, id: 'go-test', argv: ['go', 'test', './...'], timeoutSeconds: firstTimeouts.test},
	];
}

function pythonCommands(files: ProjectFiles): FoundCommand[] {
	const from = ['pyproject.toml', 'setup.py'].find(name => files.read(name) !== null);
	if (from === undefined) {
		return [];
	}

	const settings = ['pyproject.toml', 'setup.py', 'setup.cfg', 'tox.ini', 'requirements-dev.txt', 'requirements.txt'].map(name => files.read(name) ?? '');
	const usesPytest = ['pytest.ini', 'conftest.py'].some(name => files.read(name) !== null) || settings.some(text => /\bpytest\b/.test(text));
	const argv = usesPytest ? ['python3', '-m', 'pytest'] : ['python3', '-m', 'unittest', 'discover'];
	return [{id: usesPytest ? 'pytest' : 'unittest', argv, timeoutSeconds: firstTimeouts.test, from, helpers: [], needsNetwork: false}];
}
