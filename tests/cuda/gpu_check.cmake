# tools/gpu-check without a GPU: it says so and exits 77; its dry run passes and writes one JSON and
# one picture. Needs ROOT, BUILD, SCRATCH.
set(script "${ROOT}/tools/gpu-check")
file(REMOVE_RECURSE "${SCRATCH}")

execute_process(COMMAND "${script}" --nonsense RESULT_VARIABLE status ERROR_VARIABLE output)
if(NOT status EQUAL 2 OR NOT output MATCHES "unknown argument '--nonsense'")
  message(FATAL_ERROR "an unknown argument: status ${status}, ${output}")
endif()

file(GLOB devices "/dev/nvidia[0-9]*" "/dev/dxg")
find_program(nvidia_smi nvidia-smi)
if(NOT devices AND NOT nvidia_smi)
  execute_process(COMMAND "${script}" --out "${SCRATCH}/none" RESULT_VARIABLE status
    ERROR_VARIABLE output)
  if(NOT status EQUAL 77 OR NOT output MATCHES "no NVIDIA GPU here" OR EXISTS "${SCRATCH}/none")
    message(FATAL_ERROR "without a GPU: status ${status}, ${output}")
  endif()
endif()

execute_process(COMMAND "${script}" --dry-run --build "${BUILD}" --out "${SCRATCH}/dry"
  RESULT_VARIABLE status OUTPUT_VARIABLE report ERROR_VARIABLE output)
message(STATUS "${output}")
if(NOT status EQUAL 0)
  message(FATAL_ERROR "the dry run ended with ${status}:\n${output}")
endif()
file(READ "${SCRATCH}/dry/gpu-check.json" json)
string(JSON verdict GET "${json}" verdict)
string(JSON host_tests GET "${json}" host_tests)
string(JSON failed GET "${json}" gpu_tests failed)
string(JSON rows LENGTH "${json}" benchmark rows)
string(JSON goals LENGTH "${json}" benchmark goals)
if(NOT verdict STREQUAL "passed" OR NOT host_tests STREQUAL "passed" OR NOT failed EQUAL 0 OR
   rows LESS 4 OR NOT goals EQUAL 6)
  message(FATAL_ERROR "unexpected JSON:\n${json}")
endif()
file(READ "${SCRATCH}/dry/gpu-check.svg" svg)
if(NOT svg MATCHES "^<svg .*<polyline .*contains, CPU.*</svg>\n$")
  message(FATAL_ERROR "the picture is none:\n${svg}")
endif()
if(NOT report MATCHES "goal: resident contains against the CPU")
  message(FATAL_ERROR "the report lacks its goals:\n${report}")
endif()
message(STATUS "${rows} rows, ${goals} goals")
