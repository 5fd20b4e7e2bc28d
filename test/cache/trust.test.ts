import {execFileSync, spawnSync} from 'node:child_process';
import {chmodSync, chownSync, existsSync, linkSync, lstatSync, mkdirSync, readdirSync, symlinkSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import test from 'ava';

import {groupProblem} from '../../cache/group-trust.ts';
import {
	checkCheckoutDirectory,
	checkPrivateDirectory,
	checkPrivateFile,
	checkRepositories,
	ensurePrivateDirectory,
	ensureRepositories,
	statusIfThere,
} from '../../cache/trust.ts';
import {codeOf, refusalOf} from '../helpers/refusal.ts';
import {runModules} from '../helpers/run-modules.ts';
import {temporaryDirectory} from '../helpers/temporary-directory.ts';

const uid = process.geteuid?.() ?? -1;
const isRoot = uid === 0;
const trustUrl = new URL('../../cache/trust.js', import.meta.url).href;

const directoryChecks = {checkRepositories, checkPrivateDirectory, checkCheckoutDirectory, ensureRepositories, ensurePrivateDirectory} as const;

for (const [name, check] of Object.entries(directoryChecks)) {
	test(`${name}() refuses a link, a file, a pipe and another owner, and changes none of them`, t => {
		const base = temporaryDirectory(t);
		mkdirSync(`${base}/real`, {mode: 0o700});
		symlinkSync('real', `${base}/link`);
		symlinkSync('nowhere', `${base}/dangling`);
		writeFileSync(`${base}/file`, '', {mode: 0o700});
		execFileSync('mkfifo', ['-m', '0700', `${base}/pipe`]);
		const names = ['link', 'dangling', 'file', 'pipe'];
		if (isRoot) {
			mkdirSync(`${base}/foreign`, {mode: 0o700});
			chownSync(`${base}/foreign`, 65_534, 0);
			names.push('foreign');
		}

		for (const entry of names) {
			const before = lstatSync(`${base}/${entry}`, {bigint: true});
			const refusal = refusalOf(() => {
				check(`${base}/${entry}`);
			});
			t.is(refusal?.code, 'CACHE_PATH_UNTRUSTED', entry);
			t.is(refusal?.details['path'], `${base}/${entry}`);
			t.deepEqual(lstatSync(`${base}/${entry}`, {bigint: true}), before, entry);
		}

		t.false(existsSync(`${base}/nowhere`));
	});
}

for (const mode of [0o700, 0o750, 0o755, 0o710, 0o711, 0o500, 0o777, 0o702, 0o1700, 0o2700, 0o4700, 0o2755, 0o600, 0o740]) {
	const text = mode.toString(8).padStart(4, '0');
	const isRepositories = [0o700, 0o750, 0o755].includes(mode);
	test(`mode ${text}: repositories ${isRepositories ? 'accepted' : 'refused'}, private directory ${mode === 0o700 ? 'accepted' : 'refused'}, unchanged`, t => {
		const place = `${temporaryDirectory(t)}/d`;
		mkdirSync(place);
		chmodSync(place, mode);
		for (const check of [checkRepositories, ensureRepositories]) {
			t.is(
				codeOf(() => {
					check(place);
				}),
				isRepositories ? null : 'CACHE_PATH_UNTRUSTED',
			);
		}

		for (const check of [checkPrivateDirectory, ensurePrivateDirectory]) {
			const refusal = refusalOf(() => {
				check(place);
			});
			t.is(refusal?.code ?? null, mode === 0o700 ? null : 'CACHE_PATH_UNTRUSTED');
			if (refusal !== null) {
				t.true(refusal.message.includes(`chmod 0700 ${place}`));
				t.deepEqual(refusal.details, {path: place, rule: 'C-TRUST-3', mode: text, expected: '0700'});
			}
		}

		t.is(lstatSync(place).mode & 0o7777, mode);
	});
}

for (const mode of [0o770, 0o775]) {
	test(`a group-writable repositories directory (${mode.toString(8)}) is accepted only where the group is the running account alone`, t => {
		const place = `${temporaryDirectory(t)}/repositories`;
		mkdirSync(place);
		chmodSync(place, mode);
		const {gid} = lstatSync(place);
		const expected = groupProblem(gid, uid) === null ? null : 'CACHE_PATH_UNTRUSTED';
		t.is(
			codeOf(() => {
				checkRepositories(place);
			}),
			expected,
		);
		if (!isRoot) {
			t.log('the rest skipped: only root can give a directory to another group');
			return;
		}

		for (const [foreign, pattern] of [
			[65_534, /nogroup|nobody|65534/],
			[4_000_000_001, /no name/],
		] as const) {
			chownSync(place, uid, foreign);
			const refusal = refusalOf(() => {
				checkRepositories(place);
			});
			t.is(refusal?.code, 'CACHE_PATH_UNTRUSTED');
			t.regex(refusal?.message ?? '', pattern);
			t.true(refusal?.message.includes(`chmod g-w ${place}`));
		}

		chmodSync(place, 0o755);
		t.is(
			codeOf(() => {
				checkRepositories(place);
			}),
			null,
			'a group that may not write is not asked for',
		);
	});
}

test('an access list on a group-writable repositories directory is refused', t => {
	const place = `${temporaryDirectory(t)}/repositories`;
	mkdirSync(place);
	const script =
		'import os,struct,sys;e=lambda t,p,i=0xffffffff:struct.pack("<HHI",t,p,i);os.setxattr(sys.argv[1],"system.posix_acl_access",struct.pack("<I",2)+e(1,7)+e(2,7,1)+e(4,5)+e(16,7)+e(32,5))';
	if (spawnSync('setfacl', ['-m', 'u:1:rwx', place]).status !== 0 && spawnSync('python3', ['-c', script, place]).status !== 0) {
		t.log('skipped: neither setfacl nor python3 can set an access list here');
		t.pass();
		return;
	}

	t.is(lstatSync(place).mode & 0o7777, 0o775);
	t.regex(
		refusalOf(() => {
			checkRepositories(place);
		})?.message ?? '',
		/access list/,
	);
});

for (const mode of [0o700, 0o755, 0o750, 0o775, 0o757, 0o720]) {
	const isAccepted = (mode & 0o022) === 0;
	test(`a checkout directory of mode ${mode.toString(8)} is ${isAccepted ? 'accepted' : 'refused'}`, t => {
		const place = `${temporaryDirectory(t)}/checkout`;
		mkdirSync(place);
		chmodSync(place, mode);
		t.is(
			codeOf(() => {
				checkCheckoutDirectory(place);
			}),
			isAccepted ? null : 'CACHE_PATH_UNTRUSTED',
		);
	});
}

test('what is made has mode 0700 under every umask that leaves the owner his bits', async t => {
	const base = temporaryDirectory(t);
	const sources = [0, 0o022, 0o077].map(
		umask =>
			`import {ensurePrivateDirectory, ensureRepositories} from ${JSON.stringify(trustUrl)}; process.umask(${umask}); ensureRepositories('${base}/r${umask}'); ensurePrivateDirectory('${base}/r${umask}/p');`,
	);
	await runModules(t, sources);
	for (const place of ['r0', 'r0/p', 'r18', 'r18/p', 'r63', 'r63/p']) {
		t.is(lstatSync(path.join(base, place)).mode & 0o7777, 0o700, place);
	}
});

test('a umask that takes the owner his bits is refused and leaves nothing behind', async t => {
	const base = temporaryDirectory(t);
	const [said] = await runModules(t, [
		`import {ensurePrivateDirectory} from ${JSON.stringify(trustUrl)}; process.umask(0o277); try { ensurePrivateDirectory('${base}/p'); } catch (error) { console.log(error.code); }`,
	]);
	t.is(said, 'CACHE_PATH_UNTRUSTED');
	t.deepEqual(readdirSync(base), []);
});

test('nothing is made below a set-group-id directory, and the refusal says how to mend it', t => {
	const base = temporaryDirectory(t);
	chmodSync(base, 0o2755);
	for (const ensure of [ensureRepositories, ensurePrivateDirectory]) {
		const refusal = refusalOf(() => {
			ensure(`${base}/new`);
		});
		t.is(refusal?.code, 'CACHE_PATH_UNTRUSTED');
		t.true(refusal?.message.includes(`chmod g-s ${base}`));
	}

	t.deepEqual(readdirSync(base), []);
});

test('eight processes that make the same chain at once all find it good', async t => {
	const base = temporaryDirectory(t);
	const source = `import {ensurePrivateDirectory} from ${JSON.stringify(trustUrl)}; for (const p of ['a', 'a/b', 'a/b/c']) { ensurePrivateDirectory(${JSON.stringify(base)} + '/' + p); } console.log('good');`;
	t.deepEqual(
		await runModules(
			t,
			Array.from({length: 8}, () => source),
		),
		Array.from({length: 8}, () => 'good'),
	);
});

test('a directory that cannot be made says which and why', t => {
	const base = temporaryDirectory(t);
	const refusal = refusalOf(() => {
		ensurePrivateDirectory(`${base}/${'x'.repeat(256)}`);
	});
	t.is(refusal?.details['errno'], 'ENAMETOOLONG');
	t.is(
		codeOf(() => {
			ensurePrivateDirectory(`${base}/a/b`);
		}),
		'CACHE_PATH_MISSING',
	);
	t.is(
		codeOf(() => {
			checkPrivateDirectory(`${base}/absent`);
		}),
		'CACHE_PATH_MISSING',
	);
	t.is(statusIfThere(`${base}/absent`), null);
});

for (const [title, make, isAccepted] of [
	['an empty file of mode 0600', (place: string) => writeFileSync(place, '', {mode: 0o600}), true],
	['a file that is not empty (its size is not judged)', (place: string) => writeFileSync(place, 'x', {mode: 0o600}), true],
	['mode 0644', (place: string) => writeFileSync(place, '', {mode: 0o644}), false],
	['mode 0640', (place: string) => writeFileSync(place, '', {mode: 0o640}), false],
	['mode 0400', (place: string) => writeFileSync(place, '', {mode: 0o400}), false],
	['mode 0700', (place: string) => writeFileSync(place, '', {mode: 0o700}), false],
	[
		'a set-user-id bit',
		(place: string) => {
			writeFileSync(place, '');
			chmodSync(place, 0o4600);
		},
		false,
	],
	[
		'a second name',
		(place: string) => {
			writeFileSync(place, '', {mode: 0o600});
			linkSync(place, `${place}-too`);
		},
		false,
	],
	[
		'a link to a good file',
		(place: string) => {
			writeFileSync(`${place}-real`, '', {mode: 0o600});
			symlinkSync(`${place}-real`, place);
		},
		false,
	],
	['a dangling link', (place: string) => symlinkSync('nowhere', place), false],
	['a pipe', (place: string) => execFileSync('mkfifo', ['-m', '0600', place]), false],
	['a directory', (place: string) => mkdirSync(place, {mode: 0o700}), false],
	...(isRoot
		? [
				[
					'another owner',
					(place: string) => {
						writeFileSync(place, '', {mode: 0o600});
						chownSync(place, 65_534, 0);
					},
					false,
				] as const,
			]
		: []),
] as const) {
	test(`checkPrivateFile() ${isAccepted ? 'accepts' : 'refuses'} ${title}`, t => {
		const place = `${temporaryDirectory(t)}/file`;
		make(place);
		const before = lstatSync(place, {bigint: true});
		t.is(
			codeOf(() => {
				checkPrivateFile(place);
			}),
			isAccepted ? null : 'CACHE_PATH_UNTRUSTED',
		);
		t.deepEqual(lstatSync(place, {bigint: true}), before);
	});
}
