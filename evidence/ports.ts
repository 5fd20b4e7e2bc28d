import type {Problem} from './problems.ts';

/** What publication needs of native code (E-PUB-2): handed in, so that the verifier stays free of it. */
export type StorePrimitives = {
	/** renameat2 with RENAME_NOREPLACE; an existing target fails with errno EEXIST and nothing moved. */
	readonly renameNoReplace: (from: string, to: string) => void;
	/** syncfs on the filesystem that holds `directory`: one flush for everything written below it. */
	readonly syncFilesystem: (directory: string) => void;
};

/** What a fresh reader needs of git (E-READ-1): the checkout bound to the commit, byte for byte. */
export type SourceReader = {
	/** HEAD and tree of the checkout as they are now, and everything that keeps it from being exactly the commit `sha`. */
	readonly read: (sha: string) => Promise<{readonly head: string | null; readonly tree: string | null; readonly problems: readonly Problem[]}>;
};
