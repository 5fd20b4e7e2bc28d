import test from 'ava';
import {sandboxLine} from '../../cli/sandbox-line.ts';
import type {SandboxRecord} from '../../evidence/index.ts';

const record: SandboxRecord = {
	mode: 'required',
	layers: {fs_write: 'kernel', fs_read: 'partial', network: 'kernel', pid: 'kernel', env: 'kernel', memory: 'none', processes: 'kernel', syscalls: 'kernel'},
	network: 'loopback',
	mounts_sha256: '0'.repeat(64),
	filter_sha256: '1'.repeat(64),
	limits: {memory_bytes: 'none', cpu_seconds: 'none', processes: 'rlimit', open_files: 'rlimit', file_size_bytes: 'none', tmp_bytes: 'mount'},
	leftovers: 0,
	quiet: true,
};

test('sandboxLine() names the layers by their strength', t => {
	t.is(sandboxLine(record), 'sandbox: kernel fs_write network pid env processes syscalls; partial fs_read; none memory; network loopback');
});

test('sandboxLine() says what was left over, and that it was not quiet', t => {
	t.regex(sandboxLine({...record, leftovers: 2, quiet: false}), /, 2 left over, not quiet at the end$/);
});
