# How a test comes to be.
include_guard(GLOBAL)
include(GoogleTest)

set_property(GLOBAL PROPERTY OCTOBLOOM_TEST_FOLDERS "")

# Sanitized and busy machines are slow; a test that hangs still ends.
set(OCTOBLOOM_TEST_TIMEOUT 900 CACHE STRING "Seconds after which CTest ends a test")

# octobloom_add_test_folder(<folder> [ROOM <room>])
#
# Adds tests/<folder> where it exists and its room was built. The tests in it carry the label
# <folder>, and tests/house/minimum_tests.txt must say how many there are at least.
function(octobloom_add_test_folder folder)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "ROOM" "")
  get_property(rooms GLOBAL PROPERTY OCTOBLOOM_ROOMS)
  if(arg_ROOM AND NOT arg_ROOM IN_LIST rooms)
    return()
  endif()
  if(EXISTS "${CMAKE_CURRENT_SOURCE_DIR}/${folder}/CMakeLists.txt")
    set_property(GLOBAL APPEND PROPERTY OCTOBLOOM_TEST_FOLDERS ${folder})
    set(OCTOBLOOM_TEST_LABEL ${folder})
    add_subdirectory(${folder})
  endif()
endfunction()

# octobloom_add_test(<name> SOURCES <file>... [LABELS <label>...] [LINK <target>...]
#                    [DEFINITIONS <definition>...] [TIMEOUT <seconds>] [SERIAL])
#
# A GoogleTest program bin/<name>; each of its tests is a test of CTest, named <name>.<suite>.<test>.
# The label of the folder is added by itself.
function(octobloom_add_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "SERIAL" "TIMEOUT" "SOURCES;LABELS;LINK;DEFINITIONS")
  if(arg_UNPARSED_ARGUMENTS OR NOT arg_SOURCES)
    message(FATAL_ERROR "octobloom_add_test(${name}): SOURCES missing, or unknown arguments: "
                        "${arg_UNPARSED_ARGUMENTS}")
  endif()
  octobloom_add_executable(${name} SOURCES ${arg_SOURCES}
    LINK octobloom::octobloom GTest::gtest GTest::gmock GTest::gtest_main ${arg_LINK})
  target_include_directories(${name} PRIVATE "${PROJECT_SOURCE_DIR}/tests")
  target_compile_definitions(${name} PRIVATE
    OCTOBLOOM_TEST_DATA="${PROJECT_SOURCE_DIR}/tests" ${arg_DEFINITIONS}
    $<$<BOOL:${CMAKE_CROSSCOMPILING}>:OCTOBLOOM_TEST_EMULATED>)
  _octobloom_test_properties(properties labels)
  gtest_discover_tests(${name}
    TEST_PREFIX "${name}."
    NO_PRETTY_VALUES
    WORKING_DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}"
    DISCOVERY_MODE PRE_TEST
    DISCOVERY_TIMEOUT 300
    TEST_LIST ${name}_TESTS
    PROPERTIES ${properties})
  # gtest_discover_tests takes no property with more than one value.
  set(labels_file "${CMAKE_CURRENT_BINARY_DIR}/${name}_labels.cmake")
  file(WRITE "${labels_file}" "if(${name}_TESTS)
  set_tests_properties(\${${name}_TESTS} PROPERTIES LABELS \"${labels}\")
endif()
")
  set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES "${labels_file}")
endfunction()

# octobloom_add_command_test(<name> COMMAND <command>... [LABELS <label>...]
#                            [ENVIRONMENT <name=value>...] [TIMEOUT <seconds>] [SERIAL])
#
# Any command whose exit status is the verdict.
function(octobloom_add_command_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "SERIAL" "TIMEOUT" "COMMAND;LABELS;ENVIRONMENT")
  if(arg_UNPARSED_ARGUMENTS OR NOT arg_COMMAND)
    message(FATAL_ERROR "octobloom_add_command_test(${name}): COMMAND missing, or unknown "
                        "arguments: ${arg_UNPARSED_ARGUMENTS}")
  endif()
  add_test(NAME ${name} COMMAND ${arg_COMMAND} WORKING_DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}")
  _octobloom_test_properties(properties labels)
  set_tests_properties(${name} PROPERTIES ${properties} LABELS "${labels}")
  if(arg_ENVIRONMENT)
    set_tests_properties(${name} PROPERTIES ENVIRONMENT "${arg_ENVIRONMENT}")
  endif()
endfunction()

# What both kinds share, from the caller's arg_ variables.
macro(_octobloom_test_properties properties_out labels_out)
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT ${OCTOBLOOM_TEST_TIMEOUT})
  endif()
  set(${properties_out} TIMEOUT ${arg_TIMEOUT})
  if(arg_SERIAL)
    list(APPEND ${properties_out} RUN_SERIAL TRUE)
  endif()
  set(${labels_out} ${OCTOBLOOM_TEST_LABEL} ${arg_LABELS})
  list(REMOVE_DUPLICATES ${labels_out})
endmacro()
