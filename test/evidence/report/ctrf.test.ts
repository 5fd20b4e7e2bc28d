import test from 'ava';
import {validateStrict} from 'ctrf';
import {renderCtrf} from '../../../evidence/report/ctrf.ts';
import {exampleReport} from '../../helpers/example-report.ts';

test('renderCtrf() passes the validator of CTRF and counts its own tests', t => {
	const {report} = exampleReport(t);
	const document = JSON.parse(renderCtrf(report));
	t.notThrows(() => validateStrict(document));
	t.like(document.results.summary, {tests: 2, passed: 1, failed: 1, skipped: 0, pending: 0, other: 0, duration: report.duration_ms});
	t.like(document.results.tests[1], {name: 'soak', status: 'failed', rawStatus: 'error (timeout)', stdout: ['started']});
});

test('renderCtrf() gives a fault of the run a failed test of its own', t => {
	const {report} = exampleReport(t);
	const document = JSON.parse(renderCtrf({...report, commands: [], run_fault: 'no command was executed'}));
	t.notThrows(() => validateStrict(document));
	t.like(document.results, {summary: {tests: 1, failed: 1}, tests: [{status: 'failed', message: 'no command was executed'}]});
});
