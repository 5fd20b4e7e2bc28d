import {BrokerClient, type BrokerQuestion, probedResources} from '../../cache/index.ts';
import {toAbsolute} from '../arguments.ts';
import type {CommandCall, Reply} from '../command-spec.ts';
import {exitCodes} from '../exit-codes.ts';
import type {OptionValues} from '../option-values.ts';
import {withInterrupts} from '../work-signals.ts';
import {readTtl} from './broker-serve.ts';

/** `bailiff broker request`: one question to a broker and its answer; the lease outlives the call (BR-3). */
export async function brokerRequest(call: CommandCall): Promise<Reply> {
	const question = readQuestion(call.arguments[0] ?? '', call.options);
	const client = await BrokerClient.connect(toAbsolute(call.options.required('handle')));
	try {
		const {answer} = await withInterrupts(async signal => client.ask(question, {signal}));
		const {issue, repository, expires_in_seconds: left} = answer.lease;
		return {
			exitCode: exitCodes.yes,
			json: answer,
			text: [`issue ${issue}, repository ${repository}, ${left} s left`, ...(answer.free === null ? [] : [answer.free ? 'free' : 'not free'])].join('\n'),
		};
	} finally {
		client.close();
	}
}

/** The choices of the catalogue leave no other operation. */
function readQuestion(op: string, options: OptionValues): BrokerQuestion {
	switch (op) {
		case 'renew':
			return {op, ttl_seconds: readTtl(options)};
		case 'acquire_repository':
			return {op, wait_seconds: Math.ceil(options.number('lockTimeout') ?? 0), pass_descriptor: false};
		case 'probe':
			return {op, resource: probedResources.find(known => known === options.text('resource')) ?? 'repository'};
		case 'release_repository':
		case 'release':
			return {op};
		default:
			return {op: 'acquire', hold: false};
	}
}
