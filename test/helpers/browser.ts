import {existsSync} from 'node:fs';
import {createRequire} from 'node:module';
import {pathToFileURL} from 'node:url';
import test, {type ExecutionContext} from 'ava';
import {eventually} from './eventually.ts';

/** What the tests use of playwright-core. Its own types need those of a browser, which no source of ours may know. */
type Page = {
	readonly on: (event: string, listener: (about: {readonly text: () => string; readonly message: string; readonly url: () => string}) => void) => void;
	readonly goto: (url: string) => Promise<unknown>;
	readonly title: () => Promise<string>;
	readonly click: (selector: string) => Promise<void>;
	/** Evaluates an expression within the page. */
	readonly evaluate: (expression: string) => Promise<unknown>;
	readonly setViewportSize: (size: {readonly width: number; readonly height: number}) => Promise<void>;
	readonly innerText: (selector: string) => Promise<string>;
	readonly focus: (selector: string) => Promise<void>;
	readonly keyboard: {readonly press: (key: string) => Promise<void>};
};
type Context = {readonly newPage: () => Promise<Page>};
type Browser = {readonly newContext: (options: object) => Promise<Context>; readonly close: () => Promise<void>};
type Playwright = {readonly chromium: {readonly launch: (options: object) => Promise<Browser>}};

const places = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];
const executablePath = places.find(place => existsSync(place)) ?? null;
const args = [
	'--no-sandbox',
	'--disable-gpu',
	'--disable-quic',
	'--no-first-run',
	'--disable-background-networking',
	'--disable-component-update',
	'--disable-sync',
];

/** A test in a real browser: left out where there is none (.ci/test-tools installs it), which `BAILIFF_MUST_SANDBOX=1` turns into a failure (reporter.ts). */
export const browserTest = executablePath === null ? test.skip : test.serial;

/** Starts Chromium without a window and without any talk of its own; it is closed when the test ends. */
export async function startBrowser(t: ExecutionContext): Promise<Browser> {
	const playwright: Playwright = createRequire(import.meta.url)('playwright-core');
	const browser = await playwright.chromium.launch({executablePath, args});
	t.teardown(() => browser.close());
	return browser;
}

/** A page of a report after its own check of digests, and everything that happened and should not. */
export type OpenPage = {readonly page: Page; readonly faults: string[]};

/** Opens a file, notes messages of the console, errors, dialogs and every request for anything outside. */
export async function openPage(browser: Browser, file: string, colorScheme: 'light' | 'dark'): Promise<OpenPage> {
	const context = await browser.newContext({colorScheme, viewport: {width: 1100, height: 900}});
	const page = await context.newPage();
	const faults: string[] = [];
	page.on('console', message => faults.push(`console: ${message.text()}`));
	page.on('pageerror', error => faults.push(`error: ${error.message}`));
	page.on('dialog', () => faults.push('dialog'));
	page.on('request', request => {
		if (!/^(?:file|data):/.test(request.url())) {
			faults.push(`request: ${request.url()}`);
		}
	});
	await page.goto(pathToFileURL(file).href);
	await eventually('the result of the check', () => page.evaluate("/^[✓✗]/.test(document.querySelector('#check-summary').textContent)"));
	return {page, faults};
}
