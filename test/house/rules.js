// The house rules as an oxlint plugin. Each message says what to do instead. test/house/rules.test.ts plants a fault for each.
import path from 'node:path';
import {builtins, layers, owners} from './tables.js';

const root = path.resolve(import.meta.dirname, '../..');
const plainErrors = new Set(['Error', 'TypeError', 'RangeError', 'SyntaxError', 'AggregateError', 'EvalError', 'URIError', 'ReferenceError']);
const processEdge = new Set(['env', 'argv', 'argv0', 'execArgv', 'stdin', 'stdout', 'stderr', 'exit', 'exitCode', 'cwd', 'chdir', 'abort', 'on', 'once']);
const shellCalls = new Set(['exec', 'execSync', 'execaCommand', 'execaCommandSync', 'parseCommandString', '$']);
const vagueNames = new Set(['utils', 'util', 'helpers', 'helper', 'common', 'manager', 'misc', 'shared', 'lib']);

const rule = create => ({meta: {type: 'problem', schema: []}, create});
const fileOf = context => path.relative(root, context.filename).split(path.sep).join('/');
const folderOf = file => file.split('/')[0];
const isOutside = file => ['test', 'bench'].includes(folderOf(file)) || !(folderOf(file) in layers);

function packageOf(specifier) {
	return specifier
		.split('/')
		.slice(0, specifier.startsWith('@') ? 2 : 1)
		.join('/');
}

/** Calls `check(specifier, node)` for each way to import: static, type-only, re-export, dynamic and `import()` types. */
function everyImport(check) {
	const visit = source => {
		if (typeof source?.value === 'string') {
			check(source.value, source);
		}
	};
	return {
		ImportDeclaration: node => visit(node.source),
		ExportNamedDeclaration: node => visit(node.source),
		ExportAllDeclaration: node => visit(node.source),
		ImportExpression: node => visit(node.source),
		TSImportType: node => visit(node.source ?? node.argument?.literal ?? node.argument),
	};
}

const layered = rule(context => {
	const file = fileOf(context);
	const folder = folderOf(file);
	return everyImport((specifier, node) => {
		if (!specifier.startsWith('.')) {
			return;
		}

		const target = folderOf(path.posix.join(path.posix.dirname(file), specifier));
		if (target !== folder && !layers[folder]?.includes(target)) {
			context.report({node, message: `${folder}/ may not import ${target}/ (test/house/tables.js): hand it in through an interface instead`});
		}
	});
});

const owned = rule(context => {
	const file = fileOf(context);
	if (isOutside(file)) {
		return {};
	}

	const allowed = builtins[folderOf(file)];
	return everyImport((specifier, node) => {
		if (specifier.startsWith('.')) {
			return;
		}

		const name = packageOf(specifier);
		const owner = owners[name];
		if (owner !== undefined && !owner.some(prefix => file.startsWith(prefix))) {
			context.report({node, message: `${name} belongs to ${owner.join(', ') || 'nobody'} (test/house/tables.js)`});
		} else if (owner === undefined && !specifier.startsWith('node:')) {
			context.report({node, message: `${name} has no owner in test/house/tables.js`});
		} else if (allowed !== undefined && specifier.startsWith('node:') && !allowed.includes(specifier)) {
			context.report({node, message: `${folderOf(file)}/ may import ${allowed.join(', ')} and no other Node module (test/house/tables.js)`});
		}
	});
});

const literalImport = rule(context => ({
	ImportExpression(node) {
		if (!isOutside(fileOf(context)) && typeof node.source?.value !== 'string') {
			context.report({node, message: 'import() takes a literal, so that the import rules see it'});
		}
	},
}));

const codedThrow = rule(context => {
	const file = fileOf(context);
	const check = node => {
		if (plainErrors.has(node.callee.name)) {
			context.report({node, message: 'use BailiffError with a code (core/errors.ts)'});
		}
	};
	return {
		NewExpression: check,
		CallExpression: check,
		ClassDeclaration(node) {
			if (plainErrors.has(node.superClass?.name) && file !== 'core/errors.ts') {
				context.report({node, message: 'there is one error class: BailiffError with a code (core/errors.ts)'});
			}
		},
	};
});

