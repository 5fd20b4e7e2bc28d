import {type RootPaths} from './layout.ts';

/** What a place of the layout must be, and the one mode that `cache chmod` may give it. */
export type CanonicalPlace = {readonly kind: 'directory' | 'file'; readonly mode: number};

const directory: CanonicalPlace = {kind: 'directory', mode: 0o700};
const file: CanonicalPlace = {kind: 'file', mode: 0o600};
const name = String.raw`(?!\.)[^/]+`;
const repository = `${name}/(?!\\.staging-)[^/]+`;
const issue = String.raw`${repository}/worktrees/issue-[1-9]\d*`;

/** Relative to `repositories`. Only places with an exact mode stand here: in mirror and checkout others' write bits alone are judged. */
const canonical: ReadonlyArray<readonly [form: RegExp, place: CanonicalPlace]> = [
	[/^$/, directory],
	[/^\.locks$/, directory],
	[new RegExp(`^\\.locks/${name}$`), directory],
	[new RegExp(`^\\.locks/${name}/[^/]+\\.bootstrap\\.lock$`), file],
	[new RegExp(`^${name}$`), directory],
	[new RegExp(`^${repository}$`), directory],
	[new RegExp(`^${repository}/(?:locks|worktrees)$`), directory],
	[new RegExp(String.raw`^${repository}/locks/(?:repository\.lock|refs\.json|issue-[1-9]\d*\.lock)$`), file],
	[new RegExp(`^${issue}(?:/(?:verification|runtime)(?:/[^/.][^/]*)?)?$`), directory],
	[new RegExp(String.raw`^${issue}/(?:state(?:\.[0-9a-f]{64})?\.json|verification/ledger\.jsonl|runtime/[^/.][^/]*/handle\.json)$`), file],
];

/** The place of the layout that an absolute, normalised path is, or null. Source: C-TRUST-2..5, C-TRUST-7. */
export function canonicalPlaceOf(root: Pick<RootPaths, 'repositories'>, path: string): CanonicalPlace | null {
	if (path !== root.repositories && !path.startsWith(`${root.repositories}/`)) {
		return null;
	}

	const relative = path.slice(root.repositories.length + 1);
	if (relative.split('/').some(part => part === '..' || part === '.') || relative.includes('//') || path.endsWith('/')) {
		return null;
	}

	// A ledger is a file among directories: the last form that fits is the closest one.
	return canonical.findLast(([form]) => form.test(relative))?.[1] ?? null;
}
