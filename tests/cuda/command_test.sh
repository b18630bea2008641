#!/bin/sh
# command_test.sh OCTOBLOOM: the command of a build with CUDA. It works without a driver, and asking
# for the engine where it cannot run is an error that says what is missing.
set -eu
octobloom=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
fail() { echo "command_test: $*" >&2; exit 1; }

"$octobloom" --help >help.txt || fail "--help failed"
printf 'a\nb\na\nc\nb\n' >lines
"$octobloom" dedup -n 100 lines >out || fail "dedup failed"
printf 'a\nb\nc\n' >expected
cmp -s out expected || fail "dedup printed something else"

status=0
"$octobloom" dedup -n 100 --engine cuda lines >out 2>err || status=$?
if [ "$status" = 0 ]; then
  cmp -s out expected || fail "dedup --engine cuda printed something else"
  echo "the cuda engine runs here"
else
  [ "$status" = 2 ] || fail "exit status $status instead of 2"
  [ ! -s out ] || fail "an engine that cannot run printed lines"
  grep -q '"cuda" cannot run here: .*driver\|"cuda" cannot run here: .*device' err ||
    fail "the error does not say what is missing: $(cat err)"
  echo "the cuda engine cannot run here, and says: $(cat err)"
fi
OCTOBLOOM_ENGINE=reference "$octobloom" dedup -n 100 lines >out
cmp -s out expected || fail "dedup with the reference printed something else"
