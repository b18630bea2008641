# Builds SOURCE for another processor, or runs what was built. PORT: a configure preset. STEP:
# build; test (all inner tests of LABEL, which are those of the OUTER tree but for EXCEPT); parity
# (the kernels of TARGET); plans (both trees' sizes); refusal (IN_PLACE does not compile). BUILD: the
# inner tree. REQUIRED: true makes an error of what is missing. QEMU_CPU in the environment is the
# processor.
cmake_minimum_required(VERSION 3.25)

set(compiler "${PORT}-linux-gnu-g++")
set(emulator "qemu-${PORT}")
set(sysroot_aarch64 arm64)
set(sysroot_s390x s390x)
set(missing "")
find_program(found_compiler ${compiler})
find_program(found_emulator ${emulator})
if(NOT found_compiler)
  list(APPEND missing ${compiler})
endif()
if(NOT found_emulator)
  list(APPEND missing ${emulator})
endif()
if(NOT EXISTS "${SOURCE}/build/sysroot/${sysroot_${PORT}}/packages")
  list(APPEND missing "libraries for ${PORT}")
endif()
if(missing)
  list(JOIN missing ", " missing)
  if(REQUIRED)
    message(FATAL_ERROR "not here: ${missing} (tools/deps.sh ports)")
  endif()
  message(STATUS "SKIPPED: not here: ${missing} (tools/deps.sh ports)")
  return()
endif()

cmake_host_system_information(RESULT jobs QUERY NUMBER_OF_LOGICAL_CORES)
set(run ${emulator} -L /usr/${PORT}-linux-gnu)

if(STEP STREQUAL "build")
  execute_process(COMMAND "${CMAKE_COMMAND}" --preset ${PORT} -B "${BUILD}"
    WORKING_DIRECTORY "${SOURCE}" COMMAND_ERROR_IS_FATAL ANY)
  execute_process(COMMAND "${CMAKE_COMMAND}" --build "${BUILD}" --parallel ${jobs}
    COMMAND_ERROR_IS_FATAL ANY)
  # The lists of tests are made here, by a processor that has all targets, and kept.
  execute_process(COMMAND "${CTEST}" --test-dir "${BUILD}" -N
    OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)

elseif(STEP STREQUAL "test")
  # The cells of parity are a matter of a minute or more: they have tests of their own.
  execute_process(
    COMMAND "${CTEST}" --test-dir "${BUILD}" -L "^${LABEL}$" -E "simd_parity.*(Reference)/"
            --output-on-failure --no-tests=error --parallel ${jobs}
    OUTPUT_VARIABLE output RESULT_VARIABLE result ECHO_OUTPUT_VARIABLE)
  if(NOT result EQUAL 0 OR NOT output MATCHES "100% tests passed, 0 tests failed out of ([0-9]+)")
    message(FATAL_ERROR "the tests of ${LABEL} did not pass on ${PORT}")
  endif()
  set(count ${CMAKE_MATCH_1})
  string(REGEX MATCHALL "\\*\\*\\*Skipped" skipped "${output}")
  list(LENGTH skipped skipped)
  foreach(tree OUTER BUILD)
    execute_process(COMMAND "${CTEST}" --test-dir "${${tree}}" -N -L "^${LABEL}$"
      OUTPUT_VARIABLE listed COMMAND_ERROR_IS_FATAL ANY)
    string(REGEX MATCHALL "Test +#[0-9]+: [^\n ]+" ${tree}_tests "${listed}")
    list(TRANSFORM ${tree}_tests REPLACE "^Test +#[0-9]+: " "")
  endforeach()
  list(REMOVE_ITEM OUTER_tests ${BUILD_tests})
  list(FILTER OUTER_tests EXCLUDE REGEX "_NOT_BUILT$")
  if(EXCEPT)
    list(FILTER OUTER_tests EXCLUDE REGEX "${EXCEPT}")
  endif()
  if(OUTER_tests)
    list(JOIN OUTER_tests "\n  " lost)
    message(FATAL_ERROR "${PORT} lacks tests:\n  ${lost}")
  endif()
  math(EXPR ran "${count} - ${skipped}")
  message(STATUS "${PORT}: ${ran} tests of ${LABEL} passed, ${skipped} skipped")

elseif(STEP STREQUAL "parity")
  execute_process(COMMAND ${CMAKE_COMMAND} -E env OCTOBLOOM_TARGET=${TARGET}
            ${run} "${BUILD}/bin/simd_target_probe"
    OUTPUT_VARIABLE target OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  if(NOT target STREQUAL TARGET)
    message(FATAL_ERROR "$ENV{QEMU_CPU} runs ${target}, not ${TARGET}")
  endif()
  execute_process(COMMAND ${run} "${BUILD}/bin/simd_parity"
            "--gtest_filter=*/simd_${TARGET}:*/simd_${TARGET}_by_parts"
    OUTPUT_VARIABLE output RESULT_VARIABLE result ECHO_OUTPUT_VARIABLE)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "parity failed on $ENV{QEMU_CPU}")
  endif()
  string(REGEX MATCHALL "parity: simd_${TARGET}(_by_parts)?, [0-9]+ cells" rows "${output}")
  list(LENGTH rows count)
  if(NOT count EQUAL 4)  # Bloom and cuckoo filters, as a whole and by parts
    message(FATAL_ERROR "${count} comparisons of ${TARGET} ran on $ENV{QEMU_CPU}, expected 4")
  endif()
  list(TRANSFORM rows REPLACE "^.*, ([0-9]+) cells$" "\\1")
  list(JOIN rows " + " cells)
  math(EXPR cells "${cells}")
  message(STATUS "$ENV{QEMU_CPU}: ${cells} cells of ${TARGET} equal the reference's")

elseif(STEP STREQUAL "plans")
  set(count 500)  # an emulator takes 20 ms for each
  execute_process(COMMAND "${OUTER}/bin/print_plans" ${count}
    OUTPUT_VARIABLE expected COMMAND_ERROR_IS_FATAL ANY)
  execute_process(COMMAND ${run} "${BUILD}/bin/print_plans" ${count}
    OUTPUT_VARIABLE plans COMMAND_ERROR_IS_FATAL ANY)
  string(REGEX MATCHALL "\n" lines "${expected}")
  list(LENGTH lines lines)
  if(NOT lines EQUAL count OR NOT plans STREQUAL expected)
    message(FATAL_ERROR "${PORT} sizes filters in another way:\n${plans}\nexpected:\n${expected}")
  endif()
  message(STATUS "${PORT}: ${count} plans are the same")

elseif(STEP STREQUAL "refusal")
  execute_process(
    COMMAND ${compiler} -std=c++20 -fsyntax-only "-I${SOURCE}/core/include"
            "-I${BUILD}/core/include" "${IN_PLACE}"
    ERROR_VARIABLE errors RESULT_VARIABLE result)
  if(result EQUAL 0 OR NOT errors MATCHES "cannot be used in place on this big-endian machine")
    message(FATAL_ERROR "expected a refusal, got:\n${errors}")
  endif()
  message(STATUS "refused, with what to do")

else()
  message(FATAL_ERROR "STEP is '${STEP}'")
endif()
