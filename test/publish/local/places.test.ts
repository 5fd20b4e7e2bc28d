import {chmodSync, mkdirSync, symlinkSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import test from 'ava';
import * as fc from 'fast-check';
import {initRoot} from '../../../cache/index.ts';
import {ownerProblem, repositoryProblem} from '../../../core/ids.ts';
import {
	authorityDirectory,
	authorityUrl,
	checkLocalDirectory,
	checkOutsideRoots,
	identifyLocal,
	localPlaces,
	originUrlOf,
} from '../../../publish/local/places.ts';
import {codeOf} from '../../helpers/refusal.ts';
import {temporaryDirectory} from '../../helpers/temporary-directory.ts';

const authority = '/srv/the authority 100%';

test('URL and directory are each other’s inverse, also with blanks, percent signs and other scripts', t => {
	t.is(authorityUrl(authority), 'file:///srv/the%20authority%20100%25');
	for (const directory of [authority, '/a', '/a/b#c?d', '/ü/名']) {
		t.is(authorityDirectory(authorityUrl(directory)), directory);
	}
});

for (const url of [
	'/srv/authority',
	'file:///srv/a/',
	'file:///srv/a b',
	'file:///srv/../a',
	'file://host/a',
	'file:///a%2Fb',
	'https://a/b',
	'file:///a?b',
	'',
]) {
	test(`no URL of a local authority: ${JSON.stringify(url)}`, t => {
		t.is(
			codeOf(() => authorityDirectory(url)),
			'CACHE_AUTHORITY_MALFORMED',
		);
	});
}

test('every name that is allowed is found again in its own origin URL', t => {
	const name = fc.string({unit: 'grapheme', minLength: 1, maxLength: 30});
	const ref = fc
		.record({owner: name, repository: name})
		.filter(({owner, repository}) => ownerProblem(owner) === null && repositoryProblem(repository) === null && !repository.startsWith('.'));
	fc.assert(
		fc.property(ref, given => {
			t.deepEqual(identifyLocal(authority, originUrlOf(authority, given)), given);
		}),
	);
});

test('another spelling of the same place is the same repository; anything else is none', t => {
	const ref = {owner: 'acme', repository: 'widget'};
	t.deepEqual(identifyLocal('/srv/a', 'file:///srv/%61/acme/widget/repository.git'), ref);
	for (const url of [
		'file:///srv/a/acme/widget',
		'file:///srv/a/acme/widget/repository.git/',
		'file:///srv/a/acme/widget/other.git',
		'file:///srv/b/acme/widget/repository.git',
		'file:///srv/a/acme/repository.git',
		'file:///srv/a/x/acme/widget/repository.git',
		'file:///srv/a/acme%2Fwidget/repository.git',
		'file://user:secret@/srv/a/acme/widget/repository.git',
		'file://host/srv/a/acme/widget/repository.git',
		'file:///srv/a/acme/widget/repository.git?x',
		'file:///srv/a/acme/widget/repository.git#x',
		'https://srv/a/acme/widget/repository.git',
		'/srv/a/acme/widget/repository.git',
		'file:///srv/a/-acme/widget/repository.git',
		'file:///srv/a/acme/widget.lock/repository.git',
		'',
	]) {
		t.is(identifyLocal('/srv/a', url), undefined, url);
	}
});

test('names that are no path component, or that hide, are refused', t => {
	for (const [owner, repository, code] of [
		['..', 'widget', 'CORE_ID_OWNER'],
		['acme', '..', 'CORE_ID_REPOSITORY'],
		['acme', 'a/b', 'CORE_ID_REPOSITORY'],
		['acme', '.staging-1', 'CORE_ID_REPOSITORY'],
		['acme', '.hidden', 'CORE_ID_REPOSITORY'],
	] as const) {
		t.is(
			codeOf(() => localPlaces(authority, {owner, repository})),
			code,
		);
	}
});

test('a directory of the authority is ours, no link, and nobody else may write it', t => {
	const base = temporaryDirectory(t);
	const place = path.join(base, 'd');
	t.is(
		codeOf(() => checkLocalDirectory(place)),
		'CACHE_AUTHORITY_NOT_FOUND',
	);
	mkdirSync(place, {mode: 0o755});
	t.is(
		codeOf(() => checkLocalDirectory(place)),
		null,
	);
	for (const mode of [0o775, 0o757, 0o1777]) {
		chmodSync(place, mode);
		t.is(
			codeOf(() => checkLocalDirectory(place)),
			'CACHE_AUTHORITY_UNTRUSTED',
		);
	}

	symlinkSync('d', path.join(base, 'link'));
	writeFileSync(path.join(base, 'file'), '');
	t.is(
		codeOf(() => checkLocalDirectory(path.join(base, 'link'))),
		'CACHE_AUTHORITY_UNTRUSTED',
	);
	t.is(
		codeOf(() => checkLocalDirectory(path.join(base, 'file'))),
		'CACHE_AUTHORITY_UNTRUSTED',
	);
});

test('an authority inside a root is refused, however deep', t => {
	const base = temporaryDirectory(t);
	initRoot(path.join(base, 'root'));
	t.is(
		codeOf(() => checkOutsideRoots(path.join(base, 'root/repositories/x'))),
		'CACHE_AUTHORITY_UNTRUSTED',
	);
	t.is(
		codeOf(() => checkOutsideRoots(path.join(base, 'authority'))),
		null,
	);
});
