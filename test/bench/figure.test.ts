import test from 'ava';
import {type Figure, figureTable, isMet, median, percentile} from '../../bench/figure.ts';

const figure: Figure = {id: 'R-PERF-1', name: 'plan against execa', measured: 0.74321, unit: 'x', wanted: {atMost: 0.75}, note: '3 rounds'};

test('a figure is met on its bound and missed beyond it', t => {
	t.true(isMet({...figure, measured: 0.75}));
	t.false(isMet({...figure, measured: 0.751}));
	t.true(isMet({...figure, wanted: {atLeast: 0.7}}));
	t.false(isMet({...figure, wanted: {atLeast: 0.8}}));
});

test('a figure that is no number is never met', t => {
	t.false(isMet({...figure, measured: Number.NaN}));
	t.false(isMet({...figure, measured: Number.NaN, wanted: {atLeast: 0}}));
});

test('percentiles are samples, not interpolations', t => {
	t.is(median([3, 1, 2]), 2);
	t.is(percentile([1, 2, 3, 4], 0.99), 4);
	t.is(percentile([5], 0), 5);
	t.is(median([]), Number.NaN);
});

test('the table says met or missed in words', t => {
	t.regex(figureTable([figure]), /R-PERF-1 {2}plan against execa +0\.743 x {2}at most 0\.75 x {2}met +3 rounds/);
	t.regex(figureTable([{...figure, measured: 9}]), /MISSED/);
});
