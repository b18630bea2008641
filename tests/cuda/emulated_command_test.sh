#!/bin/sh
# emulated_command_test.sh OCTOBLOOM: the command on an emulated device. Lines, answers and files are
# those of the reference, a device that is too small is an error that leaves files as they were, and
# settings that make no sense are refused by name.
set -eu
octobloom=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
fail() { echo "emulated_command_test: $*" >&2; exit 1; }
compared=0
same() {  # FILE OTHER
  cmp -s "$1" "$2" || fail "$1 and $2 differ"
  compared=$((compared + $(wc -c <"$1")))
}

seq 1 6000 >known
{ cat known; seq 3000 9000; seq 1 5 8000; } >lines
for engine in reference cuda; do
  export OCTOBLOOM_ENGINE=$engine
  "$octobloom" dedup -n 20k lines --save saved.$engine -o unique.$engine
  "$octobloom" dedup lines -o sized.$engine
  "$octobloom" dedup --on-full grow -n 500 lines -o grown.$engine
  "$octobloom" dedup --window 2000 -p 1e-7 lines -o window.$engine
  "$octobloom" create -n 6000 -p 0.01 -o made.$engine
  "$octobloom" insert made.$engine known
  "$octobloom" check made.$engine lines >answers.$engine
  "$octobloom" create --cuckoo -n 8000 -p 0.001 -o cuckoo.$engine
  "$octobloom" insert cuckoo.$engine known
  "$octobloom" check -c cuckoo.$engine lines >cuckoo-answers.$engine
done
for file in unique sized grown window saved made answers cuckoo cuckoo-answers; do
  [ -s $file.cuda ] || fail "$file.cuda is empty"
  same $file.cuda $file.reference
done
[ "$(wc -l <unique.cuda)" = 9000 ] || fail "dedup lost or doubled lines"

export OCTOBLOOM_ENGINE=cuda
"$octobloom" bench -n 20000 --json --plot engines.svg >bench.json
for engine in reference cuda; do
  grep -q "\"$engine\"" bench.json || fail "the benchmark has no row for $engine"
  grep -q ">$engine<" engines.svg || fail "the picture does not show $engine"
done
grep -q '"filter_held": true' bench.json || fail "the benchmark has no row for a held filter"
grep -q ">cuda, filter held<" engines.svg || fail "the picture does not show a held filter"

cp made.cuda before
status=0
OCTOBLOOM_EMULATED_MEMORY=4096 "$octobloom" insert made.cuda lines >out 2>err || status=$?
[ "$status" = 2 ] || fail "a device without memory: exit status $status instead of 2"
grep -q 'the GPU has 4096' err || fail "the error does not say what the device has: $(cat err)"
same made.cuda before
OCTOBLOOM_EMULATED_MEMORY=100000 "$octobloom" insert made.cuda lines >out 2>err && fail "it fitted"
grep -q 'out of memory' err || fail "the error does not say that memory is missing: $(cat err)"
same made.cuda before

for setting in MEMORY= MEMORY=lots MEMORY=0 MEMORY=-1 MEMORY=1e9 MEMORY=20000000000000 \
  MEMORY=99999999999999999999 SCHEDULE= SCHEDULE=soon SCHEDULE=1x SCHEDULE=-1; do
  status=0
  env "OCTOBLOOM_EMULATED_$setting" "$octobloom" --version >out 2>err || status=$?
  [ "$status" = 2 ] || fail "$setting: exit status $status"
  grep -q "OCTOBLOOM_EMULATED_${setting%%=*} is \"${setting#*=}\"; it takes " err ||
    fail "$setting: $(cat err)"
done
for setting in MEMORY=100000000 SCHEDULE=late SCHEDULE=early SCHEDULE=18446744073709551615; do
  env "OCTOBLOOM_EMULATED_$setting" "$octobloom" --version >out || fail "$setting was refused"
done
echo "$compared bytes of lines, answers and files like the reference's"
