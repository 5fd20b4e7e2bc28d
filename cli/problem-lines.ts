import {visibleLine} from '../core/visible-text.ts';
import type {Problem} from '../evidence/problems.ts';

/** One line a problem: code, where, what. Safe to show. */
export function problemLines(problems: readonly Problem[]): string[] {
	return problems.map(({code, path, pointer, message}) => {
		const where = [path, pointer].filter(part => part !== null && part !== '').join(' ');
		return `  ${code}${where === '' ? '' : ` at ${visibleLine(where, 300)}`}: ${visibleLine(message, 1000)}`;
	});
}
