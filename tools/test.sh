#!/usr/bin/env bash
# Everything that has to pass: dependencies, the release build with warnings as errors, all tests.
#
#   tools/test.sh [CTEST ARGUMENT...]      e.g. tools/test.sh -L core
#
# OCTOBLOOM_CMAKE_ARGS: further arguments for the configure step, separated by blanks.
# OCTOBLOOM_JOBS: how many jobs at a time (default: one a core).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

tools/deps.sh
tools/deps.sh ports
jobs=${OCTOBLOOM_JOBS:-$(nproc)}
read -ra cmake_arguments <<<"${OCTOBLOOM_CMAKE_ARGS:-}"

cmake --preset ci "${cmake_arguments[@]}"
cmake --build --preset ci --parallel "$jobs"
exec ctest --preset ci --parallel "$jobs" "$@"
