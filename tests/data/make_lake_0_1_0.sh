#!/usr/bin/env bash
# Makes tests/data/lake-0.1.0.tar.xz with the last commit of version 0.1.0's first day; run at the top of a checkout.
set -euo pipefail
commit=${1:-bc4dca5}; here=$PWD; work=$(mktemp -d)
git worktree add --detach "$work/code" "$commit"
trap 'git -C "$here" worktree remove --force "$work/code"; rm -rf "$work"' EXIT
export PYTHONPATH=$work/code/include TMPDIR=$work
python=$here/.venv/bin/python
"$python" -c 'import sys, pathlib; from s2corpus import sample; sample.tiny(pathlib.Path(sys.argv[1]))' "$work/tree"
sed 's/^resources:/export:\n  files: 1\nresources:/' "$work/code/include/releases/sample.yaml" > "$work/sample.yaml"
(cd "$work/code" && "$python" -m s2corpus build "$work/sample.yaml" --as-of 2023-02-01 --lake "$work/lake" --from "$work/tree")
rm -rf "$work/lake/releases" "$work/lake/.lock" # a release's own tables: no later one reads them
tar -C "$work/lake" --sort=name --mtime=2023-02-01 --owner=0 --group=0 --numeric-owner -cf - . | xz -9e > tests/data/lake-0.1.0.tar.xz
ls -l tests/data/lake-0.1.0.tar.xz
