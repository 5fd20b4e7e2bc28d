import test from 'ava';
import {ReportDraft} from '../../cache/report.ts';
import {withNamedProfile} from '../../cli/named-profile.ts';
import {OptionValues} from '../../cli/option-values.ts';

function remedyWith(values: Record<string, unknown>, remedy: string | null): string | null | undefined {
	const draft = new ReportDraft('cache sync', {owner: 'acme', repository: 'widget'});
	draft.problems.push({code: 'CACHE_ABSENT', path: null, message: 'absent', details: {}, remedy});
	return withNamedProfile(draft.finish('refused', null), new OptionValues(values)).problems[0]?.remedy;
}

test('a command that a person is handed names the profile of the call, quoted for a shell', t => {
	t.is(remedyWith({profile: '/roles/a $& b'}, 'bailiff cache sync --profile DIR'), "bailiff cache sync --profile '/roles/a $& b'");
	t.is(remedyWith({}, 'bailiff cache sync --profile DIR'), 'bailiff cache sync --profile DIR');
	t.is(remedyWith({profile: '/roles/a'}, 'rm -- /x'), 'rm -- /x');
	t.is(remedyWith({profile: '/roles/a'}, null), null);
});
