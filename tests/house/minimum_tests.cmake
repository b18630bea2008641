# Fails when a folder of tests has fewer tests than minimum_tests.txt says, or has no line there.
# Needs CTEST, BUILD, FLOORS, FOLDERS.

file(STRINGS "${FLOORS}" lines REGEX "^[^#]")
set(failures "")
foreach(line IN LISTS lines)
  if(NOT line MATCHES "^([a-z_]+) +([0-9]+)$")
    message(FATAL_ERROR "${FLOORS}: cannot read '${line}'")
  endif()
  set(floor_${CMAKE_MATCH_1} ${CMAKE_MATCH_2})
endforeach()

foreach(folder IN LISTS FOLDERS)
  execute_process(COMMAND "${CTEST}" --test-dir "${BUILD}" -N -L "^${folder}$"
    OUTPUT_VARIABLE output COMMAND_ERROR_IS_FATAL ANY)
  # Disabled tests are listed too, but nobody runs them.
  string(REGEX MATCHALL "\n +Test +#[0-9]+: [^\n]*" tests "\n${output}")
  list(FILTER tests EXCLUDE REGEX "\\(Disabled\\)$")
  list(LENGTH tests count)
  if(NOT DEFINED floor_${folder})
    string(APPEND failures "  ${folder}: ${count} tests, and no line in ${FLOORS}\n")
  elseif(count LESS floor_${folder})
    string(APPEND failures "  ${folder}: ${count} tests, but at least ${floor_${folder}} are expected\n")
  else()
    message(STATUS "${folder}: ${count} tests, at least ${floor_${folder}} expected")
  endif()
endforeach()

if(failures)
  message(FATAL_ERROR "Tests are missing:\n${failures}")
endif()
