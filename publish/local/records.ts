import path from 'node:path';
import {type RepositoryRef, readDocument} from '../../cache/index.ts';
import {BailiffError} from '../../core/errors.ts';
import {
	approvalsSchema,
	authoritySchema,
	issueSchema,
	type LocalApprovalsDocument,
	type LocalAuthorityDocument,
	type LocalIssueDocument,
	type LocalRepositoryDocument,
	localRefusals,
	repositorySchema,
} from './documents.ts';
import {checkLocalDirectory, checkOutsideRoots, localPlaces, statusOf} from './places.ts';

/**
 * Who is known to the authority in `directory`, the directory checked.
 *
 * Refuses: CACHE_AUTHORITY_NOT_FOUND, _UNTRUSTED, _UNREADABLE, _MALFORMED. Source: authority.md section 1.
 */
export function readAuthorityRecord(directory: string): LocalAuthorityDocument {
	checkOutsideRoots(directory);
	checkLocalDirectory(directory);
	return readDocument(path.join(directory, 'authority.json'), authoritySchema, {refusals: localRefusals});
}

/** What the authority says about a repository, every directory down to it checked. Refuses: as `readAuthorityRecord`. Source: authority.md section 1. */
export function readRepositoryRecord(directory: string, ref: RepositoryRef): LocalRepositoryDocument {
	readAuthorityRecord(directory);
	const places = localPlaces(directory, ref);
	for (const place of [places.owner, places.directory, places.gitDir]) {
		checkLocalDirectory(place);
	}

	const record = readDocument(places.record, repositorySchema, {refusals: localRefusals});
	if (record.owner !== ref.owner || record.repository !== ref.repository) {
		throw malformed(places.record, `says ${record.owner}/${record.repository}, but its directories say ${ref.owner}/${ref.repository}`);
	}

	return record;
}

/** One issue. Refuses: as `readAuthorityRecord`. Source: authority.md section 1. */
export function readIssueRecord(directory: string, ref: RepositoryRef, number: number): LocalIssueDocument {
	readRepositoryRecord(directory, ref);
	const {issues} = localPlaces(directory, ref);
	checkLocalDirectory(issues);
	const file = issueFile(issues, number);
	const issue = readDocument(file, issueSchema, {refusals: localRefusals});
	if (issue.number !== number) {
		throw malformed(file, `says number ${issue.number}`);
	}

	return issue;
}

/** The approvals of one issue; no file means none. Refuses: as `readAuthorityRecord`. Source: authority.md section 1. */
export function readApprovalsRecord(directory: string, ref: RepositoryRef, number: number): LocalApprovalsDocument {
	readRepositoryRecord(directory, ref);
	const {approvals} = localPlaces(directory, ref);
	const none: LocalApprovalsDocument = {schema: 'bailiff.local-approvals/v1', issue: number, approvals: []};
	if (statusOf(approvals) === null) {
		return none;
	}

	checkLocalDirectory(approvals);
	const file = issueFile(approvals, number);
	if (statusOf(file) === null) {
		return none;
	}

	const record = readDocument(file, approvalsSchema, {refusals: localRefusals});
	if (record.issue !== number) {
		throw malformed(file, `says issue ${record.issue}`);
	}

	return record;
}

/** Where the record of issue `number` lies in `directory`. Refuses: CORE_ID_ISSUE. */
export function issueFile(directory: string, number: number): string {
	if (!Number.isSafeInteger(number) || number < 1) {
		throw new BailiffError('CORE_ID_ISSUE', `${number} is no issue number: a whole number from 1 was expected`);
	}

	return path.join(directory, `${number}.json`);
}

function malformed(file: string, what: string): BailiffError {
	return new BailiffError('CACHE_AUTHORITY_MALFORMED', `${file} ${what}`, {details: {path: file}});
}
