# tools/gpu-check from end to end on an emulated device: its tests, the sanitizers (a stand-in, which
# only runs what it is given), the benchmark, one JSON, one picture; that it fails when one of them
# does, ends what takes too long, and keeps what was measured. Needs ROOT, BUILD, SCRATCH.
file(REMOVE_RECURSE "${SCRATCH}")
file(MAKE_DIRECTORY "${SCRATCH}/build/bin" "${SCRATCH}/tools")

function(link program as)
  file(CREATE_LINK "${BUILD}/bin/${program}" "${SCRATCH}/build/bin/${as}" SYMBOLIC)
endfunction()
link(cuda_emulated_gpu_test cuda_gpu_test)
link(octobloom-emulated-gpu-bench octobloom-gpu-bench)
link(cuda_streaming_test cuda_streaming_test)

function(program path text)
  file(WRITE "${SCRATCH}/${path}" "#!/bin/sh\n${text}\n")
  file(CHMOD "${SCRATCH}/${path}" PERMISSIONS OWNER_READ OWNER_EXECUTE OWNER_WRITE)
endfunction()
program(tools/nvidia-smi "exit 0")
# Its log is what it was asked for, and what the program said.
set(run_program "echo \"asked for: $*\"
while [ \"\${1#--}\" != \"$1\" ]; do
  case $1 in --tool | --error-exitcode | --kernel-name | --racecheck-detect-level) shift ;; esac
  shift
done
exec \"$@\"")

# check(<folder> <status> [<name=value>...]): runs it, the benchmark with `bench` as well; its JSON is
# in `json`, its report in `report`, what it said meanwhile in `output`.
function(check folder expected)
  execute_process(
    COMMAND ${CMAKE_COMMAND} -E env "PATH=${SCRATCH}/tools:$ENV{PATH}"
            "GTEST_FILTER=Gpu.*-Gpu.StreamsLikeTheReference" ${ARGN}
            "${ROOT}/tools/gpu-check" --build "${SCRATCH}/build" --out "${SCRATCH}/${folder}"
            -- --max 2M --step 2 --keys 64K --repeat 1 ${bench}
    RESULT_VARIABLE status OUTPUT_VARIABLE report ERROR_VARIABLE output)
  message(STATUS "${output}")
  if(NOT status EQUAL expected)
    message(FATAL_ERROR "${folder}: ended with ${status} instead of ${expected}:\n${output}")
  endif()
  file(READ "${SCRATCH}/${folder}/gpu-check.json" json)
  set(json "${json}" PARENT_SCOPE)
  set(report "${report}" PARENT_SCOPE)
  set(output "${output}" PARENT_SCOPE)
endfunction()

# expect(<value> <path in the JSON>...)
function(expect value)
  string(JSON found GET "${json}" ${ARGN})
  if(NOT found STREQUAL value)
    message(FATAL_ERROR "${ARGN} is '${found}' instead of '${value}':\n${json}")
  endif()
endfunction()

# expect_rows(<number> <filter bytes> [<where in the JSON>]): so many rows, all of that size.
function(expect_rows number bytes)
  string(JSON rows LENGTH "${json}" ${ARGN} rows)
  math(EXPR last "${rows} - 1")
  foreach(row RANGE ${last})
    expect(${bytes} ${ARGN} rows ${row} filter_bytes)
  endforeach()
  if(NOT rows EQUAL number)
    message(FATAL_ERROR "${rows} rows instead of ${number}:\n${json}")
  endif()
endfunction()

program(tools/compute-sanitizer "${run_program}")
check(whole 0)
expect(passed verdict)
expect(OFF dry_run)
expect(0 gpu_tests failed)
expect(passed memcheck)
expect(passed racecheck)
expect("emulated device (PTX on the CPU)" benchmark device)
expect(ON benchmark finished)
string(JSON comparisons GET "${json}" gpu_tests comparisons)
string(JSON rows LENGTH "${json}" benchmark rows)
# Two sizes; 19 rows of the device and two of the CPU for each.
if(comparisons LESS 1000000 OR NOT rows EQUAL 42)
  message(FATAL_ERROR "${comparisons} comparisons, ${rows} rows:\n${json}")
endif()
foreach(row IN ITEMS "floor update" "insert direct" "insert by L2 slices" "insert by shared slices"
                     "floor read" "contains " "insert_new " "insert_new, pool as it comes"
                     "streamed contains "
                     "streamed contains, page-locked")
  if(NOT report MATCHES "  2 MiB  ${row}")
    message(FATAL_ERROR "no row '${row}':\n${report}")
  endif()
endforeach()
file(READ "${SCRATCH}/whole/gpu-check.svg" svg)
if(NOT svg MATCHES "^<svg .*<polyline .*contains.*</svg>\n$")
  message(FATAL_ERROR "the picture is none:\n${svg}")
endif()

# racecheck sees the kernels of ours and no others.
file(READ "${SCRATCH}/whole/racecheck.log" log)
if(NOT log MATCHES "asked for: --tool racecheck .*--kernel-name kns=([^ ]+) --racecheck-detect-level error .*:Gpu.InsertsBySlices:")
  message(FATAL_ERROR "racecheck: ${log}")
endif()
set(ours "${CMAKE_MATCH_1}")
file(STRINGS "${BUILD}/bin/cuda_gpu_test" entries REGEX "\\.entry")
set(checked 0)
foreach(entry IN LISTS entries)
  string(FIND "${entry}" "${ours}" at)
  if(at GREATER_EQUAL 0 AND NOT entry MATCHES "entry _ZN9octobloom")
    message(FATAL_ERROR "racecheck would check ${entry}")
  elseif(at GREATER_EQUAL 0)
    math(EXPR checked "${checked} + 1")
  elseif(NOT entry MATCHES "entry _ZN(3cub|6thrust)")
    message(FATAL_ERROR "racecheck would not check ${entry}")
  endif()
