import {join} from 'node:path';
import {systemClock} from '../core/clock.ts';
import {BailiffError} from '../core/errors.ts';
import {ownerProblem, repositoryProblem} from '../core/ids.ts';
import {inspectCheckout, readConfig, readPlace} from './checkout-state.ts';
import type {Git} from './git-command.ts';
import {lstatOrNull} from './git-directory.ts';

/** What a first plan for a checkout can be filled with. */
export type CheckoutFacts = {
	/** The commit that HEAD names, null on an unborn branch. */
	readonly head: string | null;
	/** A guess from the text of the origin's URL, never a proof. */
	readonly origin: {readonly owner: string; readonly repository: string} | null;
	/** A run would be refused as things stand, and why; null where it would start. */
	readonly obstacle: BailiffError | null;
	/** Paths that differ from HEAD; 0 where an obstacle keeps them from being counted. */
	readonly dirtyPaths: number;
};

/**
 * What `plan new` needs of a checkout. Nothing is executed that the checkout names, and nothing is written.
 *
 * Refuses: CACHE_CHECKOUT_INVALID, CACHE_GIT_ codes. Source: R-PLAN-7.
 */
export async function planCheckoutFacts(git: Git, path: string): Promise<CheckoutFacts> {
	const {place, head: headReader} = readPlace(path);
	const head = headReader.read();
	const config = join(place.commonDir, 'config');
	const settings = lstatOrNull(config)?.isFile() === true ? await readConfig(git, config) : new Map<string, string[]>();
	const origin = parseOrigin(settings.get('remote.origin.url')?.at(-1) ?? '');
	if (head === null) {
		return {head, origin, obstacle: null, dirtyPaths: 0};
	}

	try {
		const state = await inspectCheckout({git, place, commit: head, clock: systemClock});
		return {head, origin, obstacle: null, dirtyPaths: state.differences.length};
	} catch (error) {
		if (error instanceof BailiffError && (error.code === 'CACHE_CHECKOUT_UNSUPPORTED' || error.code === 'CACHE_OBJECT_INVALID')) {
			return {head, origin, obstacle: error, dirtyPaths: 0};
		}

		throw error;
	}
}

/** Owner and repository as the last two parts of a URL or path name them; null where they are no safe names. A user or password in it is dropped. */
export function parseOrigin(url: string): {readonly owner: string; readonly repository: string} | null {
	const path = /^[a-z][a-z0-9+.-]*:\/\/[^/]*\/(.*)$/i.exec(url)?.[1] ?? /^[^/:]+:(.*)$/.exec(url)?.[1] ?? url;
	const parts = path.split('/').filter(part => part !== '');
	// The local authority and the cache keep every repository as <owner>/<repository>/repository.git.
	if (parts.at(-1) === 'repository.git' && parts.length > 2) {
		parts.pop();
	}

	const owner = parts.at(-2) ?? '';
	const repository = (parts.at(-1) ?? '').replace(/\.git$/, '');
	return ownerProblem(owner) === null && repositoryProblem(repository) === null ? {owner, repository} : null;
}
