import {execFileSync, spawn} from 'node:child_process';
import {mkdirSync, readFileSync} from 'node:fs';
import type {IncomingMessage, ServerResponse} from 'node:http';
import {createServer, type Server} from 'node:https';
import type {AddressInfo} from 'node:net';
import path from 'node:path';
import type {ExecutionContext} from 'ava';

/** What one request brought. */
export type SeenRequest = {
	readonly method: string;
	readonly url: string;
	readonly authorization: string | null;
	readonly headers: Readonly<Record<string, unknown>>;
};

/** How a server behaves; may be changed while it runs. */
export type ServerKnobs = {
	/** The credential that it takes; null: it asks for none. */
	credential: {readonly login: string; readonly token: string} | null;
	/** Answers every request for a path that starts so by this status and location. */
	redirect: {readonly prefix: string; readonly status: number; readonly location: string} | null;
	/** Answers every authenticated request with this status. */
	status: number | null;
	/** Waited for before git's own program answers an authenticated request. */
	hold: (() => Promise<void>) | null;
};

/** A real `git http-backend` behind TLS on the loopback interface, with basic authentication. */
export type GitHttpsServer = {readonly origin: string; readonly seen: SeenRequest[]; readonly knobs: ServerKnobs};

/** A private certificate authority and a certificate of it for 127.0.0.1 and localhost. */
export type TestCertificates = {readonly caFile: string; readonly keyFile: string; readonly certificateFile: string};

/** Makes certificates with openssl below `directory`. */
export function makeCertificates(directory: string): TestCertificates {
	mkdirSync(directory, {recursive: true});
	const at = (name: string): string => path.join(directory, name);
	const fresh = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
	openssl('req', '-x509', ...fresh, '-days', '2', '-subj', '/CN=Test CA', '-keyout', at('ca.key'), '-out', at('ca.pem'));
	const names = 'subjectAltName=IP:127.0.0.1,DNS:localhost';
	openssl(
		'req',
		'-x509',
		...fresh,
		'-days',
		'2',
		'-subj',
		'/CN=localhost',
		'-CA',
		at('ca.pem'),
		'-CAkey',
		at('ca.key'),
		'-addext',
		names,
		'-addext',
		'basicConstraints=CA:FALSE',
		'-keyout',
		at('key.pem'),
		'-out',
		at('cert.pem'),
	);
	return {caFile: at('ca.pem'), keyFile: at('key.pem'), certificateFile: at('cert.pem')};
}

/** Serves the bare repositories below `projects` until the test ends. */
export async function startGitHttpsServer(t: ExecutionContext, projects: string, certificates: TestCertificates): Promise<GitHttpsServer> {
	const seen: SeenRequest[] = [];
	const knobs: ServerKnobs = {credential: null, redirect: null, status: null, hold: null};
	const server = createServer({key: readFileSync(certificates.keyFile), cert: readFileSync(certificates.certificateFile)}, (request, response) => {
		seen.push({method: request.method ?? '', url: request.url ?? '', authorization: request.headers.authorization ?? null, headers: request.headers});
		void answer(request, response, {projects, knobs});
	});
	const port = await listening(server);
	t.teardown(() => {
		server.closeAllConnections();
		server.close();
	});
	return {origin: `https://127.0.0.1:${port}`, seen, knobs};
}

async function answer(
	request: IncomingMessage,
	response: ServerResponse,
	{projects, knobs}: {readonly projects: string; readonly knobs: ServerKnobs},
): Promise<void> {
	const url = new URL(request.url ?? '/', 'https://server.invalid');
	const {redirect, credential} = knobs;
	if (redirect !== null && url.pathname.startsWith(redirect.prefix)) {
		response.writeHead(redirect.status, {location: `${redirect.location}${url.pathname.slice(redirect.prefix.length)}${url.search}`}).end();
		return;
	}

	const expected = credential === null ? null : `Basic ${Buffer.from(`${credential.login}:${credential.token}`).toString('base64')}`;
	if (expected !== null && request.headers.authorization !== expected) {
		response.writeHead(401, {'www-authenticate': 'Basic realm="test"'}).end('no');
		return;
	}

	await knobs.hold?.();
	if (knobs.status !== null) {
		response.writeHead(knobs.status).end('no');
		return;
	}

	runBackend(request, response, {projects, url});
}

function runBackend(request: IncomingMessage, response: ServerResponse, {projects, url}: {readonly projects: string; readonly url: URL}): void {
	const {headers} = request;
	const child = spawn('git', ['http-backend'], {
		stdio: ['pipe', 'pipe', 'ignore'],
		env: {
			PATH: process.env['PATH'],
			GIT_CONFIG_GLOBAL: '/dev/null',
			GIT_CONFIG_SYSTEM: '/dev/null',
			GIT_PROJECT_ROOT: projects,
			GIT_HTTP_EXPORT_ALL: '1',
			REQUEST_METHOD: request.method,
			PATH_INFO: decodeURIComponent(url.pathname),
			QUERY_STRING: url.search.slice(1),
			CONTENT_TYPE: headers['content-type'] ?? '',
			...(headers['content-length'] === undefined ? {} : {CONTENT_LENGTH: headers['content-length']}),
			...(headers['content-encoding'] === undefined ? {} : {HTTP_CONTENT_ENCODING: headers['content-encoding']}),
			GIT_PROTOCOL: String(headers['git-protocol'] ?? ''),
			REMOTE_USER: 'test',
		},
	});
	request.pipe(child.stdin);
	child.stdin.on('error', () => {});
	const chunks: Buffer[] = [];
	child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
	child.on('close', () => {
		const bytes = Buffer.concat(chunks);
		const end = bytes.indexOf('\r\n\r\n');
		const lines = bytes.toString('latin1', 0, Math.max(end, 0)).split('\r\n');
		const fields = lines.map(line => line.split(/: (.*)/s, 2)).filter((field): field is [string, string] => field.length === 2);
		const status = fields.find(([name]) => name === 'Status')?.[1];
		response.writeHead(Number.parseInt(status ?? '200', 10), Object.fromEntries(fields.filter(([name]) => name !== 'Status')));
		response.end(bytes.subarray(end + 4));
	});
}

function listening(server: Server): Promise<number> {
	return new Promise(resolve => {
		server.listen(0, '127.0.0.1', () => {
			const address = server.address();
			resolve(isPort(address) ? address.port : 0);
		});
	});
}

function isPort(address: AddressInfo | string | null): address is AddressInfo {
	return typeof address === 'object' && address !== null;
}

function openssl(...args: string[]): void {
	execFileSync('openssl', args, {stdio: 'ignore'});
}
