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

/** What came of verifying an SSH signature against a file of allowed signers. */
export type SshVerdict =
	| {readonly isGood: true; readonly signer: string}
	| {readonly isGood: false; readonly reason: 'signer' | 'namespace' | 'signature' | 'form'; readonly message: string};

/** What attestations need of SSH (E-EXP-3): a program that is no business of evidence. */
export type SshSignatures = {
	/** The armored signature of `message`. Refuses: codes of its owner. */
	readonly sign: (request: {readonly keyFile: string; readonly namespace: string; readonly message: Uint8Array}) => Promise<Buffer>;
	/** Verifies against exactly these allowed signers; with `signer` only as that one. */
	readonly verify: (request: {
		readonly allowedSigners: Uint8Array;
		readonly signer: string | null;
		readonly namespace: string;
		readonly message: Uint8Array;
		readonly signature: Uint8Array;
	}) => Promise<SshVerdict>;
};

/** One path of a commit. */
export type SourceEntry = {
	/** Relative to the top, one character a byte (latin1): names in git are bytes. */
	readonly path: string;
	/** `100644`, `100755`, `120000` or `160000`. */
	readonly mode: string;
	readonly id: string;
};

/** What a reader without a checkout needs of git (E-READ-5): objects by full id, each proven by its own bytes. Refusals are a BailiffError. */
export type SourceObjects = {
	/** The tree of a commit and every path in it. Refuses where the commit or a tree is missing or forged. */
	readonly readCommit: (sha: string) => Promise<{readonly tree: string; readonly entries: readonly SourceEntry[]}>;
	/** Blobs by their ids. Refuses where one is missing or forged. */
	readonly readBlobs: (ids: readonly string[]) => Promise<ReadonlyMap<string, Buffer>>;
};

/** What an export needs of git (E-EXP-1). */
export type SourcePacker = SourceObjects & {
	/** A git pack of the commit, all of its trees and these blobs. */
	readonly pack: (sha: string, blobIds: readonly string[]) => Promise<Buffer>;
};

/** Opens a git pack in a place of its own, for as long as `use` works. Refuses a pack that is none. */
export type PackOpener = <T>(pack: Buffer, use: (objects: SourceObjects) => Promise<T>) => Promise<T>;

/** Who asks the provider for the head of a pull request, afresh (E-READ-5). */
export type PullRequestHead = {
	/** The commit that the provider names now. Refuses: BailiffError. */
	readonly read: () => Promise<string>;
};
