#!/usr/bin/env bash
# Installs what is missing, and only that, on Debian or Ubuntu. Quick when nothing is missing.
#
#   tools/deps.sh [GROUP...]      groups: build test cli simd bench report speed format clang python
#                                         qemu demo
#
# Without a group: what building, testing and measuring need. This is the one place with package
# names; the versions we accept are in cmake/OctobloomDependencies.cmake.
set -euo pipefail

# group  package  what for
packages='
build   g++                  C++20 compiler, 12 or newer
build   cmake                build system, 3.25 or newer
build   ninja-build          build tool of the presets
build   pkg-config           package files of other libraries, and the test of ours
cli     libcli11-dev         command line of the octobloom command
cli     nlohmann-json3-dev   JSON of the octobloom command
simd    libhwy-dev           Highway, the SIMD kernels
test    libgtest-dev         GoogleTest
test    libgmock-dev         GoogleMock
test    libxxhash-dev        xxHash, an oracle for our hash in tests
bench   libbenchmark-dev     Google Benchmark
bench   libabsl-dev          Abseil, whose hash set is measured beside ours
report  python3-venv         the Python of tools/bench-report; its packages come from PyPI
speed   ccache               repeated builds in seconds
format  clang-format-16      the format of the sources
format  clang-tidy-16        static checks
clang   clang-16             the other compiler
python  python3-dev          headers of the Python package
python  python3-venv         its build environment
qemu    qemu-user            SIMD targets that this processor does not have
demo    apt-file             Debian file index, the real data of the demo
'
defaults='build cli simd test bench qemu speed'

known=$(awk 'NF { print $1 }' <<<"$packages" | sort -u)
groups=("$@")
if ((${#groups[@]} == 0)); then read -ra groups <<<"$defaults"; fi
for group in "${groups[@]}"; do
  if [[ $group == -h || $group == --help ]]; then
    sed -n '2,8s/^# \{0,1\}//p' "$0"
    exit 0
  fi
  if ! grep -qx -- "$group" <<<"$known"; then
    echo "deps.sh: no group '$group'; there are: ${known//$'\n'/ }" >&2
    exit 2
  fi
done

if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
  echo "deps.sh: this is not Debian; install by hand what cmake says is missing" >&2
  exit 0
fi

installed=" $(dpkg-query -W -f '${db:Status-Status} ${Package}\n' | awk '$1 == "installed" { print $2 }' | tr '\n' ' ') "
missing=()
while read -r group package purpose; do
  [[ -n $group && " ${groups[*]} " == *" $group "* && $installed != *" $package "* ]] || continue
  # A compiler that someone put there by other means will do.
  [[ $package == ninja-build || $package == cmake || $package == ccache ]] &&
    command -v "${package%-build}" >/dev/null && continue
  if ((${#missing[@]} == 0)); then echo "deps.sh: missing, will be installed:" >&2; fi
  printf '  %-20s %s\n' "$package" "$purpose" >&2
  missing+=("$package")
done <<<"$packages"
((${#missing[@]})) || exit 0

as_root=()
if ((EUID != 0)); then
  if ! command -v sudo >/dev/null; then
    echo "deps.sh: neither root nor sudo here. As root: apt-get install ${missing[*]}" >&2
    exit 1
  fi
  as_root=(sudo)
fi
apt() { "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq -o Dpkg::Use-Pty=0 "$@"; }
install_missing() { apt install -y --no-install-recommends "${missing[@]}" >/dev/null; }

# Lists may be absent (a fresh machine) or older than the archive.
if ! apt-cache show "${missing[@]}" >/dev/null 2>&1; then
  apt update
  install_missing
elif ! install_missing 2>/dev/null; then
  apt update
  install_missing
fi
echo "deps.sh: done" >&2
