# Installs BUILD into SCRATCH and builds tests/consumer against it, the way an outside project would.
# KIND: cmake (find_package), pkgconfig, or subdirectory (add_subdirectory on SOURCE, no install).
# BEST_ENGINE is what a program that links all engines runs on.
cmake_minimum_required(VERSION 3.25)
unset(ENV{OCTOBLOOM_ENGINE})
unset(ENV{OCTOBLOOM_TARGET})

# A blank in the path: package files have to survive it, except pkg-config's, whose users do not.
if(KIND STREQUAL "pkgconfig")
  set(work "${SCRATCH}/outside")
else()
  set(work "${SCRATCH}/out side")
endif()
set(prefix "${work}/prefix")
file(REMOVE_RECURSE "${SCRATCH}")
file(COPY "${SOURCE}/tests/consumer" DESTINATION "${work}")

function(run)
  execute_process(COMMAND ${ARGN} WORKING_DIRECTORY "${work}" COMMAND_ERROR_IS_FATAL ANY)
endfunction()

set(flags "")
if(SANITIZE)
  set(flags "-fsanitize=${SANITIZE}")
endif()

if(NOT KIND STREQUAL "subdirectory")
  run("${CMAKE_COMMAND}" --install "${BUILD}" --config "${CONFIG}" --prefix "${work}/first")
  # Moved after the install: nothing may remember where it was built or put.
  file(RENAME "${work}/first" "${prefix}")
endif()

if(KIND STREQUAL "pkgconfig")
  find_program(pkgconfig NAMES pkgconf pkg-config REQUIRED)
  file(GLOB_RECURSE found "${prefix}/octobloom.pc")
  cmake_path(GET found PARENT_PATH folder)
  set(ENV{PKG_CONFIG_PATH} "${folder}:$ENV{PKG_CONFIG_PATH}")
  cmake_path(GET folder PARENT_PATH libraries)
  set(ENV{LD_LIBRARY_PATH} "${libraries}:$ENV{LD_LIBRARY_PATH}")
  execute_process(COMMAND "${pkgconfig}" --modversion octobloom OUTPUT_VARIABLE version
    OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  if(NOT version STREQUAL VERSION)
    message(FATAL_ERROR "pkg-config says version ${version}, not ${VERSION}")
  endif()
  execute_process(COMMAND "${pkgconfig}" --cflags --libs octobloom OUTPUT_VARIABLE arguments
    OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  separate_arguments(arguments UNIX_COMMAND "${arguments}")
  run("${CXX}" -std=c++20 ${flags} consumer/main.cpp -o with_everything ${arguments})
  run("${work}/with_everything" "${VERSION}")
  run("${CXX}" -std=c++20 ${flags} consumer/one_header.cpp -o with_engines ${arguments})
  run("${work}/with_engines" "${BEST_ENGINE}")
  return()
endif()

set(arguments -G "${GENERATOR}" -D "CMAKE_CXX_COMPILER=${CXX}" -D "CMAKE_CXX_FLAGS=${flags}"
  -D "CMAKE_C_FLAGS=${flags}"
  -D "CMAKE_CXX_COMPILER_LAUNCHER=${LAUNCHER}" -D "CMAKE_BUILD_TYPE=${CONFIG}")
if(KIND STREQUAL "cmake")
  list(APPEND arguments -D "CMAKE_PREFIX_PATH=${prefix}" -D "EXPECTED_VERSION=${VERSION}")
else()
  # Warnings in our code must not become a consumer's errors, so it does not ask for that either.
  list(APPEND arguments -D "OCTOBLOOM_SOURCE_DIR=${SOURCE}")
endif()
run("${CMAKE_COMMAND}" -S consumer -B build ${arguments})
run("${CMAKE_COMMAND}" --build build --config "${CONFIG}" --target with_everything with_engines with_core with_shared)
foreach(call "with_everything|${VERSION}" "with_engines|${BEST_ENGINE}" "with_core|reference"
             "with_shared|${VERSION}")
  string(REPLACE "|" ";" call "${call}")
  list(POP_FRONT call name)
  file(GLOB_RECURSE program "${work}/build/${name}")
  list(LENGTH program count)
  if(NOT count EQUAL 1)
    message(FATAL_ERROR "Expected one program ${name}, found: ${program}")
  endif()
  run("${program}" ${call})
endforeach()
