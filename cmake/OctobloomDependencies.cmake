# Everything octobloom may use from outside, and the versions it is known to work with. This is
# the one place with version bounds; tools/deps.sh is the one place with package names.
include_guard(GLOBAL)

set(OCTOBLOOM_VERSION_hwy           1.0.3...<2)
set(OCTOBLOOM_VERSION_GTest         1.12...<2)
set(OCTOBLOOM_VERSION_benchmark     1.7...<2)
set(OCTOBLOOM_VERSION_CLI11         2.1...<3)
set(OCTOBLOOM_VERSION_nlohmann_json 3.11)
set(OCTOBLOOM_VERSION_Python        3.9...<4)
set(OCTOBLOOM_VERSION_CUDAToolkit   12.0)

# A macro: the imported targets and the variables of a found package belong to the caller.
# Sets octobloom_found and, when that is false, octobloom_missing: what to do about it.
macro(octobloom_find_dependency name)
  set(octobloom_found FALSE)
  if("${name}" STREQUAL "CUDA")
    include(CheckLanguage)
    check_language(CUDA)
    if(CMAKE_CUDA_COMPILER)
      find_package(CUDAToolkit ${OCTOBLOOM_VERSION_CUDAToolkit} QUIET)
      set(octobloom_found ${CUDAToolkit_FOUND})
    endif()
    set(octobloom_missing "CUDA Toolkit ${OCTOBLOOM_VERSION_CUDAToolkit} or newer (put nvcc in PATH or set CMAKE_CUDA_COMPILER)")
  elseif("${name}" STREQUAL "Python")
    find_package(Python ${OCTOBLOOM_VERSION_Python} QUIET COMPONENTS Interpreter Development.Module)
    set(octobloom_found ${Python_FOUND})
    set(octobloom_missing "Python ${OCTOBLOOM_VERSION_Python} with its headers (tools/deps.sh python)")
  else()
    find_package(${name} ${OCTOBLOOM_VERSION_${name}} QUIET CONFIG)
    set(octobloom_found ${${name}_FOUND})
    set(octobloom_missing "${name} ${OCTOBLOOM_VERSION_${name}} (tools/deps.sh installs it on Debian)")
  endif()
endmacro()
