import {mkdirSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import test, {type ExecutionContext} from 'ava';
import {openGit} from '../../cache/index.ts';
import {type MirrorConfig, ownConfigText, readMirrorConfig} from '../../cache/mirror-config.ts';
import {temporaryDirectory} from '../helpers/temporary-directory.ts';

const origin = 'file:///srv/authority/acme/widget/repository.git';

async function read(t: ExecutionContext, text: string): Promise<MirrorConfig> {
	const mirror = path.join(temporaryDirectory(t), 'repository.git');
	mkdirSync(mirror);
	writeFileSync(path.join(mirror, 'config'), text);
	return readMirrorConfig(await openGit(), mirror);
}

test('our own config is taken without git and reads the same with it', async t => {
	const own = await read(t, ownConfigText(origin));
	t.like(own, {origin, isBare: true, differences: []});
	const byGit = await read(t, `# the same settings\n${ownConfigText(origin)}`);
	t.like(byGit, {origin, isBare: true, differences: []});
	t.not(own.sha256, byGit.sha256);
});

test('an origin with quotes and backslashes survives', async t => {
	const odd = String.raw`https://forge.example/a"b\c`;
	t.like(await read(t, ownConfigText(odd)), {origin: odd, differences: []});
});

for (const [title, change, differences] of [
	['another setting', (text: string) => `${text}[core]\n\tfsmonitor = x\n`, ['"core.fsmonitor" is set']],
	['another value', (text: string) => text.replace('bare = true', 'bare = false'), ['core.bare is not true']],
	['a missing setting', (text: string) => text.replace('\tmirror = false\n', ''), ['remote.origin.mirror is missing']],
	['a second origin', (text: string) => `${text}[remote "origin"]\n\turl = x\n`, ['remote.origin.url stands 2 times']],
	['no origin', (text: string) => text.replace(/\turl = .*\n/, ''), ['remote.origin.url stands 0 times']],
	['a key without a value', (text: string) => text.replace('bare = true', 'bare'), ['core.bare is not true']],
] as const) {
	test(`${title} is a difference`, async t => {
		t.deepEqual((await read(t, change(ownConfigText(origin)))).differences, differences);
	});
}
