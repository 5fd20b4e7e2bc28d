import {BailiffError} from '../core/errors.ts';
import {readMirrorState, requireMirrorPlace} from './mirror-check.ts';
import {readMirrorConfig, writeOwnConfig} from './mirror-config.ts';
import {describeMirror} from './mirror-report.ts';
import {type MirrorRequest, readAuthorityFor, takeRepositoryLock, workOnMirror} from './mirror-work.ts';
import {readRefsRecord} from './refs-record.ts';
import {type CacheReport, ReportDraft} from './report.ts';
import {statusIfThere} from './trust.ts';

/**
 * Writes our own config of the mirror again, where it is still the one that the caller looked at: `bailiff cache restore-config --expect-sha256 H`.
 *
 * The origin comes from the verified record, never from the config. Refuses (in the report): CACHE_CONFIG_CHANGED where the digest is another one,
 * CACHE_FOREIGN_MIRROR, CACHE_STALE_GIT_LOCK, CACHE_WRITE_FAILED, CACHE_LOCK_ codes. Whatever else is wrong with the mirror is listed and left. Source: C-HARD-2.
 */
export function restoreConfig(request: MirrorRequest, options: {readonly expectSha256: string}): Promise<CacheReport> {
	return workOnMirror(request, new ReportDraft('cache restore-config', request.name), async work => {
		const {paths, draft} = work;
		const state = await readAuthorityFor(work);
		requireMirrorPlace(paths);
		if (statusIfThere(paths.mirror)?.isDirectory() !== true) {
			throw new BailiffError('CACHE_PATH_UNTRUSTED', `${paths.mirror} is no directory`, {details: {path: 'repository.git'}});
		}

		const lock = await takeRepositoryLock(work);
		const record = readRefsRecord(paths.refsRecord);
		const {sha256} = await readMirrorConfig(request.git, paths.mirror);
		if (sha256 !== options.expectSha256) {
			throw new BailiffError('CACHE_CONFIG_CHANGED', `the config has the sha256 ${sha256}, not ${options.expectSha256}: look at it again`, {
				details: {path: 'repository.git/config', sha256, expected: options.expectSha256},
			});
		}

		lock.assertHeld();
		writeOwnConfig(paths.mirror, record.origin);
		draft.isChanged = true;
		const found = await readMirrorState({git: request.git, paths, authority: state?.authority ?? null, refs: 'exact'});
		describeMirror(draft, paths, found);
		draft.stopOn(found.problems.filter(({path}) => path === 'repository.git/config'));
		draft.problems.push(...found.problems);
		draft.isComplete = true;
		return 'ok';
	});
}
