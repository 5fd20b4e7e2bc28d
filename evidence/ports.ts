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
