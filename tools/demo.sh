#!/usr/bin/env bash
# Removes the repeats from ten million e-mail lines, and from the folders of Debian's file index,
# checks both against the exact answer, and compares with sort -u and an exact hash set.
#
#   tools/demo.sh [LINES [ADDRESSES]]      default: 10000000 lines, drawn from 7000000 addresses
#
# Input and exact answers stay in build/demo, so that another run has them at once.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

lines=${1:-10000000}
addresses=${2:-7000000}
case "$lines$addresses" in
  *[!0-9]*)
    sed -n '2,5s/^# \{0,1\}//p' "$0" >&2
    exit 2
    ;;
esac

tools/deps.sh
jobs=${OCTOBLOOM_JOBS:-$(nproc)}
work=build/demo
mkdir -p "$work"
cmake --preset release >"$work/log" 2>&1 || { cat "$work/log" >&2; exit 1; }
cmake --build --preset release --parallel "$jobs" --target octobloom_cli example_email_log example_exact_dedup

octobloom=build/release/bin/octobloom
exact_dedup=build/release/bin/example_exact_dedup
export LC_ALL=C

# Makes a file of the work folder by a command, once: nothing is there until all is.
once() {
  local target=$work/$1
  shift
  [[ -s $target ]] && return
  "$@" >"$target.part" && mv "$target.part" "$target"
}

# Figures of our own JSON.
figure() { sed -n "s/.*\"$2\": *\"\{0,1\}\([^,\"}]*\).*/\1/p" "$1"; }
grouped() { sed -E ':a; s/^([0-9]+)([0-9]{3})/\1,\2/; ta' <<<"$1"; }
seconds_of() {
  local TIMEFORMAT=%R
  { time "$@" >"$work/out" 2>"$work/err"; } 2>&1 || { cat "$work/err" >&2; return 1; }
}

row() { # name, seconds, lines out, further words
  awk -v name="$1" -v seconds="$2" -v bytes="$size" -v out="$(grouped "$3")" -v rest="${4:-}" \
    'BEGIN { printf "  %-28s %7.2f s  %6.0f MB/s  %11s lines out%s\n", name, seconds, bytes / 1e6 / seconds, out, rest }'
}

# Runs dedup on the input and compares with the exact answer; sets lost.
dedup() { # engine
  "$octobloom" dedup -q --engine "$1" --report "$work/report" "$input" >"$work/out"
  lost=0
  if ! cmp -s "$work/out" "$exact"; then
    # Lines may be missing; none may be new, or stand elsewhere.
    diff --speed-large-files "$exact" "$work/out" >"$work/difference" || true
    if grep -q '^>' "$work/difference"; then
      echo "demo.sh: dedup printed lines that the exact answer does not have there" >&2
      exit 1
    fi
    lost=$(grep -c '^<' "$work/difference")
  fi
}

row_of_report() { # name
  local expected
  expected=$(awk -v x="$(figure "$work/report" expected_lost)" 'BEGIN { printf "%.2g", x }')
  row "$1" "$(figure "$work/report" seconds)" "$(figure "$work/report" lines_out)" \
    ", $lost lost (expected $expected), filter $(mebibytes "$(figure "$work/report" filter_bytes)"), peak $(mebibytes "$(figure "$work/report" peak_bytes)")"
}
mebibytes() { awk -v bytes="$1" 'BEGIN { printf "%.1f MiB", bytes / 1048576 }'; }

show() { # title, name of the files
  local title=$1 name=$2 seconds
  input=$work/$name.txt
  exact=$work/$name.exact
  size=$(stat -c %s "$input")
  once "$name.exact" "$exact_dedup" "$input" 2>"$work/err"

  echo
  echo "$title: $(grouped "$(wc -l <"$input")") lines, $((size / 1000000)) MB, $(grouped "$(wc -l <"$exact")") of them distinct"
  dedup auto
  row_of_report "octobloom dedup ($(figure "$work/report" engine))"
  dedup reference
  row_of_report "octobloom dedup (reference)"
  seconds=$(seconds_of "$exact_dedup" "$input")
  row "exact hash set in C++" "$seconds" "$(figure "$work/err" lines_out)" \
    ", peak $(mebibytes "$(figure "$work/err" peak_bytes)")"
  seconds=$(seconds_of sort -u --parallel="$jobs" "$input")
  row "sort -u" "$seconds" "$(wc -l <"$work/out")"
  rm -f "$work/out" "$work/err" "$work/difference" "$work/report"
}

once "mail-$lines-$addresses.txt" build/release/bin/example_email_log "$lines" "$addresses"
show "E-mail log" "mail-$lines-$addresses"

# The folders of every file of every package of Debian, in the order of the index.
index_files() { find /var/lib/apt/lists -name '*Contents-*' -type f 2>/dev/null; }
as_root() { if ((EUID == 0)); then "$@"; else sudo -n "$@"; fi; }
fetch_index() {
  [[ -n $(index_files) ]] && return
  command -v apt-get >/dev/null && tools/deps.sh demo >/dev/null && as_root apt-file update >/dev/null 2>&1
  [[ -n $(index_files) ]]
}
index_folders() {
  index_files | sort | xargs -d '\n' /usr/lib/apt/apt-helper cat-file |
    sed -nE 's,[[:space:]]+[^[:space:]]+$,,; s,/[^/]*$,,p'
}
if [[ -s $work/folders.txt ]] || { fetch_index && once folders.txt index_folders; }; then
  show "Folders in Debian's file index" folders
else
  echo
  echo "Debian's file index cannot be had here (it takes apt-file, and root or sudo): that part is left out."
fi
