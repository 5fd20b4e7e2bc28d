/** What bubblewrap or the kernel says, and the one thing that mends it. The first that fits counts. Source: S-DOC. */
const known: ReadonlyArray<readonly [said: RegExp, mend: string]> = [
	[
		/no permissions to create (?:a )?new namespace|creating new namespace failed: operation not permitted/i,
		'a container keeps namespaces away: start it with a seccomp profile that allows unshare and mount (docker: --security-opt seccomp=unconfined), or on the host set kernel.unprivileged_userns_clone=1',
	],
	[
		/setting up uid map: permission denied/i,
		'AppArmor restricts user namespaces: give bwrap a profile that allows userns, or set kernel.apparmor_restrict_unprivileged_userns=0',
	],
	[
		/setting up uid map: operation not permitted/i,
		'root lacks CAP_SETFCAP here: add it to the container (docker: --cap-add SETFCAP), or run bailiff as an ordinary user',
	],
	[/can't mount proc/i, 'parts of /proc are masked: start the container with an unmasked /proc (docker: --security-opt systempaths=unconfined)'],
	[
		/failed to make \/ slave/i,
		'mounting is forbidden here: start the container with a seccomp and AppArmor profile that allow mount (docker: --security-opt apparmor=unconfined)',
	],
	[/RTM_NEWADDR|loopback/i, 'the private loopback cannot be set up: the container must allow network namespaces, or the plan asks for "network": "host"'],
	[
		/no space left on device|ENOSPC/i,
		'no further user namespace is allowed here: raise user.max_user_namespaces, or do not run bailiff inside another sandbox',
	],
	[/symlink destination|can't create file at|can't mkdir/i, 'a path of the profile changed or is a link: name the real path in the plan'],
	[/control groups cannot be entered/i, 'the control group may be made but not entered: run bailiff outside a restricted service, or delegate a subtree to it'],
	[
		/not permitted in setuid mode/i,
		'bubblewrap is set-user-ID here: take the bit away (chmod u-s) where the kernel allows user namespaces, or run bailiff as root',
	],
	[/process namespace of its own|bailiff-supervisor: not found|ended with status 0/i, 'the bubblewrap that was found builds no sandbox: reinstall the package'],
];

/** The mend for a failure of the sandbox, from what was said. */
export function mendFor(said: string): string {
	return known.find(([pattern]) => pattern.test(said))?.[1] ?? 'run the command "bwrap --unshare-all --ro-bind / / true" to see it alone, and see SECURITY.md';
}
