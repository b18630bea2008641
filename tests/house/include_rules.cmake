# The directions of the includes, and octobloom_include_violations(), which checks a source tree.

# A room may include the public headers of these rooms, besides its own.
set(rooms core family simd cuda engines cli python bindings/c bench examples emulator tests)
set(below_core "")
set(below_family core)
set(below_simd core)
set(below_cuda core)
set(below_engines core family simd cuda)
set(below_cli ${below_engines} engines)
set(below_python ${below_engines} engines)
set(below_bindings/c ${below_engines} engines)
set(below_bench ${below_engines} engines)
set(below_examples ${below_engines} engines bindings/c)
# It runs device code, and knows none of ours.
set(below_emulator "")
set(below_tests ${below_engines} engines cli bindings/c bench emulator)

# <room>/hooks/ is for the room's own sources and for these.
set(rooms_with_hooks tests bench)

# What a file may include from outside, as a regular expression over the header's name. The first
# line whose file pattern matches decides.
set(standard "[a-z_]+|(c?assert|errno|fenv|float|inttypes|limits|locale|math|setjmp|signal|stdarg|stddef|stdint|stdio|stdlib|string|time|wchar)\\.h")
set(system "(fcntl|unistd|pthread|sched|dirent|sys/[a-z]+|linux/[a-z]+)\\.h")
set(highway "hwy/[a-z_0-9/.-]+")
set(cuda "cuda[a-z_0-9]*\\.h|cuda/[a-z_0-9/]+|(thrust|cub)/[a-z_0-9/]+\\.c?u?h|(cooperative_groups|cuda_pipeline|mma)[a-z_0-9/]*\\.h|nv/target|omp\\.h")
set(outside_rules
  "^core/include/" "${standard}"
  "^core/" "${standard}|${system}"
  "^family/" "${standard}"
  "^simd/src/" "${standard}|${system}|${highway}"
  "^simd/" "${standard}"
  "^cuda/.*\\.(cu|cuh|inl)$" "${standard}|${system}|${cuda}"
  "^cuda/src/" "${standard}|${system}|${cuda}"
  "^cuda/" "${standard}"
  "^engines/include/" "${standard}"
  "^engines/" "${standard}|${system}"
  "^bindings/c/include/" "${standard}"
  "^emulator/src/device/" "${standard}|${system}|${cuda}|driver_types\\.h|fatbinary_section\\.h"
  "^emulator/" "${standard}|cxxabi\\.h|driver_types\\.h"
  "." ".+")

function(_octobloom_room_of path out)
  set(${out} "" PARENT_SCOPE)
  foreach(room IN LISTS rooms)
    if(path MATCHES "^${room}/")
      set(${out} "${room}" PARENT_SCOPE)
    endif()
  endforeach()
endfunction()

# octobloom_include_violations(<root> <out>): one text a violation.
function(octobloom_include_violations root out)
  set(violations "")
  set(sources "")
  # Which room owns <octobloom/x.h>.
  foreach(room IN LISTS rooms)
    file(GLOB_RECURSE headers RELATIVE "${root}/${room}/include" "${root}/${room}/include/*")
    file(GLOB_RECURSE hooks RELATIVE "${root}/${room}/hooks" "${root}/${room}/hooks/*")
    foreach(header IN LISTS headers hooks)
      string(REGEX REPLACE "\\.in$" "" header "${header}")
      if(DEFINED owner_${header})
        list(APPEND violations "${header} is in ${owner_${header}} and in ${room}")
      endif()
      set(owner_${header} "${room}")
    endforeach()
    foreach(header IN LISTS hooks)
      set(is_hook_${header} TRUE)
    endforeach()
    file(GLOB_RECURSE found RELATIVE "${root}"
      "${root}/${room}/*.h" "${root}/${room}/*.hpp" "${root}/${room}/*.inl" "${root}/${room}/*.inc"
      "${root}/${room}/*.c" "${root}/${room}/*.cc" "${root}/${room}/*.cpp"
      "${root}/${room}/*.cu" "${root}/${room}/*.cuh" "${root}/${room}/*.in")
    list(APPEND sources ${found})
  endforeach()

  foreach(source IN LISTS sources)
    _octobloom_room_of("${source}" room)
    cmake_path(GET source PARENT_PATH folder)
    file(STRINGS "${root}/${source}" lines REGEX "^[ \t]*#[ \t]*include")
    foreach(line IN LISTS lines)
      if(line MATCHES "include[ \t]*<([^>]+)>")
        set(name "${CMAKE_MATCH_1}")
      elseif(line MATCHES "include[ \t]*\"([^\"]+)\"")
        set(name "${CMAKE_MATCH_1}")
        cmake_path(SET beside NORMALIZE "${folder}/${name}")
        if(EXISTS "${root}/${beside}")
          _octobloom_room_of("${beside}" other)
          if(NOT other STREQUAL room)
            list(APPEND violations "${source}: \"${name}\" reaches into ${other}: use its public headers")
          endif()
          continue()
        elseif(EXISTS "${root}/${room}/${name}" OR EXISTS "${root}/${room}/src/${name}" OR
               EXISTS "${root}/${room}/src/${name}.in" OR
               (room STREQUAL "simd" AND EXISTS "${root}/${name}" AND name MATCHES "^simd/"))
          continue()
        elseif(name MATCHES "\\.\\./")
          list(APPEND violations "${source}: \"${name}\" leaves its folder and is not there")
          continue()
        endif()
      else()
        list(APPEND violations "${source}: an include that this check cannot read: ${line}")
        continue()
      endif()

      # <octobloom/simd_engine.h> is named in engines/ before there is a simd/.
      set(other "")
      if(DEFINED owner_${name})
        set(other "${owner_${name}}")
      elseif(name MATCHES "^octobloom/([a-z]+)_" AND CMAKE_MATCH_1 IN_LIST rooms AND
             NOT EXISTS "${root}/${CMAKE_MATCH_1}")
        set(other "${CMAKE_MATCH_1}")
      endif()
      if(other)
        set(out_of_reach FALSE)
        if(is_hook_${name} AND NOT room IN_LIST rooms_with_hooks)
          if(NOT other STREQUAL room OR source MATCHES "^${room}/include/")
            set(out_of_reach TRUE)
          endif()
        endif()
        if(out_of_reach)
          list(APPEND violations "${source}: <${name}> is for tests and benchmarks")
        elseif(NOT other STREQUAL room AND NOT other IN_LIST below_${room})
          list(APPEND violations "${source}: <${name}> belongs to ${other}, which ${room} must not know")
        endif()
      elseif(name MATCHES "^octobloom/")
        list(APPEND violations "${source}: <${name}> belongs to no room")
      else()
        set(rules "${outside_rules}")
        while(rules)
          list(POP_FRONT rules pattern allowed)
          if(source MATCHES "${pattern}")
            if(NOT name MATCHES "^(${allowed})$")
              list(APPEND violations "${source}: <${name}> is not for this place")
            endif()
            break()
          endif()
        endwhile()
      endif()
    endforeach()
  endforeach()

  list(LENGTH sources count)
  set(octobloom_sources_checked ${count} PARENT_SCOPE)
  set(${out} "${violations}" PARENT_SCOPE)
endfunction()
