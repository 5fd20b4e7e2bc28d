import test from 'ava';
import {identityProblems} from '../../evidence/identity-check.ts';
import {example, exampleManifest} from '../helpers/example-run.ts';

const asked = {runId: example.runId, target: example.target};

for (const [title, change, pointers] of [
	['nothing else', {}, []],
	['another run', {runId: 'r2'}, ['/run_id']],
	['another issue', {target: {...example.target, issue: 8}}, ['/target/issue']],
	['everything else', {runId: 'r2', target: {owner: 'x', repository: 'y', issue: 1}}, ['/run_id', '/target/owner', '/target/repository', '/target/issue']],
] as const) {
	test(`identityProblems() of a manifest beside the question for ${title} names ${pointers.join(', ') || 'nothing'}`, t => {
		t.deepEqual(
			identityProblems(exampleManifest(), {...asked, ...change}).map(({pointer}) => pointer),
			[...pointers],
		);
	});
}
