import type {CommandSpec, OptionSpec} from './command-spec.ts';

/** The shells that a completion script can be made for. */
export const shells = ['bash', 'zsh', 'fish'] as const;
/** One of them. */
export type Shell = (typeof shells)[number];

/**
 * The completion script of a shell for the commands given.
 *
 * Shape: static text, generated from the catalogue; it runs nothing of bailiff while a person types.
 */
export function completionScript(shell: Shell, catalogue: readonly CommandSpec[], groups: Readonly<Record<string, string>>): string {
	const nodes = commandNodes(catalogue, groups);
	switch (shell) {
		case 'bash':
			return bashScript(nodes);
		case 'zsh':
			return zshScript(nodes);
		case 'fish':
			return fishScript(nodes);
		default:
			return shell satisfies never;
	}
}

type Word = {readonly word: string; readonly summary: string};
type Node = {
	readonly path: string;
	/** The words that may follow: subcommands, or the choices of the first argument. */
	readonly words: readonly Word[];
	readonly options: readonly OptionSpec[];
	readonly takesFile: boolean;
};

const everywhere: readonly OptionSpec[] = [
	{name: 'json', kind: 'flag', summary: 'one JSON object on stdout'},
	{name: 'help', kind: 'flag', summary: 'print help'},
];

function commandNodes(catalogue: readonly CommandSpec[], groups: Readonly<Record<string, string>>): Node[] {
	const singles = catalogue.filter(({path}) => !path.includes(' ')).map(({path, summary}) => ({word: path, summary}));
	const groupWords = Object.entries(groups).map(([word, summary]) => ({word, summary}));
	const top: Node = {path: '', words: [...singles, ...groupWords], options: [{name: 'version', kind: 'flag', summary: 'print the version'}], takesFile: false};
	const groupNodes = groupWords.map(({word}) => ({
		path: word,
		words: catalogue.filter(({path}) => path.startsWith(`${word} `)).map(({path, summary}) => ({word: path.slice(word.length + 1), summary})),
		options: [],
		takesFile: false,
	}));
	const leaves = catalogue.map(spec => ({
		path: spec.path,
		words: spec.arguments.flatMap(({choices, summary}) => (choices ?? []).map(word => ({word, summary}))),
		options: [...spec.options, ...everywhere],
		takesFile: spec.arguments.some(({kind}) => kind === 'file'),
	}));
	return [top, ...groupNodes, ...leaves];
}

/** Each step from a path to the next: `|plan` to `plan`, `plan|check` to `plan check`. */
function steps(nodes: readonly Node[]): Array<{from: string; to: string}> {
	return nodes.filter(({path}) => path !== '').map(({path}) => ({from: path.includes(' ') ? path.replace(' ', '|') : `|${path}`, to: path}));
}

function valueOptions(nodes: readonly Node[]): Array<{path: string; option: OptionSpec}> {
	return nodes.flatMap(({path, options}) => options.filter(({kind}) => kind !== 'flag').map(option => ({path, option})));
}

function bashScript(nodes: readonly Node[]): string {
	const cases = steps(nodes).map(({from, to}) => `\t\t\t'${from}') path='${to}' ;;`);
	const values = valueOptions(nodes).map(({path, option}) => `\t\t'${path}|--${option.name}') ${bashValue(option)} return ;;`);
	const words = nodes.map(node => {
		const all = [...node.words.map(({word}) => word), ...node.options.map(({name}) => `--${name}`)].join(' ');
		return `\t\t'${node.path}') words='${all}'${node.takesFile ? '; files=1' : ''} ;;`;
	});
	return `# bash completion of bailiff: source <(bailiff completion bash)
_bailiff() {
	local current=\${COMP_WORDS[COMP_CWORD]} previous=\${COMP_WORDS[COMP_CWORD-1]} path='' words='' files='' i
	for ((i = 1; i < COMP_CWORD; i++)); do
		case "$path|\${COMP_WORDS[i]}" in
${cases.join('\n')}
		esac
	done
	COMPREPLY=()
	case "$path|$previous" in
${values.join('\n')}
	esac
	case "$path" in
${words.join('\n')}
	esac
	if [[ -n $files && $current != -* ]]; then
		compopt -o filenames 2>/dev/null
		mapfile -t COMPREPLY < <(compgen -f -- "$current")
		return
	fi
	mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
}
complete -F _bailiff bailiff`;
}