const noWallClock = rule(context => {
	if (fileOf(context) === 'core/clock.ts') {
		return {};
	}

	const message = 'take a Clock (core/clock.ts)';
	return {
		NewExpression(node) {
			if (node.callee.name === 'Date' && node.arguments.length === 0) {
				context.report({node, message});
			}
		},
		CallExpression(node) {
			if (node.callee.name === 'Date') {
				context.report({node, message});
			}
		},
		MemberExpression(node) {
			const name = `${node.object.name}.${node.property.name ?? node.property.value}`;
			if (['Date.now', 'performance.now', 'performance.timeOrigin', 'process.hrtime', 'process.uptime'].includes(name)) {
				context.report({node, message});
			}
		},
	};
});

const docExports = rule(context => ({
	ExportNamedDeclaration(node) {
		const {declaration} = node;
		if (declaration === null && node.source === null && node.specifiers.length > 0) {
			context.report({node, message: 'export where it is declared, with a doc comment'});
			return;
		}

		const holdsFunction = declaration?.declarations?.some(({init}) => /Function/.test(init?.type ?? '')) ?? false;
		if (!holdsFunction && !/^(?:Function|Class|TSDeclareFunction|TSInterface|TSTypeAlias)/.test(declaration?.type ?? '')) {
			return;
		}

		const comment = context.sourceCode.getCommentsBefore(node).at(-1);
		if (comment?.type !== 'Block' || !comment.value.startsWith('*')) {
			context.report({node, message: 'an exported function, class or type needs a doc comment'});
		}
	},
}));

const processEdges = rule(context => {
	const file = fileOf(context);
	if (isOutside(file) || folderOf(file) === 'cli') {
		return {};
	}

	const message = 'argv, env, streams, cwd, signals and exit belong to cli/: hand the value in';
	return {
		MemberExpression(node) {
			if (node.object.name === 'process' && processEdge.has(node.property.name ?? node.property.value)) {
				context.report({node, message});
			}
		},
		VariableDeclarator(node) {
			if (node.init?.name === 'process') {
				context.report({node, message});
			}
		},
	};
});

const strictJson = rule(context => {
	if (isOutside(fileOf(context))) {
		return {};
	}

	return {
		MemberExpression(node) {
			if (node.object.name === 'JSON' && (node.property.name ?? node.property.value) === 'parse') {
				context.report({node, message: 'parse with parseStrictJson (core/strict-json.ts)'});
			}
		},
	};
});

const noShell = rule(context => ({
	Property(node) {
		const key = node.key.name ?? node.key.value;
		if (key === 'shell' && !node.computed && node.value.value !== false && node.parent?.type === 'ObjectExpression') {
			context.report({node, message: 'commands are argument lists, never a shell string'});
		}
	},
	ImportSpecifier(node) {
		const from = node.parent.source.value;
		if ((from === 'node:child_process' || from === 'execa') && shellCalls.has(node.imported.name)) {
			context.report({node, message: 'commands are argument lists, never a shell string'});
		}
	},
}));

const fileName = rule(context => ({
	Program(node) {
		const file = fileOf(context);
		const stem = path.posix.basename(file).split('.')[0];
		const parts = [...path.posix.dirname(file).split('/'), stem];
		if (!isOutside(file) && parts.some(part => vagueNames.has(part))) {
			context.report({node, message: 'name the file by the noun that it owns'});
		}
	},
}));

const reasonedDisable = rule(context => ({
	Program() {
		for (const comment of context.sourceCode.getAllComments()) {
			if (/^\s*(?:eslint|oxlint)-disable/.test(comment.value) && !/ -- \S/.test(comment.value)) {
				context.report({node: comment, message: 'say why after " -- "'});
			}
		}
	},
}));

export default {
	meta: {name: 'house'},
	rules: {
		layered,
		owned,
		'literal-import': literalImport,
		'coded-throw': codedThrow,
		'no-wall-clock': noWallClock,
		'doc-exports': docExports,
		'process-edge': processEdges,
		'strict-json': strictJson,
		'no-shell': noShell,
		'file-name': fileName,
		'reasoned-disable': reasonedDisable,
	},
};
