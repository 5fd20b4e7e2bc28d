/** What `init` writes at `harness/operations/repository-cache.md` of a new root. Source: C-ROOT-6. */
export const contractText = `# Repository cache: rules of this root

bailiff wrote this file when the root was laid out. Its path names the root: every command is given this file (\`--contract-path\`) or
the directory two levels above \`operations\` (\`--root\`), and nothing else decides where the root is.

## What lies where

    <root>/repositories/
      .locks/<owner>/<repository>.bootstrap.lock
      <owner>/<repository>/
        repository.git/                    bare mirror
        locks/repository.lock              clone, fetch, check of refs
        locks/issue-<n>.lock               everything done for one issue
        worktrees/issue-<n>/
          state.json                       what the worktree rests on
          checkout/                        the one worktree of the issue
          verification/<run-id>/           evidence of one run
          verification/ledger.jsonl        every attempt
          runtime/<id>/                    what a running workflow needs

Nothing is made anywhere else. A source checkout that happens to lie below this root is never taken for a repository of the cache.

## Who may write

- The root, \`harness\`, \`operations\` and this file are no symbolic links; the root is not writable by everybody.
- \`repositories\` belongs to the account that runs bailiff. Below it directories have mode 0700, lock files and files with a token 0600.
- Whatever does not meet these rules is refused. bailiff repairs, deletes or overwrites nothing that it finds: a person does, by name.

## Locks

- Locks are advisory locks of the kernel (flock) on the files above. A lock file that lies there means nothing by itself: it is held only
  while some process keeps it open. Never delete one, and never judge one by its age.
- Order: bootstrap, then repository, for a new mirror; issue, then repository, for work on an issue. Never the other way round.
- One issue's work never looks into another issue's directory.

## Evidence

- A published run is never changed. A run that is wrong is followed by another one, under another id.
- Removing a worktree never removes \`verification\`.
`;
