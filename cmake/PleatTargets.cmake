# Functions that every module's CMakeLists.txt uses: its sources, program and tests.

add_library(pleat_options INTERFACE)
target_compile_features(pleat_options INTERFACE cxx_std_20)
target_compile_options(pleat_options INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wpedantic -Wshadow -Wno-unused-parameter>
  $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<BOOL:${PLEAT_WERROR}>>:-Werror>)
# g++ 12 guesses these after inlining the standard library, often wrongly: told, but no errors; its
# -Wrestrict is wrong about every std::string (GCC bug 105329) and says nothing else here.
target_compile_options(pleat_options INTERFACE
  $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<CXX_COMPILER_ID:GNU>>:-Wno-error=array-bounds
  -Wno-error=free-nonheap-object -Wno-error=maybe-uninitialized -Wno-restrict
  -Wno-error=stringop-overflow -Wno-error=stringop-overread>)

# arm64: compilers fuse multiplications and additions there unless told otherwise, which the code that all
# x86-64 CPUs run cannot: without that both give the same float64 numbers. Kernels use NEON alone, the static
# target: they keep vectors in arrays and structs, where SVE's, of unknown size, cannot be, and the SVE of
# Grace is as narrow as NEON. The second name stops Highway 1.0.3 from compiling for CPUs with AES only.
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(aarch64|arm64)$")
  add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-ffp-contract=off>
    $<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-ffp-contract=off>)
  add_compile_definitions(HWY_COMPILE_ONLY_STATIC TOOLCHAIN_MISS_SYS_AUXV_H)
endif()

# Sanitizers must reach every object and every link of the build, so they are set for all of it.
if(PLEAT_SANITIZE)
  add_compile_options(-fsanitize=${PLEAT_SANITIZE} -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${PLEAT_SANITIZE})
  if(PLEAT_SANITIZE MATCHES undefined)
    add_compile_options(-fno-sanitize-recover=undefined)
  endif()
endif()
# The library itself must report the coverage that guides libFuzzer.
if(PLEAT_FUZZ)
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()

# Whether files of one folder are compiled together: right for one build, wrong for daily work.
option(PLEAT_COMPILED_TOGETHER "Compile files of one folder together" ON)

# The standard headers that most files include, with fmt: they are parsed once (a quarter of the time of
# compiling the library).
set(PLEAT_PRECOMPILED <fmt/format.h> <algorithm> <array> <cmath> <cstdint> <filesystem> <functional>
  <limits> <map> <memory> <numeric> <optional> <span> <string> <string_view> <utility> <vector>)

# pleat_sources(a.cpp b.cpp ...): adds files of this folder to the library.
function(pleat_sources)
  foreach(file IN LISTS ARGN)
    set(path ${CMAKE_CURRENT_SOURCE_DIR}/${file})
    set(target pleat_code)
    if(path IN_LIST PLEAT_BRIEF)
      set(target pleat_brief)
    endif()
    target_sources(${target} PRIVATE ${path})
    if(path IN_LIST PLEAT_BRIEF OR path IN_LIST PLEAT_TOGETHER)
      file(RELATIVE_PATH folder ${PROJECT_SOURCE_DIR}/src/pleat ${path}/..)
      string(REPLACE "/" "_" folder "${folder}")
      set_source_files_properties(${path} TARGET_DIRECTORY ${target} PROPERTIES
        UNITY_GROUP "${folder}")
    endif()
  endforeach()
endfunction()

# pleat_embed(a.cpp NAME file ...): defines NAME as the path of a data file that a.cpp embeds by
# PLEAT_EMBED() (core/hardware/embedded_file.h).
function(pleat_embed source)
  while(ARGN)
    list(POP_FRONT ARGN name file)
    set(path ${CMAKE_CURRENT_SOURCE_DIR}/${file})
    set_property(SOURCE ${source} TARGET_DIRECTORY pleat_code APPEND PROPERTY
      COMPILE_DEFINITIONS ${name}="${path}")
    set_property(SOURCE ${source} TARGET_DIRECTORY pleat_code APPEND PROPERTY OBJECT_DEPENDS ${path})
  endwhile()
