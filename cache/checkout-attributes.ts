import {join} from 'node:path';
import {BailiffError} from '../core/errors.ts';
import type {CheckoutForm} from './checkout-form.ts';
import type {Git} from './git-command.ts';
import {type CheckoutPlace, lstatOrNull, readLinkFile} from './git-directory.ts';
import {readObjects, type TreeEntry} from './git-objects.ts';
import {inRows, zeroTerminated} from './git-output.ts';
import {displayPath} from './path-display.ts';
import type {TrackedPath} from './worktree-file.ts';

const attributes = ['text', 'crlf', 'eol', 'filter', 'ident', 'working-tree-encoding'] as const;
type Attributes = Readonly<Record<(typeof attributes)[number], string>>;

/**
 * Gives each path the form that the committed attributes ask for. Only .gitattributes files of the commit count; no filter is ever run.
 *
 * The index must equal the commit: git reads the attributes from there, and their blobs are proven first.
 * Refuses: CACHE_CHECKOUT_UNSUPPORTED (a filter other than Git LFS, ident, another encoding, or own rules in info/attributes). Source: R-START-3.
 */
export async function readCheckoutForms(git: Git, place: CheckoutPlace, entries: readonly TreeEntry[]): Promise<TrackedPath[]> {
	const files = entries.filter(entry => entry.mode === '100644' || entry.mode === '100755');
	if (!(await saysAnything(git, place, files))) {
		return entries.map(entry => ({...entry, form: 'plain'}));
	}

	refuseOwnRules(place);
	const {stdout} = await git.run({
		command: ['check-attr', '--cached', '-z', '--stdin', ...attributes],
		gitDir: place.gitDir,
		workTree: place.checkout,
		input: Buffer.from(files.map(file => `${file.path}\0`).join(''), 'latin1'),
	});
	const forms = new Map<string, CheckoutForm>();
	const refused: Array<{readonly path: string; readonly attribute: string}> = [];
	for (const [path, values] of parseAttributes(stdout)) {
		const attribute = unsupportedAttribute(values);
		if (attribute !== null) {
			refused.push({path: displayPath(path), attribute});
		}

		const form = formOf(values);
		if (form !== 'plain') {
			forms.set(path, form);
		}
	}

	const [first] = refused;
	if (first !== undefined) {
		throw new BailiffError(
			'CACHE_CHECKOUT_UNSUPPORTED',
			`the attribute ${first.attribute} of ${first.path} (${refused.length} paths in all) changes what a checkout holds, so that it cannot be compared with the commit byte for byte; only eol and Git LFS are supported`,
			{details: {paths: refused.slice(0, 10), count: refused.length}},
		);
	}

	return entries.map(entry => ({...entry, form: forms.get(entry.path) ?? 'plain'}));
}

/** Most repositories have no such attribute: they pay nothing. The blobs are read and proven here, before git is asked about them. */
async function saysAnything(git: Git, place: CheckoutPlace, files: readonly TreeEntry[]): Promise<boolean> {
	const rules = files.filter(file => file.path === '.gitattributes' || file.path.endsWith('/.gitattributes'));
	const objects = await readObjects(git, place.gitDir, [...new Set(rules.map(rule => rule.id))]);
	return [...objects.values()].some(({body}) => /eol|filter|ident|encoding/.test(body.toString('latin1')));
}

function refuseOwnRules(place: CheckoutPlace): void {
	const path = join(place.commonDir, 'info', 'attributes');
	const text = readLinkFile(path, 1024 * 1024);
	if (text === null ? lstatOrNull(path) !== null : /^\s*[^#\s]/m.test(text)) {
		throw new BailiffError(
			'CACHE_CHECKOUT_UNSUPPORTED',
			`${path} has rules that no commit carries and that would overrule the committed ones: move it away for the run`,
			{details: {path}},
		);
	}
}

function* parseAttributes(output: Buffer): Generator<[path: string, values: Attributes]> {
	for (const row of inRows(zeroTerminated(output), 3 * attributes.length)) {
		const value = (index: number): string => row[3 * index + 2] ?? 'unspecified';
		yield [row[0] ?? '', {text: value(0), crlf: value(1), eol: value(2), filter: value(3), ident: value(4), 'working-tree-encoding': value(5)}];
	}
}

function unsupportedAttribute(values: Attributes): string | null {
	if (!['unspecified', 'unset', 'lfs'].includes(values.filter)) {
		return `filter=${values.filter}`;
	}

	if (values.ident === 'set') {
		return 'ident';
	}

	const encoding = values['working-tree-encoding'];
	return ['unspecified', 'unset', 'utf-8', 'utf8'].includes(encoding.toLowerCase()) ? null : `working-tree-encoding=${encoding}`;
}

/** `crlf` is the old name of `text`, heard only where `text` says nothing. */
function formOf(values: Attributes): CheckoutForm {
	if (values.filter === 'lfs') {
		return 'lfs';
	}

	const text = values.text === 'unspecified' ? values.crlf : values.text;
	if (values.eol !== 'crlf' || text === 'unset') {
		return 'plain';
	}

	return text === 'auto' ? 'crlf-auto' : 'crlf';
}
