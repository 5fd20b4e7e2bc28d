import {mkdirSync, readdirSync, readFileSync, readlinkSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import test, {type ExecutionContext} from 'ava';
import {runAuthorityGit} from '../../cache/credential-channel.ts';
import {type GitAccess, openGit} from '../../cache/index.ts';
import {FileLock} from '../../cache/lock.ts';
import type {BailiffError} from '../../core/errors.ts';
import {type GitHttpsServer, makeCertificates, startGitHttpsServer, type TestCertificates} from '../helpers/git-https-server.ts';
import {refusalLater} from '../helpers/refusal.ts';
import {makeRepository} from '../helpers/repository.ts';
import {temporaryDirectory} from '../helpers/temporary-directory.ts';

const login = 'impl-agent';
const token = 'tok-3f9a!%&"\'$`\\~end';
const forms = [token, Buffer.from(token).toString('base64'), Buffer.from(`${login}:${token}`).toString('base64'), encodeURIComponent(token)];

type Ground = {
	readonly base: string;
	readonly projects: string;
	readonly sha: string;
	readonly server: GitHttpsServer;
	readonly certificates: TestCertificates;
	readonly access: GitAccess;
	/** Where git writes. */
	readonly mirror: string;
};

async function ground(t: ExecutionContext): Promise<Ground> {
	const base = temporaryDirectory(t);
	const projects = path.join(base, 'projects');
	const source = makeRepository(path.join(base, 'source'), {'a.txt': 'a\n'});
	mkdirSync(path.join(projects, 'acme'), {recursive: true});
	source.git('clone', '-q', '--bare', source.path, path.join(projects, 'acme/widget.git'));
	const certificates = makeCertificates(path.join(base, 'tls'));
	const server = await startGitHttpsServer(t, projects, certificates);
	server.knobs.credential = {login, token};
	mkdirSync(path.join(base, 'root'));
	return {base, projects, sha: source.sha, server, certificates, access: accessTo(server, certificates), mirror: path.join(base, 'root/repository.git')};
}

function accessTo(server: GitHttpsServer, {caFile}: TestCertificates): GitAccess {
	return {url: `${server.origin}/acme/widget.git`, protocol: 'https', origin: server.origin, login, caFile, readToken: () => token};
}

async function clone({access, mirror}: Ground, changes: Partial<GitAccess> = {}): Promise<void> {
	const used = {...access, ...changes};
	await runAuthorityGit(await openGit(), used, {command: ['clone', '--mirror', '--template=', '--quiet', '--', used.url, mirror], gitDir: null});
}

function assertSecretFree(t: ExecutionContext, text: string, where: string): void {
	for (const form of forms) {
		t.false(text.includes(form), `${where} holds the token`);
	}
}

function allOf(error: BailiffError | null): string {
	const cause = error?.cause;
	return [error?.stack, JSON.stringify(error), cause instanceof Error ? `${cause.stack}${JSON.stringify(cause)}` : ''].join('\n');
}

/** Every regular file below a directory: its path and its bytes as latin1. */
function contents(directory: string): ReadonlyArray<readonly [string, string]> {
	return readdirSync(directory, {recursive: true, withFileTypes: true})
		.filter(entry => entry.isFile())
		.map(entry => path.join(entry.parentPath, entry.name))
		.map(file => [file, readOrEmpty(file)] as const);
}

/** Pids of everybody who descends from this process. */
function descendants(): number[] {
	const parents = new Map<number, number>();
	for (const name of readdirSync('/proc').filter(entry => /^\d+$/.test(entry))) {
		const stat = readOrEmpty(`/proc/${name}/stat`);
		parents.set(Number(name), Number(/^.*\) \S (\d+)/s.exec(stat)?.[1] ?? 0));
	}

	const descends = (pid: number): boolean => {
		const parent = parents.get(pid) ?? 0;
		return parent === process.pid || (parent > 1 && descends(parent));
	};
	return [...parents.keys()].filter(pid => descends(pid));
}

function readOrEmpty(file: string): string {
	try {
		return readFileSync(file, 'latin1');
	} catch {
		return '';
	}
}

test('clone, fetch and ls-remote go through with the token of the profile, by real TLS and basic authentication', async t => {
	const g = await ground(t);
	await clone(g);
	t.is(g.server.seen[0]?.authorization, null);
	t.true(g.server.seen.slice(1).every(({authorization}) => authorization === `Basic ${forms[2]}`));
	const git = await openGit();
	const {stdout} = await runAuthorityGit(git, g.access, {command: ['ls-remote', '--', g.access.url], gitDir: g.mirror});
	t.true(stdout.toString().includes(`${g.sha}\trefs/heads/main`));
	await runAuthorityGit(git, g.access, {command: ['fetch', '--prune', '--quiet', '--', g.access.url, '+refs/*:refs/*'], gitDir: g.mirror});
	for (const [file, text] of contents(path.join(g.base, 'root'))) {
		assertSecretFree(t, text, file);
	}
});

