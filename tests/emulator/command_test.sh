#!/usr/bin/env bash
# command_test.sh OCTOBLOOM_PTXRUN KERNELS: the interpreter's command, with the compiled kernels of the
# folder KERNELS: arguments, files, statistics, exit statuses, and what is said of mistakes.
set -u
ptxrun=$1
k=$2/kernels.sm_90_lineinfo.ptx
w=$2/wrong.sm_90_lineinfo.ptx
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
passed=0
failed=0
ok() { passed=$((passed + 1)); }
bad() { failed=$((failed + 1)); echo "FAILED $*"; }

expect() {   # expect CODE TEXT argument...: exit status, and a text in the output
  local code=$1 text=$2 out got
  shift 2
  out=$("$ptxrun" "$@" 2>&1)
  got=$?
  if [ $got = "$code" ] && grep -qF -- "$text" <<<"$out"; then ok; else
    bad "$*: exit status $got, expected $code and \"$text\"; output: $out"
  fi
}
words() { od -An -v -t u4 "$@" | tr -s ' \n' ' '; }
same() { if [ "$(words "$1")" = "$2" ]; then ok; else bad "$1 holds $(words "$1"), expected $2"; fi; }
word() { printf '%08x' "$1" | sed 's/\(..\)\(..\)\(..\)\(..\)/\\x\4\\x\3\\x\2\\x\1/'; }
for v in $(seq 1 64); do printf "$(word $v)"; done > x.bin

expect 0 "contains_tile_8" "$k" --list
expect 0 "0: 32 bytes, align 8" "$k" --list
expect 0 "lane instructions/s" "$k" --entry warp_scan --grid 1 --block 32 --arg in:x.bin out:scan.bin:640 --stats s.json
if [ "$(od -An -j 124 -N 4 -t u4 scan.bin | tr -d ' ')" = 528 ]; then ok; else bad "scan.bin"; fi
if grep -q '"warp_instructions": [1-9]' s.json && grep -q '"classes": {' s.json; then ok; else bad "s.json"; fi
if ! command -v python3 >/dev/null || python3 -c 'import json; json.load(open("s.json"))'; then ok; else bad "s.json is no JSON"; fi
expect 0 "" "$k" --entry global_atomics --grid 1 --block 1 --serial --arg zero:16 zero:12 zero:32 out:f.bin:4 zero:8
same f.bin " 1056964608 "
cp x.bin y.bin
expect 0 "" "$w" --entry write_past_end --grid 1 --block 4 --arg u32:3 --arg inout:y.bin
if [ "$(od -An -N 16 -t u4 y.bin | tr -s ' ')" = " 0 1 2 3" ]; then ok; else bad "inout"; fi
expect 0 "" "$k" --entry by_value --grid 1 --block 2 --arg "struct:{in:x.bin,u32:0,u32:1,u32:2,u64:100}" u32:1 out:v.bin:16
expect 0 "" "$k" --entry by_value --grid 1 --block 2 --arg "struct:{in:x.bin,struct:{u32:0,u32:1,u32:2},hex:00000000,u64:100}" u32:1 out:v2.bin:16
if cmp -s v.bin v2.bin && [ -s v.bin ]; then ok; else bad "struct with hex"; fi
expect 0 "" "$w" --entry wide_load --grid 1 --block 2 --arg in:x.bin+16 out:z.bin:16
expect 3 "misaligned: 16-byte read" "$w" --entry wide_load --grid 1 --block 2 --arg in:x.bin+8 out:z.bin:16
expect 3 "out of bounds: 16-byte read" "$w" --entry wide_load --grid 1 --block 2 --arg in:x.bin-16 out:z.bin:16
expect 3 "wrong.cu:" "$w" --entry read_past_end --grid 1 --block 96 --arg in:x.bin u32:64 out:z.bin:256
expect 3 "block (0,0,0) thread (64,0,0)" "$w" --entry read_past_end --grid 1 --block 96 --arg in:x.bin u32:64 out:z.bin:256
expect 3 "read-only" "$w" --entry write_input --grid 1 --block 32 --arg in:x.bin
expect 3 "deadlock" "$w" --entry two_shuffles --grid 1 --block 32 --arg in:x.bin zero:256
expect 4 "races" "$w" --entry missing_syncwarp --grid 1 --block 32 --arg in:x.bin zero:128 --racecheck
expect 0 "" "$w" --entry with_syncwarp --grid 1 --block 32 --arg in:x.bin zero:128 --racecheck
expect 0 "exited" "$w" --entry early_exit_ballot --grid 1 --block 32 --arg in:x.bin zero:128
expect 3 "exited" "$w" --entry early_exit_ballot --grid 1 --block 32 --arg in:x.bin zero:128 --strict-sync
expect 0 "" "$w" --entry same_value_twice --grid 1 --block 2 --arg zero:4
expect 0 "" "$w" --entry read_past_end --grid 1 --block 32 --arg in:x.bin u32:64 zero:256 --seed 7 --switch 0.5 --resident 1
expect 2 "parameters" "$w" --entry read_past_end --grid 1 --block 32 --arg in:x.bin
expect 2 "several kernels" "$k" --entry contains --grid 1 --block 32
expect 2 "no kernel is called" "$k" --entry nothing --grid 1 --block 32
expect 2 "cannot read" missing.ptx --list
expect 2 "\"many\" is no integer" "$w" --entry read_past_end --grid many --block 32
expect 2 "\"4x\" is no integer" "$w" --entry read_past_end --grid 1,4x --block 32
expect 2 "--seed takes" "$w" --entry read_past_end --grid 1 --block 32 --seed x
expect 2 "--switch takes" "$w" --entry read_past_end --grid 1 --block 32 --switch 1.5
expect 2 "\"1e\" is no number" "$w" --entry read_past_end --grid 1 --block 32 --arg f32:1e
expect 2 "hex: takes" "$w" --entry read_past_end --grid 1 --block 32 --arg hex:0g
cat > odd.ptx <<'PTX'
.version 8.0
.target sm_90
.address_size 64
.visible .entry odd(.param .u64 odd_p)
{
	.reg .b32 %r<3>;
	.reg .b64 %rd<3>;
	.reg .pred %p<2>;
	ld.param.u64 %rd1, [odd_p];
	ld.global.u32 %r1, [%rd1];
	setp.ne.u32 %p1, %r1, 0;
	@%p1 tex.1d.v4.s32.s32 {%r1,%r1,%r1,%r1}, [nothing, {%r1}];
	add.frob.u32 %r2, %r1, 1;
	ret;
}
.visible .entry fine() { ret; }
PTX
expect 5 "tex.1d" odd.ptx --entry odd --grid 1 --block 1 --arg zero:4
expect 5 "odd.ptx:12" odd.ptx --entry odd --grid 1 --block 1 --arg zero:4
expect 5 "add.frob.u32" odd.ptx --entry odd --grid 1 --block 1 --arg zero:4 --allow-unsupported
expect 0 "" odd.ptx --entry fine --grid 1 --block 1

echo "$passed passed, $failed failed"
[ $failed = 0 ]
