#!/bin/bash
# Runs plans on this very repository and looks at what they leave. Everything happens in a fresh folder below the temporary directory.
set -euo pipefail

here=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d "${TMPDIR:-/tmp}/bailiff-demo-XXXXXX")
root=$work/root
source=$work/source
authority=$work/authority
profile=$work/impl-agent
# Git of its own: no configuration of this user, and this repository may belong to somebody else (a container that mounts it).
export GIT_CONFIG_GLOBAL=$work/gitconfig GIT_CONFIG_SYSTEM=/dev/null
printf '[safe]\n\tdirectory = *\n[advice]\n\tdetachedHead = false\n' >"$GIT_CONFIG_GLOBAL"

say() {
	printf '\n\033[1m%s\033[0m\n' "$1" | if [ -t 1 ]; then cat; else sed 's/\x1b\[[0-9]*m//g'; fi
	shift
	if [ "$#" -gt 0 ]; then printf '%s\n' "$@"; fi
}

# Shows a bailiff command as a person would type it, runs it, and checks its exit code.
bailiff() {
	local want=$1 status=0
	shift
	local shown="bailiff $*"
	shown=${shown//$root/\$ROOT}
	shown=${shown//$authority/\$AUTHORITY}
	shown=${shown//$profile/\$PROFILE}
	shown=${shown//$source/\$SOURCE}
	printf '\n$ %s\n' "${shown//$work/\$WORK}"
	node "$here/build/bin/bailiff.cjs" "$@" || status=$?
	if [ "$status" != "$want" ]; then
		echo "the demo expected exit code $want and got $status" >&2
		exit 1
	fi
}

# Where the demo's own server listens.
port=$((20000 + RANDOM % 20000))
# The default sandbox; a node below a home directory has to be shown in it. Where there can be none, the demo says so and runs without.
sandbox='{"mode": "required"}'
node_program=$(readlink -f "$(command -v node)")
node_home=$(dirname "$(dirname "$node_program")")
case $node_home in
/root/* | /home/* | /tmp/* | /var/tmp/* | "${HOME:-/nonexistent}"/*) sandbox="{\"mode\": \"required\", \"filesystem\": {\"read\": [\"$node_home\"]}}" ;;
esac

# plan FILE COMMAND...: a plan for the commit of the checkout; each COMMAND is a JSON object
plan() {
	local file=$1 commands
	shift
	commands=$(IFS=,; echo "$*")
	cat >"$file" <<-END
		{
			"schema": "verification-plan/v3",
			"owner": "demo",
			"repository": "bailiff",
			"issue": 1,
			"source_sha": "$commit",
			"path": "$(dirname "$node_program"):/usr/local/bin:/usr/bin:/bin",
			"sandbox": $sandbox,
			"commands": [$commands]
		}
	END
}

if ! git -C "$here" rev-parse --git-dir >/dev/null 2>&1; then
	echo 'the demo clones this repository, and this folder is no git checkout' >&2
	exit 1
fi

if ! node "$here/build/bin/bailiff.cjs" doctor >"$work/doctor.txt"; then
	say 'There can be no sandbox here' 'What is wanting, and the mend:'
	grep -A 1 '^fail' "$work/doctor.txt" || true
	echo 'The demo goes on with "sandbox": {"mode": "off"}: nothing keeps the commands from the rest of this machine.'
	sandbox='{"mode": "off"}'
fi

say '1. A product, and an authority that has it' \
	'The product is this repository. It is cloned, so that nothing of yours is touched, and laid out as a local authority: a bare' \
	'repository with issues and approvals as files beside it. A forge would be the authority otherwise.'
git clone -q --no-hardlinks "$here" "$source"
git -C "$source" checkout -q -B main HEAD
target=(--owner demo --repository bailiff)
if [ "$(git -C "$source" rev-parse --is-shallow-repository)" = true ]; then
	echo 'This clone is shallow: parts of its history are missing, and bailiff mirrors no such repository:'
	bailiff 3 local init --authority "$authority" "${target[@]}" --from "$source"
	echo
	echo 'The mend is "git fetch --unshallow". The demo leaves your clone alone, and goes on with a new repository of one commit: the files as they are.'
	rm -rf "$source/.git"
	git -C "$source" init -q -b main
	git -C "$source" add -A -f
	git -C "$source" -c user.name=demo -c user.email=demo@localhost commit -q -m 'The files of a shallow clone'
fi
commit=$(git -C "$source" rev-parse HEAD)
bailiff 0 local init --authority "$authority" "${target[@]}" --from "$source"
printf 'Write down what this is.\n\n- [ ] demo/feature.txt says it\n' >"$work/issue.md"
on=(--target 'demo/bailiff#1')
bailiff 0 local issue --authority "$authority" "${on[@]}" --title 'A feature' --body-file "$work/issue.md" --as maintainer

say '2. A root, a role and a mirror' 'The root is the place for everything; only this user can read it. The role may work where an approver said so.'
bailiff 0 init --root "$root"
bailiff 0 profile new --profile "$profile" --kind local --url "$authority" --role impl-agent --login impl-agent --account-id 2 --approver 1
as=(--root "$root" --profile "$profile")
bailiff 0 cache bootstrap "${as[@]}" --target demo/bailiff

say '3. The worktree of the issue' 'Nobody approved yet, so there is none. The approval is for exactly this body of the issue.'
bailiff 3 worktree create "${as[@]}" "${on[@]}"
bailiff 0 local approve --authority "$authority" "${on[@]}" --kind implementation --as maintainer
bailiff 0 worktree create "${as[@]}" "${on[@]}"

say '4. A plan' \
	'Four commands. Each has its own limit of time and output. The last is a RED: a test of something that is not written yet,' \
	'so it must fail with exit code 1. If it passed, the run would fail.'
plan "$work/plan.json" \
	'{"id": "house-rules-parse", "argv": ["node", "--check", "test/house/rules.js"], "timeout_seconds": 30, "max_output_bytes": 65536}' \
	'{"id": "supervisor-compiles", "argv": ["cc", "-std=gnu11", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "native/src/supervisor/main.c"], "timeout_seconds": 60, "max_output_bytes": 65536}' \
	'{"id": "last-commit", "argv": ["git", "log", "-1", "--format=%H %s"], "timeout_seconds": 30, "max_output_bytes": 65536}' \
	'{"id": "feature-not-written-yet", "argv": ["test", "-s", "demo/feature.txt"], "timeout_seconds": 10, "max_output_bytes": 4096, "expected_exit_code": 1, "purpose": "red"}'
bailiff 0 plan check "$work/plan.json"

say '5. The plan runs in custody' 'It runs where the issue has its worktree. Exit code 0: every command ended as the plan said.'
bailiff 0 run "${as[@]}" --plan "$work/plan.json" --run-id demo-passed

say '6. A reader checks the evidence' \
	'It believes nothing that the evidence says about itself: files, digests, claims, truth table, ledger, and the commit in git. The verdict is valid-v3.'
bailiff 0 validate --root "$root" "${on[@]}" --run demo-passed --require-passed

say '7. A second run, with a command that hangs' \
	'It asks for 30 seconds and gets one. bailiff ends it, records the timeout, and says so: exit code 1.'
plan "$work/slow.json" '{"id": "hangs", "argv": ["sleep", "30"], "timeout_seconds": 1, "max_output_bytes": 4096}'
bailiff 1 run "${as[@]}" --plan "$work/slow.json" --run-id demo-timeout

say '8. The record of a failed run is sound too' 'Verdict valid-v3 (the evidence holds), result failed (the run did not pass).'
bailiff 0 validate --root "$root" "${on[@]}" --run demo-timeout

if [ "$sandbox" != '{"mode": "off"}' ]; then
	say '9. What the sandbox keeps from a command' \
		'Three acts: a file in the checkout, a file outside, a connection out. Then the same with the sandbox off, as an explicit choice that the evidence shows.'
	acts='touch build-output && echo wrote in the checkout; echo x >'$work'/outside; timeout 5 git ls-remote git://127.0.0.1:'$port'/ 2>&1 | grep -q refused && echo found no server || echo reached a server outside; rm -f build-output'
	outside() {
		if [ -e "$work/outside" ]; then echo 'and the file outside is there'; else echo 'and the file outside is not there: it was written in a private directory that is gone'; fi
	}
	node -e 'require("node:net").createServer(c => c.end()).listen('"$port"', "127.0.0.1")' &
	server=$!
	trap 'kill "$server" 2>/dev/null || true' EXIT
	sleep 1
	plan "$work/inside.json" '{"id": "acts", "argv": ["sh", "-c", "'"$acts"'"], "timeout_seconds": 30, "max_output_bytes": 4096}'
	bailiff 0 run "${as[@]}" --plan "$work/inside.json" --run-id demo-inside
	bailiff 0 evidence show --root "$root" "${on[@]}" --run demo-inside --output acts
	outside
	kept=$sandbox
	sandbox='{"mode": "off"}'
	plan "$work/off.json" '{"id": "acts", "argv": ["sh", "-c", "'"$acts"'"], "timeout_seconds": 30, "max_output_bytes": 4096}'
	sandbox=$kept
	bailiff 0 run "${as[@]}" --plan "$work/off.json" --run-id demo-off
	bailiff 0 evidence show --root "$root" "${on[@]}" --run demo-off --output acts
	outside
	kill "$server"
fi

say '10. What is there' 'Every run, and each attempt in the ledger: a run that failed cannot be made to disappear.'
bailiff 0 evidence list --root "$root" "${on[@]}"
bailiff 0 evidence show --root "$root" "${on[@]}" --run demo-timeout

say '11. One changed byte' 'One letter in an output of the first run is edited. The reader says which file, and the exit code is 1. Then it is put back.'
run=$root/repositories/demo/bailiff/worktrees/issue-1/verification/demo-passed
cp -p "$run/output/002.log" "$work/kept.log"
printf 'X' | dd of="$run/output/002.log" conv=notrunc status=none
bailiff 1 validate --root "$root" "${on[@]}" --run demo-passed
cat "$work/kept.log" >"$run/output/002.log"

say '12. Work, and what keeps it' \
	'A command works in the worktree under the lock of its issue, and commits. Nobody has that commit yet, so the worktree stays.'
bailiff 0 worktree exec "${as[@]}" "${on[@]}" -- sh -c 'echo "bailiff makes it checkable." >demo/feature.txt && git add demo/feature.txt && git commit -q -m "Say what it is" && git log -1 --oneline'
bailiff 3 worktree remove "${as[@]}" "${on[@]}"

say '13. The test that had to fail passes now' 'The RED of the first plan, on the new commit: the command is the same, and now it must pass.'
commit=$(git -C "$(node "$here/build/bin/bailiff.cjs" worktree path --root "$root" "${on[@]}")" rev-parse HEAD)
plan "$work/green.json" '{"id": "feature-written", "argv": ["test", "-s", "demo/feature.txt"], "timeout_seconds": 10, "max_output_bytes": 4096}'
bailiff 0 run "${as[@]}" --plan "$work/green.json" --run-id demo-green
bailiff 0 evidence report --root "$root" "${on[@]}" --run demo-green --format html --output "$work/report.html"
echo "one page, for a browser: $work/report.html"

say '14. Delivered, read back, removed' 'A person pushes. The removal believes nobody: it reads the branch back from the authority. The evidence stays.'
git -C "$(node "$here/build/bin/bailiff.cjs" worktree path --root "$root" "${on[@]}")" push -q "$authority/demo/bailiff/repository.git" HEAD:refs/heads/issue-1
bailiff 0 worktree remove "${as[@]}" "${on[@]}" --delivered-branch issue-1
bailiff 0 evidence list --root "$root" "${on[@]}"

say 'Where it lies' "$root/repositories/demo/bailiff/worktrees/issue-1/verification"
(cd "$run/.." && find . -type f | sort)
say 'Done.' "Look around, then remove it: rm -rf $work"
