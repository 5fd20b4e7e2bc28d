import {probedResources, probeLock} from '../../cache/index.ts';
import {BailiffError} from '../../core/errors.ts';
import type {RepositoryName} from '../../core/ids.ts';
import {parseRepositoryName, readContractPath, readPartialTarget} from '../arguments.ts';
import type {CommandCall, Reply} from '../command-spec.ts';
import {exitCodes} from '../exit-codes.ts';
import type {OptionValues} from '../option-values.ts';

/** `bailiff broker probe`: 0 where the lock is free, 1 where it is not (BR-3). */
export async function brokerProbe({options}: CommandCall): Promise<Reply> {
	const resource = probedResources.find(known => known === options.text('resource')) ?? 'repository';
	const {issue, ...name} = readProbed(options);
	if (resource === 'issue' && issue === null) {
		throw new BailiffError('CLI_USAGE', 'the issue is missing: give --issue N, or --target OWNER/REPOSITORY#ISSUE');
	}

	const probed = probeLock({contractPath: readContractPath(options), name, resource, issue});
	return {
		exitCode: probed.free ? exitCodes.yes : exitCodes.no,
		json: probed,
		text: `the ${resource} lock ${probed.exists ? (probed.free ? 'is free' : 'is held') : 'was never taken: it is free'}`,
	};
}

function readProbed(options: OptionValues): RepositoryName & {readonly issue: number | null} {
	const target = options.text('target');
	if (target !== null && !target.includes('#')) {
		return {...parseRepositoryName(target), issue: options.number('issue')};
	}

	const {owner, repository, issue} = readPartialTarget(options);
	if (owner === undefined || repository === undefined) {
		throw new BailiffError('CLI_USAGE', 'the repository is missing: give --target OWNER/REPOSITORY, or --owner and --repository');
	}

	return {...parseRepositoryName(`${owner}/${repository}`), issue: issue ?? null};
}
