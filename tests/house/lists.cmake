# Every source, public header and test on disk is in a list of its folder: a file that nobody builds
# is a file that nobody checks. Needs ROOT.
cmake_minimum_required(VERSION 3.25)

set(forgotten "")
file(GLOB test_folders RELATIVE "${ROOT}" "${ROOT}/tests/*")
foreach(room core family simd cuda engines cli bindings/c bench bench/cpu bench/family bench/gpu examples emulator
        ${test_folders})
  if(NOT EXISTS "${ROOT}/${room}/CMakeLists.txt")
    continue()
  endif()
  file(READ "${ROOT}/${room}/CMakeLists.txt" lists)
  file(GLOB_RECURSE files RELATIVE "${ROOT}/${room}"
    "${ROOT}/${room}/*.cpp" "${ROOT}/${room}/*.cc" "${ROOT}/${room}/*.c" "${ROOT}/${room}/*.cu"
    "${ROOT}/${room}/include/*.h" "${ROOT}/${room}/include/*.cuh")
  foreach(file IN LISTS files)
    cmake_path(GET file PARENT_PATH folder)
    if(folder AND EXISTS "${ROOT}/${room}/${folder}/CMakeLists.txt")
      continue()  # a folder with a list of its own
    endif()
    string(FIND "${lists}" "${file}" position)
    if(position EQUAL -1)
      list(APPEND forgotten "${room}/${file}")
    endif()
  endforeach()
endforeach()

if(forgotten)
  list(JOIN forgotten "\n  " text)
  message(FATAL_ERROR "Not in the CMakeLists.txt of their folder:\n  ${text}")
endif()
