import {readFileSync} from 'node:fs';
import {request as send} from 'node:https';
import path from 'node:path';
import type {ExecutionContext} from 'ava';
import {
	type Authority,
	type GitAccess,
	type Profile,
	type Repository,
	readProfileToken,
	type WitnessHttp,
	witnessRemoteRef,
	witnessRemoteRefs,
} from '../../cache/index.ts';
import {type GitHttpsServer, makeCertificates, startGitHttpsServer} from './git-https-server.ts';
import {newProfile} from './local-authority.ts';
import {type MirrorGround, mirrorGround} from './mirror-ground.ts';

/** The token of the profile that newProfile() writes. */
export const forgeToken = '0123456789abcdef';

/** A mirror's ground whose git goes over TLS with a token: issues and approvals lie in files as before. */
export type TlsGround = MirrorGround & {
	readonly server: GitHttpsServer;
	readonly access: GitAccess;
	readonly http: WitnessHttp;
	readonly repository: Repository;
};

/** Serves the local authority of a mirror's ground by https, and speaks to it as a forge's provider will. */
export async function tlsGround(t: ExecutionContext): Promise<TlsGround> {
	const ground = await mirrorGround(t);
	const certificates = makeCertificates(path.join(ground.base, 'tls'));
	const server = await startGitHttpsServer(t, ground.directory, certificates);
	const profile = newProfile(path.join(ground.base, 'forge-profile'), {kind: 'gitea', url: `${server.origin}/`, ca_file: certificates.caFile});
	server.knobs.credential = {login: profile.login, token: forgeToken};
	const originUrl = `${server.origin}/acme/widget/repository.git`;
	const repository = {...(await ground.authority.repository(ground.target)), originUrl};
	const access = accessOf(server, profile, originUrl);
	const http = plainHttp(certificates.caFile);
	const authority: Authority = {
		...ground.authority,
		kind: 'gitea',
		account: async () => ({id: profile.accountId, login: profile.login, authenticated: 'token'}),
		repository: async () => repository,
		gitAccess: () => access,
		advertisedRefs: async () => witnessRemoteRefs(http, access),
		witnessRef: async (_, name) => witnessRemoteRef(http, access, name),
		identify: url => (url === originUrl ? {owner: 'acme', repository: 'widget'} : undefined),
	};
	return {...ground, authority, profile, server, access, http, repository, request: {...ground.request, openAuthority: async () => ({profile, authority})}};
}

/** The least that an http object needs: one request, one CA, no redirects. */
export function plainHttp(caFile: string | null): WitnessHttp {
	return {
		request: async ({url, method = 'GET', headers = {}, body}) => {
			const chunks: Uint8Array[] = [];
			for await (const chunk of body ?? []) {
				chunks.push(chunk);
			}

			return new Promise((resolve, reject) => {
				const sent = send(url, {method, headers, agent: false, ...(caFile === null ? {} : {ca: readFileSync(caFile)})}, response => {
					resolve({
						url,
						method,
						statusCode: response.statusCode ?? 0,
						statusMessage: response.statusMessage ?? '',
						headers: Object.fromEntries(Object.entries(response.headers).map(([name, value]) => [name, String(value)])),
						body: chunksOf(response),
					});
				});
				sent.on('error', reject);
				sent.end(Buffer.concat(chunks));
			});
		},
	};
}

async function* chunksOf(response: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
	yield* response;
}

function accessOf(server: GitHttpsServer, profile: Profile, url: string): GitAccess {
	return {url, protocol: 'https', origin: server.origin, login: profile.login, caFile: profile.provider.caFile, readToken: () => readProfileToken(profile)};
}
