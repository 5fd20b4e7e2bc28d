/** One word of a command line that a person can copy: quoted for a POSIX shell where it has to be. */
export function shellWord(text: string): string {
	return /^[A-Za-z0-9_./:@%+=,-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}

/** The last twelve permission bits as people write them: `0700`, `2755`. */
export function modeText(mode: number): string {
	return (mode & 0o7777).toString(8).padStart(4, '0');
}

/** The command that gives `place` the mode `wanted`. A numeric chmod leaves the special bits of a directory standing, so those are named. */
export function chmodCommand(place: string, current: number, wanted: number): string {
	const special = (current & 0o7000) === 0 ? '' : `chmod a-st ${shellWord(place)} && `;
	return `${special}chmod ${modeText(wanted)} ${shellWord(place)}`;
}
