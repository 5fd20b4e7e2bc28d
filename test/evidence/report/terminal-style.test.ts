import test from 'ava';
import {applySgr, plainStyle, type TextStyle} from '../../../evidence/report/terminal-style.ts';

const cases: ReadonlyArray<readonly [parameters: string, change: Partial<TextStyle>]> = [
	['', {}],
	['0', {}],
	['1', {bold: true}],
	['1;31', {bold: true, foreground: 1}],
	['31;0', {}],
	['31;39', {}],
	['44', {background: 4}],
	['97;107', {foreground: 15, background: 15}],
	['38;5;9', {foreground: 9}],
	['48;5;226', {background: 11}],
	['38;5;232', {foreground: 0}],
	['38;5;255', {foreground: 15}],
	['38;5;300', {}],
	['38;2;250;10;10', {foreground: 9}],
	['38:2:10:120:10', {foreground: 2}],
	['38;2;1;2', {foreground: 0}],
	['38', {}],
	['4;24', {}],
	['7', {inverse: true}],
	['8', {}],
	['999;?', {}],
	['38;5;1;1', {foreground: 1, bold: true}],
];

for (const [parameters, change] of cases) {
	test(`applySgr() of ${JSON.stringify(parameters)} gives ${JSON.stringify(change)}`, t => {
		t.deepEqual(applySgr(plainStyle, parameters), {...plainStyle, ...change});
	});
}
