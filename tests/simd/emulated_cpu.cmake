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

execute_process(COMMAND "${QEMU}" -cpu ${CPU} "${PARITY}" "--gtest_filter=*simd_${target}"
  OUTPUT_VARIABLE output RESULT_VARIABLE result ECHO_OUTPUT_VARIABLE)
if(NOT result EQUAL 0 OR NOT output MATCHES "simd_${target}, [0-9]+ cells compared")
  message(FATAL_ERROR "on ${CPU} the parity test did not pass")
endif()
