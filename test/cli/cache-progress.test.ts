import test from 'ava';
import {CacheProgress} from '../../cli/cache-progress.ts';

const widget = {owner: 'acme', repository: 'widget'};
const gadget = {owner: 'acme', repository: 'gadget'};

function view(options: {readonly isTerminal: boolean; readonly total: number; readonly columns?: number}) {
	let text = '';
	const write = (part: string): void => {
		text += part;
	};
	const sink = {write, isTerminal: options.isTerminal, hasColour: false, columns: () => options.columns ?? 80};
	return {progress: new CacheProgress(sink, options.total), text: () => text};
}

test('without a terminal each change is one line', t => {
	const {progress, text} = view({isTerminal: false, total: 2});
	progress.step(widget, 'checking');
	progress.step(gadget, 'fetching');
	progress.end(widget, 'ok');
	progress.end(gadget, 'refused');
	t.is(text(), 'acme/widget: checking\nacme/gadget: fetching\n[1/2] acme/widget: ok\n[2/2] acme/gadget: refused\n');
});

test('on a terminal one line shows what each mirror does, and what is done stays above it', t => {
	const {progress, text} = view({isTerminal: true, total: 2});
	progress.step(widget, 'checking');
	progress.step(gadget, 'fetching');
	progress.end(widget, 'ok');
	const lines = text().split('\r\u001b[2K').slice(1);
	t.deepEqual(lines, ['acme/widget checking', 'acme/widget checking, acme/gadget fetching', '[1/2] acme/widget: ok\n', 'acme/gadget fetching']);
});

test('the line is never wider than the terminal, and a name cannot steer it', t => {
	const {progress, text} = view({isTerminal: true, total: 1, columns: 20});
	progress.step({owner: 'acme\u001b[2J', repository: 'w'.repeat(100)}, 'checking');
	const [, line = ''] = text().split('\r\u001b[2K');
	t.is(line.length, 19);
	t.false(line.includes('\u001b'));
});
