import test from 'ava';
import {parseOrigin, planCheckoutFacts} from '../../cache/checkout-facts.ts';
import {at, makeCheckout, sharedGit, write} from '../helpers/checkout.ts';
import {makeRepository} from '../helpers/repository.ts';
import {temporaryDirectory} from '../helpers/temporary-directory.ts';

test('planCheckoutFacts() tells HEAD, origin and that nothing is dirty', async t => {
	const repository = makeCheckout(t);
	repository.git('config', 'remote.origin.url', 'https://user:secret@git.example/acme/widget.git');
	const facts = await planCheckoutFacts(await sharedGit(), repository.path);
	t.deepEqual(facts, {head: repository.sha, origin: {owner: 'acme', repository: 'widget'}, obstacle: null, dirtyPaths: 0});
});

test('planCheckoutFacts() follows no include and counts what is dirty', async t => {
	const repository = makeCheckout(t);
	write(repository, '.git/more', '[remote "origin"]\n\turl = https://git.example/evil/evil\n');
	repository.git('config', 'include.path', at(repository, '.git/more'));
	write(repository, 'a.txt', 'x');
	const facts = await planCheckoutFacts(await sharedGit(), repository.path);
	t.is(facts.origin, null);
	t.is(facts.dirtyPaths, 1);
});

test('planCheckoutFacts() says what would keep a run from starting', async t => {
	const repository = makeCheckout(t, {'.gitattributes': 'a.txt ident\n'});
	const facts = await planCheckoutFacts(await sharedGit(), repository.path);
	t.is(facts.obstacle?.code, 'CACHE_CHECKOUT_UNSUPPORTED');
	t.is(facts.head, repository.sha);
});

test('planCheckoutFacts() knows a repository without a commit', async t => {
	const repository = makeRepository(temporaryDirectory(t), {});
	repository.git('checkout', '-q', '--orphan', 'fresh');
	t.is((await planCheckoutFacts(await sharedGit(), repository.path)).head, null);
});

const origins: ReadonlyArray<readonly [url: string, expected: string | null]> = [
	['https://git.example/acme/widget.git', 'acme/widget'],
	['https://git.example/acme/widget', 'acme/widget'],
	['https://git.example/acme/widget/', 'acme/widget'],
	['https://token@git.example:8443/sub/acme/widget.git', 'acme/widget'],
	['ssh://git@git.example:22/acme/widget.git', 'acme/widget'],
	['git@git.example:acme/widget.git', 'acme/widget'],
	['/srv/git/acme/widget.git', 'acme/widget'],
	['file:///srv/authority/acme/widget/repository.git', 'acme/widget'],
	['https://git.example/widget', null],
	['https://git.example/-acme/widget', null],
	['https://git.example/acme/..', null],
	['', null],
	['widget', null],
];
for (const [url, expected] of origins) {
	test(`parseOrigin() takes ${url === '' ? 'nothing' : url} for ${expected ?? 'no repository'}`, t => {
		const origin = parseOrigin(url);
		t.is(origin === null ? null : `${origin.owner}/${origin.repository}`, expected);
	});
}