function bashValue(option: OptionSpec): string {
	switch (option.kind) {
		case 'file':
			return 'compopt -o filenames 2>/dev/null; mapfile -t COMPREPLY < <(compgen -f -- "$current");';
		case 'directory':
			return 'compopt -o filenames 2>/dev/null; mapfile -t COMPREPLY < <(compgen -d -- "$current");';
		case 'flag':
		case 'text':
		case 'whole':
		case 'seconds':
			return option.choices === undefined ? '' : `mapfile -t COMPREPLY < <(compgen -W '${option.choices.join(' ')}' -- "$current");`;
		default:
			return option.kind satisfies never;
	}
}

function zshScript(nodes: readonly Node[]): string {
	const cases = steps(nodes).map(({from, to}) => `\t\t\t'${from}') at='${to}' ;;`);
	const values = valueOptions(nodes).map(({path, option}) => `\t\t'${path}|--${option.name}') ${zshValue(option)}return ;;`);
	const words = nodes.map(node => {
		const all = [...node.words, ...node.options.map(({name, summary}) => ({word: `--${name}`, summary}))];
		return `\t\t'${node.path}') items=(${all.map(({word, summary}) => quoted(`${word}:${summary}`)).join(' ')})${node.takesFile ? '; _files' : ''} ;;`;
	});
	return `#compdef bailiff
# zsh completion of bailiff: source <(bailiff completion zsh)
_bailiff() {
	local at='' i
	local -a items
	for ((i = 2; i < CURRENT; i++)); do
		case "$at|\${words[i]}" in
${cases.join('\n')}
		esac
	done
	case "$at|\${words[CURRENT-1]}" in
${values.join('\n')}
	esac
	case "$at" in
${words.join('\n')}
	esac
	_describe 'bailiff' items
}
compdef _bailiff bailiff`;
}

function zshValue(option: OptionSpec): string {
	if (option.choices !== undefined) {
		return `compadd -- ${option.choices.join(' ')}; `;
	}

	return option.kind === 'directory' ? '_files -/; ' : option.kind === 'file' ? '_files; ' : '';
}

function fishScript(nodes: readonly Node[]): string {
	const cases = steps(nodes).map(({from, to}) => `\t\t\tcase '${from}'\n\t\t\t\tset at '${to}'`);
	const lines = nodes.flatMap(node => {
		const condition = `-n 'test (__bailiff_at) = "${node.path}"'`;
		const words = node.words.map(({word, summary}) => `complete -c bailiff ${condition} -a '${word}' -d ${quoted(summary)}`);
		const options = node.options.map(option => `complete -c bailiff ${condition} -l ${option.name}${fishValue(option)} -d ${quoted(option.summary)}`);
		return [...words, ...options, ...(node.takesFile ? [`complete -c bailiff ${condition} -F`] : [])];
	});
	return `# fish completion of bailiff: bailiff completion fish | source
function __bailiff_at
	set -l at ''
	for word in (commandline -opc)[2..]
		switch "$at|$word"
${cases.join('\n')}
		end
	end
	echo "$at"
end
complete -c bailiff -f
${lines.join('\n')}`;
}

function fishValue(option: OptionSpec): string {
	if (option.choices !== undefined) {
		return ` -x -a '${option.choices.join(' ')}'`;
	}

	switch (option.kind) {
		case 'flag':
			return '';
		case 'directory':
			return ` -x -a '(__fish_complete_directories)'`;
		case 'file':
			return ' -r -F';
		case 'text':
		case 'whole':
		case 'seconds':
			return ' -x';
		default:
			return option.kind satisfies never;
	}
}

// zsh and fish both read '\\'' as an apostrophe between two quoted parts.
function quoted(text: string): string {
	return `'${text.replaceAll("'", `'\\''`)}'`;
}
