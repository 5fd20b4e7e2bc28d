/**
 * What the runner needs of git, handed in by the command line (the implementation stands in cache/).
 * R-START-3: HEAD, cleanliness and bytes of the checkout, looked at in process.
 */
export type CheckoutCheck = {
	/**
	 * Proves that HEAD is `sourceSha`, that nothing is staged, changed or untracked (and not ignored), and that the files equal the tree's blobs.
	 * Refuses: RUN_SOURCE_MISMATCH, RUN_CHECKOUT_DIRTY (naming up to ten paths).
	 */
	readonly verify: (sourceSha: string) => Promise<{readonly tree: string}>;
	/** HEAD now and how many tracked paths differ from the tree. Called after each command; costs no process where nothing moved. */
	readonly drift: () => Promise<{readonly head: string; readonly trackedChanges: number}>;
	/** True when the checkout is the issue worktree of the root (shapes.ts: source.checkout). */
	readonly isCanonical: boolean;
};
