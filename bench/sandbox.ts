import {mkdirSync} from 'node:fs';
import path from 'node:path';
import {initRoot} from '../cache/index.ts';
import {makeRepository} from '../test/helpers/repository.ts';
import {type Figure, median} from './figure.ts';
import {withDirectory} from './fixture.ts';
import {runOnce} from './plan.ts';

const count = 40;
const rounds = 7;

/** S-MECH-9: what the default sandbox adds to one command, over the same plan without it; the one rehearsal of the run is shared out. */
export async function measure(): Promise<readonly Figure[]> {
	return withDirectory(async directory => {
		const checkout = path.join(directory, 'checkout');
		const {sha} = makeRepository(checkout, {'file.txt': 'content\n'});
		const root = path.join(directory, 'root');
		mkdirSync(root);
		initRoot(root);
		const added: number[] = [];
		const ratios: number[] = [];
		for (let round = 0; round <= rounds; round++) {
			const plain = await time(async () => runOnce({root, checkout, sha, count, mode: 'off'}));
			const contained = await time(async () => runOnce({root, checkout, sha, count, mode: 'required'}));
			if (round > 0) {
				added.push((contained - plain) / count);
				ratios.push(contained / plain);
			}
		}

		const note = `ratio ${median(ratios).toFixed(1)}, ${rounds} pairs of ${count} commands`;
		return [{id: 'S-MECH-9', name: 'the default sandbox over none, for each command', measured: median(added), unit: 'ms', wanted: {atMost: 15}, note}];
	});
}

async function time(action: () => Promise<void>): Promise<number> {
	const start = performance.now();
	await action();
	return performance.now() - start;
}
