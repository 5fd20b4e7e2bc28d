import {spawnSync} from 'node:child_process';
import test from 'ava';

const answer = spawnSync('/usr/bin/bwrap', ['--unshare-all', '--unshare-user', '--ro-bind', '/', '/', '--proc', '/proc', '/bin/true'], {encoding: 'utf8'});

/** Why no sandbox can be had on this machine, or null where one can. */
export const sandboxObstacle = answer.status === 0 ? null : (answer.error?.message ?? answer.stderr.trim());

/** A test of the sandbox: left out where there can be none, which `BAILIFF_MUST_SANDBOX=1` turns into a failure (reporter.ts). */
export const sandboxTest = sandboxObstacle === null ? test : test.skip;

/** The same for tests that look at all children of this process, so that they stand alone. */
export const serialSandboxTest = sandboxObstacle === null ? test.serial : test.skip;
