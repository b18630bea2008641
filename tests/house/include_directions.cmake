# Checks the source tree ROOT against the rules; CONTRIBUTING.md explains them.
cmake_minimum_required(VERSION 3.25)
include("${CMAKE_CURRENT_LIST_DIR}/include_rules.cmake")

octobloom_include_violations("${ROOT}" violations)
if(octobloom_sources_checked LESS 10)
  message(FATAL_ERROR "Only ${octobloom_sources_checked} source files found below ${ROOT}.")
endif()
if(violations)
  list(JOIN violations "\n  " text)
  message(FATAL_ERROR "Includes that point the wrong way:\n  ${text}\n"
                      "The directions are in tests/house/include_rules.cmake.")
endif()
message(STATUS "${octobloom_sources_checked} source files, every include points the right way")