endfunction()

# pleat_cuda_sources(a.cu ...): files of this folder that libpleat takes where CUDA is built.
function(pleat_cuda_sources)
  foreach(file IN LISTS ARGN)
    set_property(GLOBAL APPEND PROPERTY PLEAT_CUDA_SOURCES ${CMAKE_CURRENT_SOURCE_DIR}/${file})
  endforeach()
endfunction()

# pleat_hopper_sources(a.cu ...): the same for files that use instructions of compute capability 9.0
# alone.
function(pleat_hopper_sources)
  foreach(file IN LISTS ARGN)
    set_property(GLOBAL APPEND PROPERTY PLEAT_HOPPER_SOURCES ${CMAKE_CURRENT_SOURCE_DIR}/${file})
  endforeach()
endfunction()

# pleat_together(a.cpp b.cpp ...): files of one program or one module's tests that are compiled as one,
# which takes half the time; none has a name of another.
function(pleat_together first)
  get_filename_component(group ${first} NAME_WE)
  set_source_files_properties(${first} ${ARGN} PROPERTIES UNITY_GROUP ${group})
endfunction()

# pleat_program(main.cpp a.cpp ...): the program `pleat`, and all of it but main() as a library for its
# tests. It holds the code of libpleat itself, so it may be moved.
function(pleat_program main)
  find_package(CLI11 REQUIRED)
  add_library(pleat_commands STATIC ${ARGN})
  # Options and summaries take no time that optimising would save. Few files include CLI11, whose
  # headers alone take two seconds in each.
  target_compile_options(pleat_commands PRIVATE $<$<CONFIG:Release>:-O1>)
  target_precompile_headers(pleat_commands PRIVATE ${PLEAT_PRECOMPILED})
  set_target_properties(pleat_commands PROPERTIES
    UNITY_BUILD ${PLEAT_COMPILED_TOGETHER} UNITY_BUILD_MODE GROUP)
  target_include_directories(pleat_commands PUBLIC ${CMAKE_CURRENT_SOURCE_DIR})
  target_link_libraries(pleat_commands PUBLIC pleat_code pleat_options CLI11::CLI11 fmt::fmt
    nlohmann_json::nlohmann_json)
  if(NOT PLEAT_PROGRAM)
    return()
  endif()
  add_executable(pleat_program ${main})
  set_target_properties(pleat_program PROPERTIES OUTPUT_NAME pleat)
  target_link_libraries(pleat_program PRIVATE pleat_commands)
  install(TARGETS pleat_program RUNTIME_DEPENDENCY_SET pleat_libraries
    RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endfunction()

# pleat_cuda_on_host(VARIABLE a_test.cpp ...): tests that compile CUDA kernels for the host
# (core/tests/host_gpu.h), as a list for pleat_test(). They run on stacks of their own, which the
# thread sanitizer does not follow: with it the list is empty.
function(pleat_cuda_on_host variable)
  if(PLEAT_SANITIZE MATCHES thread)
    set(${variable} "" PARENT_SCOPE)
    return()
  endif()
  # The host's compiler does not know nvcc's pragma on unrolling. Kernels copy numbers of any type in
  # pieces of 16 bytes. Threads are stacks, and glibc's checks forbid jumps from one to another.
  set_source_files_properties(${ARGN} PROPERTIES SKIP_PRECOMPILE_HEADERS ON
    COMPILE_OPTIONS "-Wno-unknown-pragmas;-fno-strict-aliasing;-U_FORTIFY_SOURCE")
  set(${variable} ${ARGN} PARENT_SCOPE)
endfunction()

# pleat_carry_libraries(target ...): programs and libraries that need glibc 2.28 alone: they contain the libraries
# of C++, hidden, and what that glibc lacks (src/pleat/core/portable). LD_LIBRARY_PATH must not replace the
# libraries that they carry by others: a DT_RPATH comes before it. Before 2.34 glibc was several libraries. libpleat
# and modules share libgcc with the process that loads them: two of them cannot unwind one stack.
function(pleat_carry_libraries)
  if(NOT TARGET pleat_portable)
    set(folder ${PROJECT_SOURCE_DIR}/src/pleat/core/portable)
    add_library(pleat_portable OBJECT ${folder}/carried_libraries.cpp ${folder}/older_glibc.cpp)
    target_link_libraries(pleat_portable PRIVATE pleat_options)
    set_target_properties(pleat_portable PROPERTIES CXX_VISIBILITY_PRESET hidden)
  endif()
  foreach(target IN LISTS ARGN)
    target_sources(${target} PRIVATE $<TARGET_OBJECTS:pleat_portable>)
    target_link_options(${target} PRIVATE -static-libstdc++ LINKER:--disable-new-dtags
      $<IF:$<STREQUAL:$<TARGET_PROPERTY:TYPE>,EXECUTABLE>,-static-libgcc,-shared-libgcc>
      LINKER:--exclude-libs,libstdc++.a:libgcc.a:libgcc_eh.a:libpugixml.a
      LINKER:--no-as-needed,-l:libpthread.so.0,-l:libdl.so.2,-l:librt.so.1,--as-needed)
  endforeach()
endfunction()

# pleat_old_start(target): a program whose constructors a glibc before 2.34 calls, too.
function(pleat_old_start target)
  target_sources(${target} PRIVATE ${PROJECT_SOURCE_DIR}/src/pleat/core/portable/program_start.cpp)
  target_link_options(${target} PRIVATE LINKER:--wrap=__libc_start_main)
endfunction()

# Headers of nearly all tests, which are compiled once and make theirs take half the time; the code of
# tests is hardly optimised for the same reason.
if(PLEAT_TESTS)
  file(GENERATE OUTPUT ${PROJECT_BINARY_DIR}/generated/test_headers.cpp CONTENT "")
  add_executable(pleat_test_headers ${PROJECT_BINARY_DIR}/generated/test_headers.cpp)
  target_link_libraries(pleat_test_headers PRIVATE pleat_options GTest::gtest_main)
  target_compile_options(pleat_test_headers PRIVATE $<$<CONFIG:Release>:-O1>)
  target_precompile_headers(pleat_test_headers PRIVATE <gtest/gtest.h> <algorithm> <atomic> <cmath>
    <filesystem> <fstream> <functional> <map> <memory> <random> <set> <span> <string> <thread> <vector>)
endif()

# pleat_test(module a.cpp b.cpp ...): one GoogleTest program a module, its cases found by CTest.
function(pleat_test module)
  if(NOT PLEAT_TESTS)
    return()
  endif()
  add_executable(test_${module} ${ARGN})
  target_link_libraries(test_${module} PRIVATE pleat_code pleat_options GTest::gtest_main)
  target_compile_options(test_${module} PRIVATE
    $<$<AND:$<CONFIG:Release>,$<COMPILE_LANGUAGE:CXX>>:-O1>)
  target_precompile_headers(test_${module} REUSE_FROM pleat_test_headers)
  set_target_properties(test_${module} PROPERTIES
    UNITY_BUILD ${PLEAT_COMPILED_TOGETHER} UNITY_BUILD_MODE GROUP)
  target_compile_definitions(test_${module} PRIVATE
    PLEAT_DATA="${PROJECT_SOURCE_DIR}/data" PLEAT_SHARED="${PROJECT_SOURCE_DIR}/../shared")
  gtest_discover_tests(test_${module} TEST_PREFIX "${module}." DISCOVERY_TIMEOUT 60
                       PROPERTIES TIMEOUT 600)
endfunction()