test('the token is read once a call, and stands in no argument, environment or open file of any process while git works', async t => {
	const g = await ground(t);
	let reads = 0;
	const looked: string[] = [];
	g.server.knobs.hold = async () => {
		for (const pid of descendants()) {
			for (const name of ['cmdline', 'environ', 'comm', 'maps', 'mountinfo']) {
				const text = readOrEmpty(`/proc/${pid}/${name}`);
				assertSecretFree(t, text, `/proc/${pid}/${name}`);
				if (name === 'cmdline') {
					looked.push(text.replaceAll('\0', ' '));
				}
			}
		}

		for (const [file, text] of contents(path.join(g.base, 'root'))) {
			assertSecretFree(t, text, file);
		}
	};
	await clone(g, {
		readToken: () => {
			reads++;
			return token;
		},
	});
	t.is(reads, 1);
	t.true(looked.some(text => text.includes('remote-https')));
	t.true(looked.some(text => text.includes('clone --mirror')));
});

test('a wrong token is refused as such, and neither it nor the right one is in the error', async t => {
	const g = await ground(t);
	const refusal = await refusalLater(() => clone(g, {readToken: () => `${token}x`}));
	t.is(refusal?.code, 'CACHE_AUTHORITY_UNAUTHENTICATED');
	assertSecretFree(t, allOf(refusal), 'the error');
	t.false(readdirSync(path.join(g.base, 'root')).includes('repository.git'));
});

test('a server that asks for no credential is sent none', async t => {
	const g = await ground(t);
	g.server.knobs.credential = null;
	await clone(g);
	t.true(g.server.seen.length > 1);
	t.true(g.server.seen.every(({authorization}) => authorization === null));
});

for (const status of [301, 302, 303, 307, 308]) {
	test(`a redirect (${status}) to another host is not followed: that host sees nothing`, async t => {
		const g = await ground(t);
		const other = await startGitHttpsServer(t, g.projects, g.certificates);
		other.knobs.credential = {login, token};
		g.server.knobs.redirect = {prefix: '/acme/', status, location: `${other.origin}/acme/`};
		const refusal = await refusalLater(() => clone(g));
		t.is(refusal?.code, 'CACHE_REPOSITORY_MOVED');
		t.deepEqual(other.seen, []);
		t.true(g.server.seen.every(({authorization}) => authorization === null));
		assertSecretFree(t, allOf(refusal), 'the error');
	});
}

test('a renamed repository (307 on the same host) is refused, too', async t => {
	const g = await ground(t);
	g.server.knobs.redirect = {prefix: '/acme/widget.git', status: 307, location: `${g.server.origin}/acme/gadget.git`};
	t.is((await refusalLater(() => clone(g)))?.code, 'CACHE_REPOSITORY_MOVED');
	t.false(g.server.seen.some(({url}) => url.includes('gadget')));
});

test('a setting of the mirror that turns the URL to another host brings that host no token', async t => {
	const g = await ground(t);
	await clone(g);
	const other = await startGitHttpsServer(t, g.projects, g.certificates);
	other.knobs.credential = {login, token};
	writeFileSync(path.join(g.mirror, 'config'), `[core]\n\tbare = true\n[url "${other.origin}/"]\n\tinsteadOf = ${g.server.origin}/\n`);
	const git = await openGit();
	const refusal = await refusalLater(() => runAuthorityGit(git, g.access, {command: ['ls-remote', '--', g.access.url], gitDir: g.mirror}));
	t.is(refusal?.code, 'CACHE_AUTHORITY_UNAUTHENTICATED');
	t.true(other.seen.length > 0);
	t.true(other.seen.every(({authorization}) => authorization === null));
});

test('planted settings of the mirror neither ask another helper nor send the token by a proxy', async t => {
	const g = await ground(t);
	await clone(g);
	const proof = path.join(g.base, 'ran');
	writeFileSync(
		path.join(g.mirror, 'config'),
		`[core]\n\tbare = true\n\taskPass = ${proof}.sh\n[credential]\n\thelper = "!touch ${proof}; echo"\n[http]\n\tproxy = http://127.0.0.1:9\n\tfollowRedirects = true\n\tsslVerify = false\n\textraHeader = "X-Planted: yes"\n`,
	);
	writeFileSync(`${proof}.sh`, `#!/bin/sh\ntouch ${proof}\n`, {mode: 0o755});
	const {stdout} = await runAuthorityGit(await openGit(), g.access, {command: ['ls-remote', '--', g.access.url], gitDir: g.mirror});
	t.true(stdout.includes(g.sha));
	t.throws(() => readFileSync(proof), {code: 'ENOENT'});
});

