# Toolchain file of builds for other processors: Debian's cross compiler, and an emulator in user
# mode for the programs that it makes.
#
# OCTOBLOOM_PORT: aarch64, or s390x, whose words are big-endian.
set(CMAKE_TRY_COMPILE_PLATFORM_VARIABLES OCTOBLOOM_PORT)
set(_octobloom_sysroot_aarch64 arm64)
set(_octobloom_sysroot_s390x s390x)
if(NOT DEFINED _octobloom_sysroot_${OCTOBLOOM_PORT})
  message(FATAL_ERROR "OCTOBLOOM_PORT is '${OCTOBLOOM_PORT}'; it takes aarch64 or s390x.")
endif()

set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR ${OCTOBLOOM_PORT})
set(CMAKE_C_COMPILER ${OCTOBLOOM_PORT}-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER ${OCTOBLOOM_PORT}-linux-gnu-g++)
set(CMAKE_LIBRARY_ARCHITECTURE ${OCTOBLOOM_PORT}-linux-gnu)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-${OCTOBLOOM_PORT} -L /usr/${OCTOBLOOM_PORT}-linux-gnu)

# What tools/deps.sh unpacks.
cmake_path(SET _octobloom_sysroot NORMALIZE
  "${CMAKE_CURRENT_LIST_DIR}/../build/sysroot/${_octobloom_sysroot_${OCTOBLOOM_PORT}}")
set(CMAKE_FIND_ROOT_PATH "${_octobloom_sysroot}" /usr/${OCTOBLOOM_PORT}-linux-gnu)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
