#!/usr/bin/env bash
# Installs what is missing, and only that, on Debian or Ubuntu. Quick when nothing is missing.
#
#   tools/deps.sh [GROUP...]      groups: build test cli simd bench report speed format clang python
#                                         arrow qemu ports demo
#
# Without a group: what building, testing and measuring need. This is the one place with package
# names; the versions we accept are in cmake/OctobloomDependencies.cmake. A package of another
# processor (NAME:ARCHITECTURE) is not installed but unpacked below build/sysroot/ARCHITECTURE, and
# what comes from PyPI goes to build/python.
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
arrow   python3-venv         the Python of the tests with pyarrow, which comes from PyPI
qemu    qemu-user            SIMD targets that this processor does not have
ports   qemu-user            emulator of other processors
ports   g++-aarch64-linux-gnu  compiler for ARM
ports   libhwy1:arm64        Highway for ARM
ports   libhwy-dev:arm64     Highway for ARM
ports   libgtest-dev:arm64   GoogleTest for ARM
ports   libgmock-dev:arm64   GoogleMock for ARM
ports   libxxhash-dev:arm64  xxHash for ARM
ports   g++-s390x-linux-gnu  compiler for a big-endian processor
ports   libgtest-dev:s390x   GoogleTest for it
ports   libgmock-dev:s390x   GoogleMock for it
ports   libxxhash-dev:s390x  xxHash for it
demo    apt-file             Debian file index, the real data of the demo
'
defaults='build cli simd test bench arrow qemu speed'

known=$(awk 'NF { print $1 }' <<<"$packages" | sort -u)
groups=("$@")
if ((${#groups[@]} == 0)); then read -ra groups <<<"$defaults"; fi
for group in "${groups[@]}"; do
  if [[ $group == -h || $group == --help ]]; then
    sed -n '2,10s/^# \{0,1\}//p' "$0"
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
foreign=()
while read -r group package purpose; do
  [[ -n $group && " ${groups[*]} " == *" $group "* && $installed != *" $package "* ]] || continue
  if [[ $package == *:* ]]; then
    foreign+=("$package")
    continue
  fi
  # A compiler that someone put there by other means will do.
  [[ $package == ninja-build || $package == cmake || $package == ccache ]] &&
    command -v "${package%-build}" >/dev/null && continue
  if ((${#missing[@]} == 0)); then echo "deps.sh: missing, will be installed:" >&2; fi
  printf '  %-20s %s\n' "$package" "$purpose" >&2
  missing+=("$package")
done <<<"$packages"

# Asks the archive for another architecture in a state of its own: what apt and dpkg of this machine
# know stays as it is.
unpack_foreign() {
  local architecture=$1 root state
  shift
  root=build/sysroot/$architecture
  [[ -e $root/packages && $(<"$root/packages") == "$*" ]] && return
  echo "deps.sh: missing, will be unpacked below $root: $*" >&2
  rm -rf "$root"
  mkdir -p "$root"
  state=$(realpath "$root")/apt
  mkdir -p "$state"/{lists,archives,debs}/partial
  touch "$state/status"
  local apt=(apt-get -qq -o "APT::Architecture=$architecture" -o "APT::Architectures=$architecture"
    -o "Dir::State=$state" -o "Dir::State::Lists=$state/lists" -o "Dir::State::status=$state/status"
    -o "Dir::Cache=$state" -o "Dir::Cache::archives=$state/archives" -o APT::Sandbox::User=
    -o Acquire::Languages=none)
  if "${apt[@]}" update && (cd "$state/debs" && "${apt[@]}" download "$@"); then
    for package in "$state"/debs/*.deb; do dpkg-deb -x "$package" "$root"; done
    echo "$*" >"$root/packages"
  else
    echo "deps.sh: no packages for $architecture from this machine's archives: tests that need" \
      "them are skipped" >&2
  fi
  rm -rf "$state"
}
cd "$(dirname "${BASH_SOURCE[0]}")/.."
for architecture in $(printf '%s\n' "${foreign[@]##*:}" | sort -u); do
  names=()
  for package in "${foreign[@]}"; do
    [[ $package == *":$architecture" ]] && names+=("${package%:*}")
  done
  unpack_foreign "$architecture" "${names[@]}"
done

# The Python of the tests, made anew when its packages are to be others.
make_python() {
  [[ " ${groups[*]} " == *" arrow "* ]] || return 0
  local wanted=tests/c/requirements.txt
  cmp -s "$wanted" build/python/installed.txt && return
  echo "deps.sh: missing, will be put into build/python: $(grep -v '^#' "$wanted" | tr '\n' ' ')" >&2
  mkdir -p build
  if python3 -m venv --clear build/python &&
    build/python/bin/pip install --quiet --disable-pip-version-check -r "$wanted"; then
    cp "$wanted" build/python/installed.txt
  else
    rm -rf build/python
    echo "deps.sh: no pyarrow from PyPI: the test that needs it is skipped" >&2
  fi
}

if ((${#missing[@]} == 0)); then
  make_python
  exit 0
fi

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
make_python
echo "deps.sh: done" >&2