test('planted settings for exactly this URL win no more than general ones', async t => {
	const g = await ground(t);
	await clone(g);
	const proof = path.join(g.base, 'ran');
	const helper = `helper = "!touch ${proof}; echo username=evil; echo password=evil"`;
	const http = `proxy = http://127.0.0.1:9\n\tfollowRedirects = true\n\tsslVerify = false\n\tsslCAInfo = /dev/null\n\textraHeader = "X-Planted: yes"\n\tcookieFile = /dev/null`;
	const settings = [g.server.origin, `${g.server.origin}/`, g.access.url].map(
		url => `[credential "${url}"]\n\t${helper}\n\tusername = evil\n[http "${url}"]\n\t${http}\n`,
	);
	writeFileSync(path.join(g.mirror, 'config'), `[core]\n\tbare = true\n${settings.join('')}`);
	const git = await openGit();
	const {stdout} = await runAuthorityGit(git, g.access, {command: ['ls-remote', '--', g.access.url], gitDir: g.mirror});
	t.true(stdout.includes(g.sha));
	t.throws(() => readFileSync(proof), {code: 'ENOENT'});
	t.false(g.server.seen.some(({headers}) => 'x-planted' in headers));
	g.server.knobs.redirect = {prefix: '/acme/', status: 302, location: `${g.server.origin}/other/`};
	const refusal = await refusalLater(() => runAuthorityGit(git, g.access, {command: ['ls-remote', '--', g.access.url], gitDir: g.mirror}));
	t.is(refusal?.code, 'CACHE_REPOSITORY_MOVED');
	t.false(g.server.seen.some(({url}) => url.startsWith('/other/')));
});

test('a server whose certificate nobody vouches for sees no request', async t => {
	const g = await ground(t);
	t.is((await refusalLater(() => clone(g, {caFile: null})))?.code, 'CACHE_AUTHORITY_UNREADABLE');
	t.deepEqual(g.server.seen, []);
});

test('a server that is not there cannot be read', async t => {
	const g = await ground(t);
	const origin = 'https://127.0.0.1:9';
	t.is((await refusalLater(() => clone(g, {origin, url: `${origin}/acme/widget.git`})))?.code, 'CACHE_AUTHORITY_UNREADABLE');
});

for (const [status, code] of [
	[403, 'CACHE_AUTHORITY_FORBIDDEN'],
	[404, 'CACHE_AUTHORITY_NOT_FOUND'],
	[500, 'CACHE_AUTHORITY_UNREADABLE'],
] as const) {
	test(`an answer of ${status} is ${code}`, async t => {
		const g = await ground(t);
		g.server.knobs.status = status;
		const refusal = await refusalLater(() => clone(g));
		t.is(refusal?.code, code);
		assertSecretFree(t, allOf(refusal), 'the error');
	});
}

for (const [title, change, code] of [
	['without a token', {readToken: null}, 'CACHE_CREDENTIAL_INVALID'],
	['to a URL of another origin', {origin: 'https://git.example.test'}, 'CACHE_AUTHORITY_MALFORMED'],
	['to a URL with a user', {url: 'https://me:secret@127.0.0.1/x.git'}, 'CACHE_AUTHORITY_MALFORMED'],
	['to a URL of another protocol', {url: 'http://127.0.0.1/x.git'}, 'CACHE_AUTHORITY_MALFORMED'],
	['to a path', {url: '/srv/x.git'}, 'CACHE_AUTHORITY_MALFORMED'],
	['by ssh', {url: 'ssh://127.0.0.1/x.git'}, 'CACHE_AUTHORITY_MALFORMED'],
] as const) {
	test(`no git is started ${title}`, async t => {
		const g = await ground(t);
		const refusal = await refusalLater(() => clone(g, change));
		t.is(refusal?.code, code);
		t.false(allOf(refusal).includes('secret@'));
		t.deepEqual(g.server.seen, []);
	});
}

test('a lock’s descriptor goes beside the token, and every git child holds it', async t => {
	const g = await ground(t);
	const lock = await FileLock.acquire(path.join(g.base, 'root/repository.lock'));
	const holders = new Set<string>();
	g.server.knobs.hold = async () => {
		for (const pid of descendants()) {
			if (linkOrEmpty(`/proc/${pid}/fd/4`) === lock.path) {
				holders.add(/^[^\0]*\0(?:-c\0[^\0]*\0)*(?:--[^\0]*\0)*([^\0]*)/.exec(readOrEmpty(`/proc/${pid}/cmdline`))?.[1] ?? '');
			}
		}
	};
	const command = ['clone', '--mirror', '--template=', '--quiet', '--', g.access.url, g.mirror];
	await runAuthorityGit(await openGit(), g.access, {command, gitDir: null, descriptors: [lock.fd]});
	t.true(holders.has('clone'));
	t.true(holders.size >= 2);
	lock.close();
});

test('the file protocol carries no token and refuses nothing else', async t => {
	const g = await ground(t);
	const url = `file://${path.join(g.projects, 'acme/widget.git')}`;
	await clone(g, {protocol: 'file', url, origin: 'file://', caFile: null, readToken: null});
	t.true(readdirSync(g.mirror).includes('HEAD'));
});

function linkOrEmpty(file: string): string {
	try {
		return readlinkSync(file);
	} catch {
		return '';
	}
}
