# Shows that the check goes red: plants one include at a time in a small tree in SCRATCH.
cmake_minimum_required(VERSION 3.25)
include("${CMAKE_CURRENT_LIST_DIR}/include_rules.cmake")

set(core_header <octobloom/core_thing.h>)
set(simd_header <octobloom/simd_thing.h>)
set(cuda_header <octobloom/cuda_thing.h>)
set(engines_header <octobloom/engines_thing.h>)
set(emulator_header <octobloom/emulator_thing.h>)
set(simd_hooks <octobloom/simd_hooks.h>)
set(cases
  # place                      include                              verdict
  core/src/a.cpp               "<vector>"                           good
  core/src/a.cpp               "<sys/mman.h>"                       good
  core/src/a.cpp               "${core_header}"                     good
  core/src/a.cpp               "\"beside.h\""                       good
  core/include/octobloom/a.h   "<sys/mman.h>"                       bad
  core/src/a.cpp               "<xxhash.h>"                         bad
  core/src/a.cpp               "<immintrin.h>"                      bad
  core/src/a.cpp               "<hwy/highway.h>"                    bad
  core/src/a.cpp               "\"hwy/highway.h\""                  bad
  core/src/a.cpp               "${simd_header}"                     bad
  core/src/a.cpp               "${engines_header}"                  bad
  core/src/a.cpp               "\"../../simd/src/beside.h\""        bad
  core/src/a.cpp               "<octobloom/nowhere.h>"              bad
  core/src/a.cpp               "<octobloom/python_thing.h>"         bad
  core/src/a.cpp               "SOME_MACRO"                         bad
  simd/src/a.cpp               "\"hwy/highway.h\""                  good
  simd/src/a.cpp               "${core_header}"                     good
  simd/include/octobloom/a.h   "<hwy/highway.h>"                    bad
  simd/src/a.cpp               "${cuda_header}"                     bad
  simd/src/a.cpp               "${engines_header}"                  bad
  simd/src/a.cpp               "${simd_hooks}"                      good
  simd/include/octobloom/a.h   "${simd_hooks}"                      bad
  engines/src/a.cpp            "${simd_hooks}"                      bad
  cli/src/a.cpp                "${simd_hooks}"                      bad
  examples/a.cpp               "${simd_hooks}"                      bad
  bench/a.cpp                  "${simd_hooks}"                      good
  tests/simd/a.cpp             "${simd_hooks}"                      good
  cuda/src/a.cu                "<thrust/sort.h>"                    good
  cuda/src/a.cu                "<cub/cub.cuh>"                      good
  cuda/include/octobloom/a.h   "<cuda_runtime.h>"                   bad
  cuda/src/a.cu                "${simd_header}"                     bad
  engines/src/a.cpp            "${simd_header}"                     good
  engines/src/a.cpp            "${cuda_header}"                     good
  engines/src/a.cpp            "<hwy/highway.h>"                    bad
  cli/src/a.cpp                "${engines_header}"                  good
  cli/src/a.cpp                "<CLI/CLI.hpp>"                      good
  cli/src/a.cpp                "\"../../core/src/beside.h\""        bad
  engines/src/a.cpp            "<octobloom/cli_thing.h>"            bad
  bench/a.cpp                  "<octobloom/cli_thing.h>"            bad
  core/src/a.cpp               "${emulator_header}"                 bad
  cuda/src/a.cpp               "${emulator_header}"                 bad
  cuda/src/a.cu                "\"../../emulator/src/beside.h\""    bad
  engines/src/a.cpp            "${emulator_header}"                 bad
  cli/src/a.cpp                "${emulator_header}"                 bad
  bindings/c/src/a.cpp         "${emulator_header}"                 bad
  bench/a.cpp                  "${emulator_header}"                 bad
  examples/a.cpp               "${emulator_header}"                 bad
  emulator/src/a.cpp           "${emulator_header}"                 good
  emulator/src/device/a.cpp    "<cuda_runtime_api.h>"               good
  emulator/src/a.cpp           "<cuda_runtime_api.h>"               bad
  emulator/src/a.cpp           "${core_header}"                     bad
  emulator/src/a.cpp           "${cuda_header}"                     bad
  tests/cuda/a.cpp             "${emulator_header}"                 good
  tests/core/a.cpp             "<gtest/gtest.h>"                    good
  tests/core/a.cpp             "${engines_header}"                  good
  tests/core/a.cpp             "\"../../core/src/beside.h\""        bad)

set(wrong "")
set(checked 0)
while(cases)
  list(POP_FRONT cases place include verdict)
  file(REMOVE_RECURSE "${SCRATCH}")
  foreach(room core simd cuda engines cli emulator)
    file(WRITE "${SCRATCH}/${room}/include/octobloom/${room}_thing.h" "#pragma once\n")
    file(WRITE "${SCRATCH}/${room}/hooks/octobloom/${room}_hooks.h" "#pragma once\n")
    file(WRITE "${SCRATCH}/${room}/src/beside.h" "#pragma once\n")
  endforeach()
  file(WRITE "${SCRATCH}/${place}" "#pragma once\n#  include ${include}  // why\n")
  octobloom_include_violations("${SCRATCH}" violations)
  if(violations AND verdict STREQUAL "good")
    string(APPEND wrong "  ${place} may include ${include}, but: ${violations}\n")
  elseif(NOT violations AND verdict STREQUAL "bad")
    string(APPEND wrong "  ${place} must not include ${include}, but nobody noticed\n")
  endif()
  math(EXPR checked "${checked} + 1")
endwhile()
file(REMOVE_RECURSE "${SCRATCH}")

if(wrong)
  message(FATAL_ERROR "The include check is wrong about:\n${wrong}")
endif()
message(STATUS "${checked} planted includes judged rightly")
