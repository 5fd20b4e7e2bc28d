import {visibleText} from '../../core/visible-text.ts';

const entities: Readonly<Record<string, string>> = {'&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;'};

/** Text for an element or a quoted attribute of a page: nothing of it is markup, steers or reorders. */
export function escapeHtml(text: string): string {
	return visibleText(text).replaceAll(/[&<>"']/g, character => entities[character] ?? '');
}

/** A definition list; terms are ours, descriptions are HTML that was escaped already. */
export function definitions(rows: ReadonlyArray<readonly [term: string, description: string]>): string {
	return `<dl>${rows.map(([term, description]) => `<div><dt>${term}</dt><dd>${description}</dd></div>`).join('')}</dl>`;
}

/** A digest or id that may break anywhere. */
export function idHtml(text: string): string {
	return `<code class="id">${escapeHtml(text)}</code>`;
}
