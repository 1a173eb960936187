#!/usr/bin/env bash
# Makes tests/data/releases/NAME.tar.gz with the code of a commit: make_release.sh COMMIT NAME, at the top of a checkout.
set -euo pipefail
commit=$1; name=$2; here=$PWD; work=$(mktemp -d)
git worktree add --quiet --detach "$work/code" "$commit"
trap 'git -C "$here" worktree remove --force "$work/code"; rm -rf "$work"' EXIT
export PYTHONPATH=$work/code/include:$work/code S2CORPUS_CATALOG=sqlite:///$work/catalog.db
python=$here/.venv/bin/python
cd "$work/code"
"$python" - "$work/tree" <<'END'
import os, pathlib, sys
try:
    from devtools import sample
except ModuleNotFoundError:  # before 1.0.0
    from s2corpus import sample
from s2corpus.catalog import Catalog
sample.tiny(pathlib.Path(sys.argv[1]))
Catalog(os.environ["S2CORPUS_CATALOG"]).migrate()
END
sed -e '/end_date/d' -e 's/^  files: .*/  files: 1/' include/releases/sample.yaml > "$work/sample.yaml"
"$python" -m s2corpus build "$work/sample.yaml" --as-of 2023-02-01 --lake "$work/lake" --from "$work/tree"
"$python" -m s2corpus build "$work/sample.yaml" --as-of 2023-03-01 --lake "$work/lake"
snapshots=("$work"/lake/snapshots/sample-*)
"$python" -m s2corpus delta "${snapshots[@]}" --out "$work/delta"
for snapshot in "${snapshots[@]}"; do "$python" -m s2corpus verify "$snapshot"; done
rm -f "$work/lake/.lock"
mkdir -p "$here/tests/data/releases"
tar -C "$work" --sort=name --mtime=2023-03-01 --owner=0 --group=0 --numeric-owner -c lake delta catalog.db sample.yaml \
  | gzip -9n > "$here/tests/data/releases/$name.tar.gz"
ls -l "$here/tests/data/releases/$name.tar.gz"
