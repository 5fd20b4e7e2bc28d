import test from 'ava';
import {OptionValues, optionFlag} from '../../cli/option-values.ts';

test('a value of another kind than the one asked for counts as absent', t => {
	const options = new OptionValues({text: 'a', number: 3, flag: true, list: ['a', 'b']});
	t.is(options.text('text'), 'a');
	t.is(options.text('number'), null);
	t.is(options.number('number'), 3);
	t.is(options.number('text'), null);
	t.true(options.flag('flag'));
	t.false(options.flag('text'));
	t.deepEqual(options.list('list'), ['a', 'b']);
	t.deepEqual(options.list('text'), []);
});

test('required() names the missing option as it is written', t => {
	t.throws(() => new OptionValues({}).required('repoRoot'), {code: 'CLI_USAGE', message: 'option --repo-root is missing'});
	t.is(optionFlag('repoRoot'), '--repo-root');
});
