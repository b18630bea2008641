# tools/gpu-check from end to end on an emulated device: its tests, the sanitizers (a stand-in, which
# only runs what it is given), the benchmark, one JSON, one picture; and that it fails when one of
# them does. Needs ROOT, BUILD, SCRATCH.
file(REMOVE_RECURSE "${SCRATCH}")
file(MAKE_DIRECTORY "${SCRATCH}/build/bin" "${SCRATCH}/tools")

function(link program as)
  file(CREATE_LINK "${BUILD}/bin/${program}" "${SCRATCH}/build/bin/${as}" SYMBOLIC)
endfunction()
link(cuda_emulated_gpu_test cuda_gpu_test)
link(octobloom-emulated-gpu-bench octobloom-gpu-bench)
link(cuda_streaming_test cuda_streaming_test)

function(tool name text)
  file(WRITE "${SCRATCH}/tools/${name}" "#!/bin/sh\n${text}\n")
  file(CHMOD "${SCRATCH}/tools/${name}" PERMISSIONS OWNER_READ OWNER_EXECUTE OWNER_WRITE)
endfunction()
tool(nvidia-smi "exit 0")
set(run_program "while [ \"\${1#--}\" != \"$1\" ]; do case $1 in --tool | --error-exitcode) shift ;; esac; shift; done; exec \"$@\"")

# check(<folder> <status> [<name=value>...]): runs it; its JSON is in `json`, its report in `report`.
function(check folder expected)
  execute_process(
    COMMAND ${CMAKE_COMMAND} -E env "PATH=${SCRATCH}/tools:$ENV{PATH}"
            "GTEST_FILTER=Gpu.*-Gpu.StreamsLikeTheReference" ${ARGN}
            "${ROOT}/tools/gpu-check" --build "${SCRATCH}/build" --out "${SCRATCH}/${folder}"
            -- --max 2M --step 2 --keys 64K --repeat 1
    RESULT_VARIABLE status OUTPUT_VARIABLE report ERROR_VARIABLE output)
  message(STATUS "${output}")
  if(NOT status EQUAL expected)
    message(FATAL_ERROR "${folder}: ended with ${status} instead of ${expected}:\n${output}")
  endif()
  file(READ "${SCRATCH}/${folder}/gpu-check.json" json)
  set(json "${json}" PARENT_SCOPE)
  set(report "${report}" PARENT_SCOPE)
endfunction()

# expect(<value> <path in the JSON>...)
function(expect value)
  string(JSON found GET "${json}" ${ARGN})
  if(NOT found STREQUAL value)
    message(FATAL_ERROR "${ARGN} is '${found}' instead of '${value}':\n${json}")
  endif()
endfunction()

tool(compute-sanitizer "${run_program}")
check(whole 0)
expect(passed verdict)
expect(OFF dry_run)
expect(0 gpu_tests failed)
expect(passed memcheck)
expect(passed racecheck)
expect("emulated device (PTX on the CPU)" benchmark device)
string(JSON comparisons GET "${json}" gpu_tests comparisons)
string(JSON rows LENGTH "${json}" benchmark rows)
# Two sizes; 19 rows of the device and two of the CPU for each.
if(comparisons LESS 1000000 OR NOT rows EQUAL 42)
  message(FATAL_ERROR "${comparisons} comparisons, ${rows} rows:\n${json}")
endif()
foreach(row IN ITEMS "floor update" "insert direct" "insert by L2 slices" "insert by shared slices"
                     "floor read" "contains " "insert_new " "insert_new, pool as it comes" "streamed contains "
                     "streamed contains, page-locked")
  if(NOT report MATCHES "  2 MiB  ${row}")
    message(FATAL_ERROR "no row '${row}':\n${report}")
  endif()
endforeach()
file(READ "${SCRATCH}/whole/gpu-check.svg" svg)
if(NOT svg MATCHES "^<svg .*<polyline .*contains.*</svg>\n$")
  message(FATAL_ERROR "the picture is none:\n${svg}")
endif()

tool(compute-sanitizer "exit 99")
check(sanitizer 1)
expect(failed verdict)
expect(failed racecheck)

file(REMOVE "${SCRATCH}/tools/compute-sanitizer")
check(no_memory 1 OCTOBLOOM_EMULATED_MEMORY=30000)
expect(failed verdict)
