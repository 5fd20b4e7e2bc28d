import type {Manifest} from './manifest-schema.ts';
import type {Layer} from './plan-schema.ts';
import type {Problem} from './problems.ts';

/**
 * Names every executed command that did not run under each of `layers`, as observed by the kernel; a command without a sandbox held none.
 * A run without an executed command held nothing either.
 *
 * Source: S-PLAN-2, S-REC: a gate demands layers by name.
 */
export function layerProblems(manifest: Manifest, layers: readonly Layer[]): Problem[] {
	if (layers.length > 0 && manifest.commands.length === 0) {
		return [notHeld('/commands', 'no command was executed, so no layer was held')];
	}

	return manifest.commands.flatMap((command, index) => {
		const {sandbox} = command;
		if (sandbox === null) {
			return layers.length === 0 ? [] : [notHeld(`/commands/${index}/sandbox`, 'the command ran without a sandbox')];
		}

		return layers
			.filter(layer => sandbox.layers[layer] !== 'kernel')
			.map(layer => notHeld(`/commands/${index}/sandbox/layers/${layer}`, `the layer ${layer} was observed as ${sandbox.layers[layer]}, kernel is demanded`));
	});
}

function notHeld(pointer: string, message: string): Problem {
	return {code: 'EVIDENCE_LAYER_NOT_HELD', path: 'manifest.json', pointer, message};
}
