import type {SandboxRecord} from '../evidence/manifest-schema.ts';

const strengths = ['kernel', 'partial', 'none'] as const;

/** What held one command, in one line: the layers by strength, the network, and what was left over. Source: S-REC. */
export function sandboxLine({layers, network, leftovers, quiet}: SandboxRecord): string {
	const held = strengths
		.map(strength => ({strength, names: Object.entries(layers).flatMap(([name, seen]) => (seen === strength ? [name] : []))}))
		.filter(({names}) => names.length > 0)
		.map(({strength, names}) => `${strength} ${names.join(' ')}`);
	return `sandbox: ${held.join('; ')}; network ${network}${leftovers === 0 ? '' : `, ${leftovers} left over`}${quiet ? '' : ', not quiet at the end'}`;
}
