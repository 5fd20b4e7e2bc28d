import type {BailiffError} from '../core/errors.ts';
import type {Tenancy} from './broker-tenancy.ts';

/** Opens the lease that a command is to work under; `onLost` is called where it ends before the command does. Its refusal becomes the report's. */
export type LeaseOpener = (onLost: (error: BailiffError) => void) => Promise<Tenancy>;

/** A request that may be worked on under a lease (BR-7), and what ends it. */
export type LeasedRequest = {readonly openLease?: LeaseOpener; readonly signal?: AbortSignal};

/**
 * Does the work under the lease of the request, where it has one; a lost lease ends the work as its signal does, since nothing may be done any more.
 *
 * Refuses: what opening the lease refuses. Source: BR-7, C-LOCK-2.
 */
export async function underLease<Request extends LeasedRequest, Result>(
	request: Request,
	work: (request: Request, lease: Tenancy | undefined) => Promise<Result>,
): Promise<Result> {
	if (request.openLease === undefined) {
		return work(request, undefined);
	}

	const lost = new AbortController();
	const lease = await request.openLease(error => {
		lost.abort(error);
	});
	const signal = request.signal === undefined ? lost.signal : AbortSignal.any([request.signal, lost.signal]);
	try {
		return await work({...request, signal}, lease);
	} finally {
		lease.close();
	}
}
