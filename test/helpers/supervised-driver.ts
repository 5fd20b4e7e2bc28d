// Runs requests one after the other through one supervisor, in a process of its own: requests as JSON lines on stdin, summaries as JSON lines on stdout.
// Run as another user, or killed, by the tests of the supervisor.
import {createInterface} from 'node:readline';
import type {CommandRequest} from '../../runner/outcome.ts';
import {startSupervisor} from '../../runner/supervisor.ts';
import {summary} from './supervised.ts';

function revive(line: string): CommandRequest {
	const request = JSON.parse(line);
	return {...request, timeoutNs: BigInt(request.timeoutNs), leakTimeoutNs: request.leakTimeoutNs === null ? null : BigInt(request.leakTimeoutNs)};
}

const supervisor = await startSupervisor();
process.stdout.write(`${JSON.stringify({ready: process.pid})}\n`);
for await (const line of createInterface({input: process.stdin})) {
	const outcome = await supervisor.run(revive(line));
	process.stdout.write(`${JSON.stringify(summary(outcome))}\n`);
}

await supervisor.close();
