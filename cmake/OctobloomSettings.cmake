# Settings of our own builds. Whatever could disturb a project that adds octobloom as a
# subdirectory stays behind PROJECT_IS_TOP_LEVEL.
include_guard(GLOBAL)
include(GNUInstallDirs)

set(OCTOBLOOM_SANITIZE "" CACHE STRING "Sanitizer for the whole build: address, undefined, thread")
option(BUILD_SHARED_LIBS "Build shared instead of static libraries" OFF)

set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)

if(PROJECT_IS_TOP_LEVEL)
  set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
  set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/bin")
  set(CMAKE_VERIFY_INTERFACE_HEADER_SETS ON)
  if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
    set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
  endif()
  if(BUILD_SHARED_LIBS)
    file(RELATIVE_PATH _octobloom_bin_to_lib "/${CMAKE_INSTALL_BINDIR}" "/${CMAKE_INSTALL_LIBDIR}")
    set(CMAKE_INSTALL_RPATH "$ORIGIN/${_octobloom_bin_to_lib}" "$ORIGIN")
  endif()

  find_program(OCTOBLOOM_CCACHE ccache DOC "Compiler cache, used where found")
  mark_as_advanced(OCTOBLOOM_CCACHE)
  if(OCTOBLOOM_CCACHE)
    foreach(_octobloom_language CXX CUDA)
      if(NOT DEFINED CMAKE_${_octobloom_language}_COMPILER_LAUNCHER)
        set(CMAKE_${_octobloom_language}_COMPILER_LAUNCHER "${OCTOBLOOM_CCACHE}")
      endif()
    endforeach()
  endif()
endif()

if(OCTOBLOOM_SANITIZE)
  set(_octobloom_known_sanitizers address undefined thread)
  if(NOT OCTOBLOOM_SANITIZE IN_LIST _octobloom_known_sanitizers)
    message(FATAL_ERROR "OCTOBLOOM_SANITIZE is '${OCTOBLOOM_SANITIZE}'; it takes one of: "
                        "address, undefined, thread.")
  endif()
  set(OCTOBLOOM_SANITIZE_FLAGS "-fsanitize=${OCTOBLOOM_SANITIZE}" -fno-sanitize-recover=all
                               -fno-omit-frame-pointer)
  add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:${OCTOBLOOM_SANITIZE_FLAGS}>"
                      "$<$<COMPILE_LANGUAGE:CXX>:-D_GLIBCXX_ASSERTIONS>")
  add_link_options("-fsanitize=${OCTOBLOOM_SANITIZE}")
endif()

# Warnings are for our own sources only: PRIVATE, and never errors unless
# CMAKE_COMPILE_WARNING_AS_ERROR says so, which our presets do.
function(octobloom_set_warnings target)
  set(warnings -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wcast-align
               -Wcast-qual -Wnon-virtual-dtor -Woverloaded-virtual -Wold-style-cast -Wundef
               -Wdouble-promotion -Wformat=2 -Wimplicit-fallthrough -Wvla)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    list(APPEND warnings -Wduplicated-cond -Wduplicated-branches -Wlogical-op)
    # These see through inlining and report what cannot happen under a sanitizer's rewrites.
    if(OCTOBLOOM_SANITIZE)
      list(APPEND warnings -Wno-maybe-uninitialized -Wno-stringop-overflow -Wno-array-bounds)
    endif()
  endif()
  if(CMAKE_CXX_COMPILER_ID MATCHES "GNU|Clang")
    target_compile_options(${target} PRIVATE "$<$<COMPILE_LANGUAGE:CXX>:${warnings}>")
  endif()
endfunction()
