# Toolchain: Debian's cross compiler for arm64, the packages that `scripts/setup arm64` unpacks, and qemu.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
get_filename_component(CMAKE_SYSROOT ${CMAKE_CURRENT_LIST_DIR}/../build/arm64-sysroot ABSOLUTE)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(ENV{PKG_CONFIG_SYSROOT_DIR} ${CMAKE_SYSROOT})
set(ENV{PKG_CONFIG_LIBDIR} ${CMAKE_SYSROOT}/usr/lib/aarch64-linux-gnu/pkgconfig:${CMAKE_SYSROOT}/usr/share/pkgconfig)
# Debian 13 names the static qemu as the dynamic one.
find_program(PLEAT_QEMU NAMES qemu-aarch64-static qemu-aarch64)
if(PLEAT_QEMU)
  set(CMAKE_CROSSCOMPILING_EMULATOR ${PLEAT_QEMU} -L ${CMAKE_SYSROOT})
endif()
# The cross compiler's own copy would hide the one that programs run with.
set(OpenMP_gomp_LIBRARY ${CMAKE_SYSROOT}/usr/lib/aarch64-linux-gnu/libgomp.so.1 CACHE FILEPATH "")
