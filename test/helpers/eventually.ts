import {setTimeout as sleep} from 'node:timers/promises';

/** Waits until `look` gives something other than null, false or undefined, and returns it; gives up with an error after ten seconds. */
export async function eventually<Found>(
	what: string,
	look: () => Found | null | undefined | false | Promise<Found | null | undefined | false>,
): Promise<Found> {
	for (let round = 0; round < 2000; round++) {
		const found = await look();
		if (found !== null && found !== undefined && found !== false) {
			return found;
		}

		await sleep(5);
	}

	throw new Error(`this never came: ${what}`);
}
