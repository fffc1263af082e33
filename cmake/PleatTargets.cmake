# Functions that every module's CMakeLists.txt uses: its sources, its tests, its benchmarks.

add_library(pleat_options INTERFACE)
target_compile_features(pleat_options INTERFACE cxx_std_20)
target_compile_options(pleat_options INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wpedantic -Wshadow -Wno-unused-parameter>)

# pleat_sources(a.cpp b.cpp ...): adds files of this folder to libpleat.
function(pleat_sources)
  foreach(file IN LISTS ARGN)
    target_sources(pleat PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/${file})
  endforeach()
endfunction()

# pleat_headers(a.h ...): public headers of this folder, installed.
function(pleat_headers)
  foreach(file IN LISTS ARGN)
    target_sources(pleat PUBLIC FILE_SET HEADERS BASE_DIRS ${PROJECT_SOURCE_DIR}/src
                   FILES ${CMAKE_CURRENT_SOURCE_DIR}/${file})
  endforeach()
endfunction()

# pleat_test(module a.cpp b.cpp ...): one GoogleTest program a module, its cases found by CTest.
function(pleat_test module)
  if(NOT PLEAT_TESTS)
    return()
  endif()
  add_executable(test_${module} ${ARGN})
  target_link_libraries(test_${module} PRIVATE pleat pleat_options GTest::gtest_main)
  target_compile_definitions(test_${module} PRIVATE
    PLEAT_DATA="${PROJECT_SOURCE_DIR}/data" PLEAT_SHARED="${PROJECT_SOURCE_DIR}/../shared")
  gtest_discover_tests(test_${module} TEST_PREFIX "${module}." DISCOVERY_TIMEOUT 60
                       PROPERTIES TIMEOUT 600)
endfunction()