endforeach()
if(checked LESS 50)
  message(FATAL_ERROR "racecheck would check ${checked} kernels")
endif()

program(tools/compute-sanitizer "exit 99")
set(bench --max 1M)
check(sanitizer 1)
expect(failed verdict)
expect(failed racecheck)

set(few GTEST_FILTER=Gpu.SelectsValues)

# The toolkit's bin folder is not in PATH, but its compiler is found.
file(REMOVE "${SCRATCH}/tools/compute-sanitizer")
find_program(installed compute-sanitizer)
if(NOT installed)
  program(toolkit/bin/nvcc "exit 0")
  program(toolkit/bin/compute-sanitizer "exit 99")
  file(CREATE_LINK "${SCRATCH}/toolkit/bin/nvcc" "${SCRATCH}/tools/nvcc" SYMBOLIC)
  check(beside_the_compiler 1 ${few})
  expect(failed memcheck)
  file(REMOVE_RECURSE "${SCRATCH}/toolkit" "${SCRATCH}/tools/nvcc")
endif()
program(tools/compute-sanitizer "exit 0")

# A filter that the device has no room for ends the sizes, and is no failure.
set(bench --max 512M --step 512)
check(no_room 0 OCTOBLOOM_EMULATED_MEMORY=400000000 ${few})
unset(bench)
expect(passed verdict)
expect(536870912 benchmark left_out 0 filter_bytes)
expect(OFF benchmark left_out 0 failed)
expect(ON benchmark finished)
expect_rows(21 1048576 benchmark)
if(NOT output MATCHES "not measured: 512 MiB, every row: ")
  message(FATAL_ERROR "no word of the size that was left out:\n${output}")
endif()

check(no_memory 1 OCTOBLOOM_EMULATED_MEMORY=30000)
expect(failed verdict)

# One row fails: the others are there, and the status tells.
set(bench "${CMAKE_COMMAND}" -E env OCTOBLOOM_EMULATED_MEMORY=3500000
  "${BUILD}/bin/octobloom-emulated-gpu-bench" --max 1M --keys 64K --repeat 1)
execute_process(COMMAND ${bench} --json "${SCRATCH}/one_row.json"
  RESULT_VARIABLE status OUTPUT_VARIABLE report ERROR_VARIABLE output)
if(NOT status EQUAL 1 OR NOT output MATCHES "not measured: 1 MiB, insert_new: .*out of memory" OR
   NOT report MATCHES "  1 MiB  contains .*  1 MiB  streamed contains .*  1 MiB  contains, CPU")
  message(FATAL_ERROR "a row that fails: status ${status}, ${report}${output}")
endif()
file(READ "${SCRATCH}/one_row.json" json)
expect("host link" left_out 0 what)
expect(insert_new left_out 1 what)
expect(ON left_out 1 failed)
expect_rows(10 1048576)

# The program ends early, here for want of a reader: what was measured by then has been printed, and
# the smaller size is in the files.
execute_process(
  COMMAND "${BUILD}/bin/octobloom-emulated-gpu-bench" --max 2M --step 2 --keys 64K --repeat 1
          --json "${SCRATCH}/early.json" --svg "${SCRATCH}/early.svg"
  COMMAND sed "/^ *2 MiB/q" OUTPUT_VARIABLE report RESULTS_VARIABLE statuses)
file(READ "${SCRATCH}/early.json" json)
expect(OFF finished)
expect_rows(12 1048576)
if(NOT EXISTS "${SCRATCH}/early.svg" OR NOT report MATCHES "  1 MiB  contains, CPU.*  2 MiB  floor update")
  message(FATAL_ERROR "ended early: ${statuses}, ${report}")
endif()

# What takes too long is cut off, and what there is of it is kept.
file(MAKE_DIRECTORY "${SCRATCH}/slow/bin")
program(slow/bin/cuda_gpu_test "echo 'comparisons with the reference on a GPU: 5'")
program(slow/bin/cuda_streaming_test "sleep 100")
program(slow/bin/octobloom-gpu-bench "echo '{\"rows\": [1]}' >\"$2\"; echo a row; sleep 100")
set(check_slow "${CMAKE_COMMAND}" -E env "PATH=${SCRATCH}/tools:$ENV{PATH}" "${ROOT}/tools/gpu-check"
  --out "${SCRATCH}/cut_off" --seconds 8)
execute_process(COMMAND ${check_slow} --build "${SCRATCH}/slow"
  RESULT_VARIABLE status OUTPUT_VARIABLE report ERROR_VARIABLE output)
file(READ "${SCRATCH}/cut_off/gpu-check.json" json)
expect(failed verdict)
expect("cut off" host_tests)
expect(1 benchmark rows 0)
if(NOT status EQUAL 1 OR NOT report MATCHES "a row" OR NOT output MATCHES "the benchmark: cut off")
  message(FATAL_ERROR "what takes too long: status ${status}, ${report}${output}")
endif()
string(JSON took GET "${json}" seconds all)
if(took GREATER 14)
  message(FATAL_ERROR "8 seconds took ${took}")
endif()

program(tools/cmake "case $* in *--parallel*) sleep 100 ;; *help) echo 'cuda_host_tile_test: phony' ;; esac")
execute_process(COMMAND ${check_slow} RESULT_VARIABLE status ERROR_VARIABLE output)
if(NOT status EQUAL 2 OR NOT output MATCHES "the build: cut off after [34] s")
  message(FATAL_ERROR "a build that takes too long: status ${status}, ${output}")
endif()
