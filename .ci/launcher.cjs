#!/usr/bin/env node
// Starts the bundled command line from the code that V8 compiled when it was built (R-PERF-5: `plan check` in at most 1.5 times a bare Node). Another V8
// refuses that code and compiles the bundle anew: slower, never different.
'use strict';
const {readFileSync} = require('node:fs');
const path = require('node:path');
const vm = require('node:vm');

const filename = path.join(__dirname, 'command-line.cjs');
const script = new vm.Script(readFileSync(filename, 'utf8'), {filename, cachedData: readCompiled()});
script.runInThisContext()(require, specifier => import(specifier));

function readCompiled() {
	try {
		return readFileSync(path.join(__dirname, 'command-line.compiled'));
	} catch {
		return undefined;
	}
}
