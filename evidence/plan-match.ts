import type {CommandRecord, Manifest} from './manifest-schema.ts';
import {outputPaths} from './output-paths.ts';
import {containmentOf, type ResolvedCommand, type ResolvedPlan} from './plan.ts';
import type {Problem} from './problems.ts';

type Fault = {readonly pointer: string; readonly message: string};

/**
 * Everything in which a manifest does not follow from the plan that it names, beside what its claims say: target, commit, every copied
 * field, the places of the stored files, and what the sandbox had to be.
 *
 * Pure. Source: E-READ-1, E-V3-5, S-PLAN, shapes.ts (CommandRecord, SandboxRecord).
 */
export function planMatchProblems(manifest: Manifest, plan: ResolvedPlan): Problem[] {
	const faults = [...targetFaults(manifest, plan), ...environmentFaults(manifest, plan)];
	for (const [index, command] of manifest.commands.entries()) {
		const planned = plan.commands[index];
		const found = [...placeFaults(command, index), ...(planned === undefined ? [] : [...copyFaults(command, planned), ...sandboxFaults(command, planned)])];
		faults.push(...found.map(({pointer, message}) => ({pointer: `/commands/${index}${pointer}`, message})));
	}

	return faults.map(fault => ({code: 'EVIDENCE_PLAN_MISMATCH', path: 'manifest.json', ...fault}));
}

function targetFaults({target, source}: Manifest, plan: ResolvedPlan): Fault[] {
	const faults: Fault[] = [];
	for (const name of ['owner', 'repository', 'issue'] as const) {
		if (target[name] !== plan[name]) {
			faults.push({pointer: `/target/${name}`, message: 'the plan is about another target'});
		}
	}

	if (source.sha !== plan.source_sha) {
		faults.push({pointer: '/source/sha', message: 'the plan names another commit'});
	}

	return faults;
}

function environmentFaults({environment, commands}: Manifest, plan: ResolvedPlan): Fault[] {
	const faults: Fault[] = [];
	const {mode, tool} = environment.sandbox;
	if (mode !== plan.sandboxMode) {
		faults.push({pointer: '/environment/sandbox/mode', message: `the plan makes this ${plan.sandboxMode}`});
	}

	if (mode === 'off' ? tool !== null : tool === null && commands.some(command => command.sandbox !== null)) {
		faults.push({pointer: '/environment/sandbox/tool', message: 'the tool is named where a sandbox was used, and only there'});
	}

	if (environment.containment !== containmentOf(plan)) {
		faults.push({pointer: '/environment/containment', message: `the weakest of the plan's commands makes this ${containmentOf(plan)}`});
	}

	return faults;
}

/** Where the files of a command lie follows from its place alone. */
function placeFaults(command: CommandRecord, index: number): Fault[] {
	const paths = outputPaths(index);
	const places = [
		['/output/path', command.output.path, paths.output],
		['/trace/path', command.trace.path, paths.trace],
		...command.extra_outputs.map((output, at) => [`/extra_outputs/${at}/path`, output.path, paths.errorOutput] as const),
	] as const;
	return places.filter(([, path, expected]) => path !== expected).map(([pointer, , expected]) => ({pointer, message: `the path must be ${expected}`}));
}

function copyFaults(command: CommandRecord, planned: ResolvedCommand): Fault[] {
	const faults: Fault[] = [];
	for (const name of ['purpose', 'max_output_bytes'] as const) {
		if (command[name] !== planned[name]) {
			faults.push({pointer: `/${name}`, message: 'the plan says otherwise'});
		}
	}

	const envNames = Object.keys(planned.env).toSorted();
	if (command.env_names.length !== envNames.length || command.env_names.some((name, at) => name !== envNames[at])) {
		faults.push({pointer: '/env_names', message: "these are not the sorted names of the plan's env"});
	}

	if (command.extra_outputs.length !== (planned.streams === 'split' ? 1 : 0)) {
		faults.push({
			pointer: '/extra_outputs',
			message: `${planned.streams} streams have ${planned.streams === 'split' ? 'one extra output' : 'no extra output'}`,
		});
	}

	return faults;
}

function sandboxFaults({sandbox}: CommandRecord, planned: ResolvedCommand): Fault[] {
	if (sandbox === null || planned.sandbox.mode === 'off') {
		return (sandbox === null) === (planned.sandbox.mode === 'off') ? [] : [{pointer: '/sandbox', message: `the plan's mode is ${planned.sandbox.mode}`}];
	}

	const faults: Fault[] = [];
	if (sandbox.network !== planned.sandbox.network) {
		faults.push({pointer: '/sandbox/network', message: 'the plan asks for another network'});
	}

	for (const layer of planned.sandbox.require) {
		if (sandbox.layers[layer] !== 'kernel') {
			faults.push({pointer: `/sandbox/layers/${layer}`, message: 'the plan requires this layer, observed as kernel'});
		}
	}

	for (const name of planned.limits.asked) {
		if (sandbox.limits[name] === 'none') {
			faults.push({pointer: `/sandbox/limits/${name}`, message: 'the plan asks for this limit and it did not bind'});
		}
	}

	return faults;
}
