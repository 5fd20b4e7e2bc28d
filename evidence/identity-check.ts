import type {Target} from '../core/ids.ts';
import type {Manifest} from './manifest-schema.ts';
import type {Problem, ProblemCode} from './problems.ts';

/** In what a manifest is about another run or issue than the place that it was read from. Pure. Source: E-READ-1. */
export function identityProblems(manifest: Manifest, asked: {readonly runId: string; readonly target: Target}): Problem[] {
	const {owner, repository, issue} = manifest.target;
	const {target} = asked;
	return [
		...differ('EVIDENCE_RUN_MISMATCH', '/run_id', manifest.run_id === asked.runId),
		...differ('EVIDENCE_TARGET_MISMATCH', '/target/owner', owner === target.owner),
		...differ('EVIDENCE_TARGET_MISMATCH', '/target/repository', repository === target.repository),
		...differ('EVIDENCE_TARGET_MISMATCH', '/target/issue', issue === target.issue),
	];
}

function differ(code: ProblemCode, pointer: string, isEqual: boolean): Problem[] {
	return isEqual ? [] : [{code, path: 'manifest.json', pointer, message: 'this is not what was asked for'}];
}
