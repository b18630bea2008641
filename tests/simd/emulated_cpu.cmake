# Runs the parity test as another processor would. Needs QEMU (a path, or a word that ends in
# NOTFOUND), CPU, EXPECTED (a regular expression over the target), PROBE, PARITY.

if(QEMU MATCHES "NOTFOUND$")
  message(STATUS "SKIPPED: no qemu-x86_64 here (Debian: qemu-user)")
  return()
endif()

execute_process(COMMAND "${QEMU}" -cpu ${CPU} "${PROBE}"
  OUTPUT_VARIABLE target OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
message(STATUS "${CPU}: ${target}")
if(NOT target MATCHES "^(${EXPECTED})$")
  message(FATAL_ERROR "on ${CPU} the target is '${target}', not ${EXPECTED}")
endif()

set(filter "*simd_${target}")
if(target STREQUAL "AVX2")
  # A gather whose index is in ymm4 reads all its lanes from the base: QEMU takes the number 4 for
  # "no index", as it means elsewhere. Only cuckoo filters are probed by gathers.
  message(STATUS "leaving out cuckoo filters: QEMU 7.2 does not emulate gathers right")
  string(APPEND filter ":-*Cuckoo*")
endif()
execute_process(COMMAND "${QEMU}" -cpu ${CPU} "${PARITY}" "--gtest_filter=${filter}"
  OUTPUT_VARIABLE output RESULT_VARIABLE result ECHO_OUTPUT_VARIABLE)
if(NOT result EQUAL 0 OR NOT output MATCHES "simd_${target}, [0-9]+ cells compared")
  message(FATAL_ERROR "on ${CPU} the parity test did not pass")
endif()
