# How a room becomes a target, and how targets become an installed package.
include_guard(GLOBAL)
include(CMakePackageConfigHelpers)

set_property(GLOBAL PROPERTY OCTOBLOOM_LIBRARIES "")
set_property(GLOBAL PROPERTY OCTOBLOOM_PACKAGE_DEPENDENCIES "")
set_property(GLOBAL PROPERTY OCTOBLOOM_PKGCONFIG_REQUIRES "")
set_property(GLOBAL PROPERTY OCTOBLOOM_PKGCONFIG_LIBS "")

# octobloom_add_library(<room>
#   HEADERS <file>...            public headers, below include/ (or in HEADER_DIRS)
#   SOURCES <file>...
#   [HEADER_DIRS <dir>...]       further bases of public headers, for generated ones
#   [LINK_PUBLIC <target>...] [LINK_PRIVATE <target>...]
#   [FIND_DEPENDENCY <args>]...  what an installed consumer passes to find_dependency()
#   [PKGCONFIG_REQUIRES <module>...]
#   [PKGCONFIG_LIBS <flag>...])  what a static library needs at the link, where there is no module
#
# Makes octobloom_<room>, known to everybody as octobloom::<room>, and installs it.
function(octobloom_add_library room)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" ""
    "HEADERS;SOURCES;HEADER_DIRS;LINK_PUBLIC;LINK_PRIVATE;FIND_DEPENDENCY;PKGCONFIG_REQUIRES;PKGCONFIG_LIBS")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "octobloom_add_library(${room}): unknown arguments ${arg_UNPARSED_ARGUMENTS}")
  endif()
  set(target octobloom_${room})
  add_library(${target} ${arg_SOURCES})
  add_library(octobloom::${room} ALIAS ${target})
  target_sources(${target} PUBLIC FILE_SET HEADERS
    BASE_DIRS include ${arg_HEADER_DIRS}
    FILES ${arg_HEADERS})
  target_compile_features(${target} PUBLIC cxx_std_20)
  target_link_libraries(${target} PUBLIC ${arg_LINK_PUBLIC} PRIVATE ${arg_LINK_PRIVATE})
  set_target_properties(${target} PROPERTIES
    EXPORT_NAME ${room}
    VERSION ${PROJECT_VERSION}
    SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
  octobloom_set_warnings(${target})
  install(TARGETS ${target} EXPORT octobloom-targets
    ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}"
    LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}"
    RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}"
    FILE_SET HEADERS DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
  set_property(GLOBAL APPEND PROPERTY OCTOBLOOM_LIBRARIES ${room})
  set_property(GLOBAL APPEND PROPERTY OCTOBLOOM_PACKAGE_DEPENDENCIES ${arg_FIND_DEPENDENCY})
  set_property(GLOBAL APPEND PROPERTY OCTOBLOOM_PKGCONFIG_REQUIRES ${arg_PKGCONFIG_REQUIRES})
  set_property(GLOBAL APPEND PROPERTY OCTOBLOOM_PKGCONFIG_LIBS ${arg_PKGCONFIG_LIBS})
endfunction()

# octobloom_add_executable(<target> SOURCES <file>... [OUTPUT_NAME <name>] [LINK <target>...])
function(octobloom_add_executable target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "OUTPUT_NAME" "SOURCES;LINK")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "octobloom_add_executable(${target}): unknown arguments ${arg_UNPARSED_ARGUMENTS}")
  endif()
  add_executable(${target} ${arg_SOURCES})
  target_compile_features(${target} PRIVATE cxx_std_20)
  target_link_libraries(${target} PRIVATE ${arg_LINK})
  if(arg_OUTPUT_NAME)
    set_target_properties(${target} PROPERTIES OUTPUT_NAME "${arg_OUTPUT_NAME}")
  endif()
  octobloom_set_warnings(${target})
endfunction()

# octobloom::octobloom: all library rooms that were built.
function(octobloom_add_umbrella)
  get_property(libraries GLOBAL PROPERTY OCTOBLOOM_LIBRARIES)
  add_library(octobloom_umbrella INTERFACE)
  add_library(octobloom::octobloom ALIAS octobloom_umbrella)
  set_target_properties(octobloom_umbrella PROPERTIES EXPORT_NAME octobloom)
  list(TRANSFORM libraries PREPEND "octobloom_" OUTPUT_VARIABLE targets)
  target_link_libraries(octobloom_umbrella INTERFACE ${targets})
  install(TARGETS octobloom_umbrella EXPORT octobloom-targets)
endfunction()

function(octobloom_install_package)
  set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/octobloom")

  get_property(dependencies GLOBAL PROPERTY OCTOBLOOM_PACKAGE_DEPENDENCIES)
  list(REMOVE_DUPLICATES dependencies)
  set(OCTOBLOOM_FIND_DEPENDENCIES "")
  foreach(dependency IN LISTS dependencies)
    string(APPEND OCTOBLOOM_FIND_DEPENDENCIES "find_dependency(${dependency})\n")
  endforeach()
  configure_package_config_file("${PROJECT_SOURCE_DIR}/cmake/octobloom-config.cmake.in"
    "${PROJECT_BINARY_DIR}/octobloom-config.cmake" INSTALL_DESTINATION "${package_dir}")
  # Before 1.0 a minor version may change the interface.
  write_basic_package_version_file("${PROJECT_BINARY_DIR}/octobloom-config-version.cmake"
    COMPATIBILITY SameMinorVersion)
  install(EXPORT octobloom-targets NAMESPACE octobloom:: DESTINATION "${package_dir}")
  install(FILES "${PROJECT_BINARY_DIR}/octobloom-config.cmake"
                "${PROJECT_BINARY_DIR}/octobloom-config-version.cmake"
    DESTINATION "${package_dir}")

  get_property(libraries GLOBAL PROPERTY OCTOBLOOM_LIBRARIES)
  list(REVERSE libraries)
  list(TRANSFORM libraries PREPEND "-loctobloom_")
  list(JOIN libraries " " OCTOBLOOM_PC_LIBS)
  get_property(requires GLOBAL PROPERTY OCTOBLOOM_PKGCONFIG_REQUIRES)
  list(REMOVE_DUPLICATES requires)
  list(JOIN requires ", " requires)
  # A static library needs its own dependencies at every link, not only under --static.
  set(OCTOBLOOM_PC_REQUIRES "")
  set(OCTOBLOOM_PC_REQUIRES_PRIVATE "")
  if(BUILD_SHARED_LIBS)
    set(OCTOBLOOM_PC_REQUIRES_PRIVATE "${requires}")
  else()
    set(OCTOBLOOM_PC_REQUIRES "${requires}")
    get_property(flags GLOBAL PROPERTY OCTOBLOOM_PKGCONFIG_LIBS)
    list(JOIN flags " " flags)
    string(APPEND OCTOBLOOM_PC_LIBS " ${flags} -pthread")
  endif()
  set(pc_dir "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
  file(RELATIVE_PATH OCTOBLOOM_PC_PREFIX "/${pc_dir}" "/")
  string(REGEX REPLACE "/$" "" OCTOBLOOM_PC_PREFIX "${OCTOBLOOM_PC_PREFIX}")
  configure_file("${PROJECT_SOURCE_DIR}/cmake/octobloom.pc.in" "${PROJECT_BINARY_DIR}/octobloom.pc" @ONLY)
  install(FILES "${PROJECT_BINARY_DIR}/octobloom.pc" DESTINATION "${pc_dir}")
  install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" DESTINATION "${CMAKE_INSTALL_DOCDIR}")
endfunction()
