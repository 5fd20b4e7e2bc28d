/**
 * What a page does in the browser: hash what it embeds and hold it against its own manifest; open and close all sections. It asks for nothing from
 * outside, writes text only, and the page says all but the result of the check without it.
 */
export const pageScript = `
'use strict';
(() => {
	const summary = document.getElementById('check-summary');
	const show = (element, text, good) => {
		element.textContent = text;
		element.classList.add(good ? 'good' : 'bad');
	};
	const bytesOf = link => Uint8Array.from(atob(link.href.slice(link.href.indexOf(',') + 1)), character => character.charCodeAt(0));
	const hexOf = buffer => Array.from(new Uint8Array(buffer), byte => byte.toString(16).padStart(2, '0')).join('');
	const digestOf = async link => hexOf(await crypto.subtle.digest('SHA-256', bytesOf(link)));
	const recordedIn = manifest => {
		const found = new Map([['plan.json', manifest.plan.sha256]]);
		for (const command of manifest.commands) {
			for (const file of [command.output, ...command.extra_outputs]) {
				found.set(file.path, file.sha256);
			}
		}
		return found;
	};
	const check = async () => {
		const link = document.querySelector('a.raw[data-path="manifest.json"]');
		if (!link) {
			show(summary, 'Not checked: the manifest is not embedded.', false);
			return;
		}
		const counts = {same: 0, other: 0};
		const judge = (element, isSame) => {
			counts[isSame ? 'same' : 'other'] += 1;
			const place = element.parentElement.querySelector('.check');
			if (place) {
				show(place, isSame ? '✓ digest agrees' : '✗ digest differs', isSame);
			}
		};
		judge(link, (await digestOf(link)) === link.dataset.sha256);
		const recorded = recordedIn(JSON.parse(new TextDecoder().decode(bytesOf(link))));
		for (const other of document.querySelectorAll('a.raw:not([data-path="manifest.json"])')) {
			const digest = await digestOf(other);
			judge(other, digest === other.dataset.sha256 && digest === recorded.get(other.dataset.path));
		}
		const text = counts.other === 0
			? '✓ All ' + counts.same + ' embedded files have the digests that the embedded manifest names.'
			: '✗ ' + counts.other + ' of ' + (counts.same + counts.other) + ' embedded files have another digest than is named.';
		show(summary, text, counts.other === 0);
	};
	const reveal = () => {
		const target = /^#c[0-9]+$/.test(location.hash) ? document.getElementById(location.hash.slice(1)) : null;
		if (target) {
			target.open = true;
			target.scrollIntoView();
		}
	};
	for (const [id, isOpen] of [['open-all', true], ['close-all', false]]) {
		document.getElementById(id).addEventListener('click', () => {
			for (const section of document.querySelectorAll('details.command')) {
				section.open = isOpen;
			}
		});
	}
	document.getElementById('section-tools').hidden = false;
	addEventListener('hashchange', reveal);
	reveal();
	if (globalThis.crypto && crypto.subtle) {
		check().catch(() => show(summary, '✗ The check itself failed: what is embedded cannot be read.', false));
	} else {
		show(summary, 'Not checked: this browser gives no digests here.', false);
	}
})();
`;
