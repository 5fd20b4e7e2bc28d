import test from 'ava';
import * as fc from 'fast-check';
import {FormIndex} from '../../evidence/form-index.ts';

const letters = fc.string({unit: fc.constantFrom('a', 'b', 'c', '\u00ff'), minLength: 8, maxLength: 12});

function places(forms: readonly string[], text: string): string[] {
	const found: string[] = [];
	new FormIndex(forms.map(form => ({text: form}))).search(text, (form, at) => found.push(`${at} ${form.text}`));
	return found.toSorted();
}

test('every place of every form is found, and nothing else, whatever they share', t => {
	fc.assert(
		fc.property(fc.uniqueArray(letters, {minLength: 1, maxLength: 30}), fc.array(letters, {maxLength: 10}), (forms, noise) => {
			const text = [...noise, ...forms, ...noise].join('a');
			const wanted = forms.flatMap(form =>
				Array.from({length: text.length}, (_, at) => at)
					.filter(at => text.startsWith(form, at))
					.map(at => `${at} ${form}`),
			);
			t.deepEqual(places(forms, text), wanted.toSorted());
		}),
	);
});

for (const [title, text, wanted] of [
	['at the very start', 'secret-1 and more', ['0 secret-1']],
	['at the very end', 'more and secret-1', ['9 secret-1']],
	['alone', 'secret-1', ['0 secret-1']],
	['cut short', 'secret-', []],
	['in an empty text', '', []],
] as const) {
	test(`a form ${title}`, t => {
		t.deepEqual(places(['secret-1', 'secret-2'], text), [...wanted]);
	});
}
