import test from 'ava';
import {outputPaths} from '../../evidence/output-paths.ts';

test('outputPaths() numbers with three digits', t => {
	t.deepEqual(outputPaths(7), {output: 'output/007.log', errorOutput: 'output/007.err', trace: 'output/007.trace.jsonl'});
	t.is(outputPaths(255).output, 'output/255.log');
});
