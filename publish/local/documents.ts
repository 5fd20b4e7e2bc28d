import * as z from 'zod';
import type {Approval, FileRefusals, Issue} from '../../cache/index.ts';
import {loginForm} from '../../cache/index.ts';
import {ownerProblem, repositoryProblem} from '../../core/ids.ts';

/** RFC 3339 in UTC, kept and compared as text. */
const timeForm = z.string().regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?Z$/);
const idForm = z.int().min(1);
const sha256Form = z.string().regex(/^[0-9a-f]{64}$/);
const commitForm = z.string().regex(/^[0-9a-f]{40}$/);

/** A branch name that git accepts, short (without `refs/heads/`), at most 240 bytes. */
export const branchForm = z.string().refine(isBranchName, 'not a branch name');

/** `authority.json`. */
export const authoritySchema = z.strictObject({
	schema: z.literal('bailiff.local-authority/v1'),
	accounts: z
		.array(z.strictObject({id: idForm, login: loginForm}))
		.max(1000)
		.refine(accounts => isUnique(accounts.map(({id}) => id)), 'every id stands once')
		.refine(accounts => isUnique(accounts.map(({login}) => login)), 'every login stands once'),
});
/** Who is known to a local authority. */
export type LocalAuthorityDocument = z.infer<typeof authoritySchema>;

/** `repository.json`. */
export const repositorySchema = z.strictObject({
	schema: z.literal('bailiff.local-repository/v1'),
	id: idForm,
	owner: z.string().refine(owner => ownerProblem(owner) === null, 'not a safe owner name (C-ID-1)'),
	repository: z.string().refine(name => repositoryProblem(name) === null, 'not a safe repository name (C-ID-1)'),
	default_branch: branchForm,
});
/** What a local authority says about a repository. */
export type LocalRepositoryDocument = z.infer<typeof repositorySchema>;

/** `issues/<n>.json`. */
export const issueSchema = z.strictObject({
	schema: z.literal('bailiff.local-issue/v1'),
	number: idForm,
	title: z.string().max(1000),
	body: z.string(),
	state: z.enum(['open', 'closed']),
	author_id: idForm,
	created_at: timeForm,
	updated_at: timeForm,
});
/** An issue as it lies on disk. */
export type LocalIssueDocument = z.infer<typeof issueSchema>;

const approvalSchema = z
	.strictObject({
		id: idForm,
		kind: z.enum(['implementation', 'push', 'pull_request']),
		account_id: idForm,
		body_sha256: sha256Form,
		base_sha: commitForm.nullable(),
		branch: branchForm.nullable(),
		head_sha: commitForm.nullable(),
		at: timeForm,
		revoked_at: timeForm.nullable(),
	})
	.refine(({kind, branch, head_sha}) => kind !== 'implementation' || (branch === null && head_sha === null), {
		message: 'an approval of an implementation names neither branch nor head_sha',
		path: ['kind'],
	})
	.refine(({kind, branch}) => kind === 'implementation' || branch !== null, {message: 'an approval of this kind names its branch', path: ['branch']})
	.refine(({kind, head_sha}) => kind !== 'push' || head_sha !== null, {message: 'an approval of a push names its head_sha', path: ['head_sha']});

/** `approvals/<n>.json`. */
export const approvalsSchema = z.strictObject({
	schema: z.literal('bailiff.local-approvals/v1'),
	issue: idForm,
	approvals: z
		.array(approvalSchema)
		.max(1000)
		.refine(approvals => isUnique(approvals.map(({id}) => id)), 'every id stands once'),
});
/** The approvals of an issue as they lie on disk. */
export type LocalApprovalsDocument = z.infer<typeof approvalsSchema>;

/** The bounds of every file of a local authority. */
export const localLimits = {recordBytes: 1_048_576} as const;

/** The codes of every file of a local authority. */
export const localRefusals: FileRefusals = {
	missing: 'CACHE_AUTHORITY_NOT_FOUND',
	untrusted: 'CACHE_AUTHORITY_UNTRUSTED',
	unreadable: 'CACHE_AUTHORITY_UNREADABLE',
	malformed: 'CACHE_AUTHORITY_MALFORMED',
};

/** The issue as the authority interface has it. */
export function toIssue(document: LocalIssueDocument): Issue {
	return {
		number: document.number,
		title: document.title,
		body: document.body,
		state: document.state,
		authorId: document.author_id,
		createdAt: document.created_at,
		updatedAt: document.updated_at,
	};
}

/** An approval as the authority interface has it. */
export function toApproval(document: LocalApprovalsDocument['approvals'][number]): Approval {
	return {
		id: document.id,
		kind: document.kind,
		accountId: document.account_id,
		bodySha256: document.body_sha256,
		baseSha: document.base_sha,
		branch: document.branch,
		headSha: document.head_sha,
		at: document.at,
		revokedAt: document.revoked_at,
	};
}

/** The rules of git check-ref-format for a branch. */
function isBranchName(name: string): boolean {
	const isPlain = !/[\u0000-\u0020\u007f~^:?*[\\]|\.\.|@\{/.test(name) && !name.startsWith('-') && !name.endsWith('.') && name !== '@' && name !== 'HEAD';
	return isPlain && Buffer.byteLength(name) <= 240 && name.split('/').every(part => part !== '' && !part.startsWith('.') && !part.endsWith('.lock'));
}

function isUnique(values: readonly (string | number)[]): boolean {
	return new Set(values).size === values.length;
}
