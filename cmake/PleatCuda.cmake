# CUDA: decides whether the CUDA kernels are built, and links them or their refusals into libpleat.

set(PLEAT_CUDA AUTO CACHE STRING "Build the CUDA kernels: ON, OFF, or AUTO (where nvcc is found)")
set_property(CACHE PLEAT_CUDA PROPERTY STRINGS AUTO ON OFF)
set(PLEAT_CUDA_ENABLED OFF)

set(automatic OFF)
if(PLEAT_CUDA STREQUAL "AUTO")
  set(automatic ON)
endif()
# Sanitizers and fuzzers of the host compiler do not reach through nvcc.
if((automatic AND NOT PLEAT_SANITIZE AND NOT PLEAT_FUZZ) OR (NOT automatic AND PLEAT_CUDA))
  find_program(PLEAT_NVCC nvcc HINTS ENV CUDACXX PATHS /usr/local/cuda/bin)
  mark_as_advanced(PLEAT_NVCC)
  if(PLEAT_NVCC AND NOT DEFINED ENV{CUDACXX})
    set(ENV{CUDACXX} ${PLEAT_NVCC})
  endif()
  # Machine code for Hopper; the driver makes that of other GPUs, 8.0 and newer, at the first start. Both
  # are made of one translation: the machine code is that of a translation for Hopper, byte for byte.
  if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
    set(CMAKE_CUDA_ARCHITECTURES OFF)
  endif()
  if(NOT CMAKE_CUDA_ARCHITECTURES)
    set(PLEAT_CUDA_CODE "--generate-code=arch=compute_80,code=[compute_80,sm_90]")
  endif()
  include(CheckLanguage)
  check_language(CUDA)
  if(CMAKE_CUDA_COMPILER)
    enable_language(CUDA)
  endif()
  if(CMAKE_CUDA_COMPILER AND CMAKE_CUDA_COMPILER_VERSION VERSION_GREATER_EQUAL 12)
    set(PLEAT_CUDA_ENABLED ON)
  elseif(NOT automatic)
    message(FATAL_ERROR "PLEAT_CUDA: expected nvcc 12 or newer, which knows C++20, on PATH or in "
      "/usr/local/cuda/bin, found '${CMAKE_CUDA_COMPILER}' ${CMAKE_CUDA_COMPILER_VERSION}")
  endif()
endif()
message(STATUS "CUDA kernels: ${PLEAT_CUDA_ENABLED}")

# Options of a target whose CUDA files go into libpleat.
function(pleat_cuda_options target)
  # CMake 3.25 knows no C++20 of newer nvcc, so the option is given as it is. Warning 554 is about
  # View's conversion to a view of constants, which a view of constants has and does not use.
  # Each host thread has a stream of its own, so that several fits share a GPU.
  get_target_property(architectures ${target} CUDA_ARCHITECTURES)
  if(PLEAT_CUDA_CODE AND NOT architectures)
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CUDA>:${PLEAT_CUDA_CODE}>)
  endif()
  target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CUDA>:-std=c++20
    --default-stream=per-thread --diag-suppress=554 -Xcompiler=-Wall,-Wextra,-Wno-unused-parameter>)
  if(PLEAT_WERROR)
    target_compile_options(${target} PRIVATE
      $<$<COMPILE_LANGUAGE:CUDA>:-Werror=all-warnings -Xcompiler=-Werror>)
  endif()
endfunction()

# pleat_add_cuda(): adds every .cu file that modules named, or the file that refuses in their place.
function(pleat_add_cuda)
  if(NOT PLEAT_CUDA_ENABLED)
    target_sources(pleat_code PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/without_cuda.cpp)
    return()
  endif()
  get_property(files GLOBAL PROPERTY PLEAT_CUDA_SOURCES)
  target_sources(pleat_code PRIVATE ${files})
  set_target_properties(pleat pleat_code PROPERTIES CUDA_RUNTIME_LIBRARY Static)
  pleat_cuda_options(pleat_code)
  # The runtime is inside libpleat and nobody else's business.
  target_link_options(pleat PRIVATE LINKER:--exclude-libs,libcudart_static.a)
  get_property(files GLOBAL PROPERTY PLEAT_HOPPER_SOURCES)
  add_library(pleat_hopper OBJECT ${files})
  set_target_properties(pleat_hopper PROPERTIES
    CUDA_ARCHITECTURES 90a-real POSITION_INDEPENDENT_CODE ON)
  target_include_directories(pleat_hopper PRIVATE ${PROJECT_SOURCE_DIR}/src)
  pleat_cuda_options(pleat_hopper)
  target_sources(pleat_code PRIVATE $<TARGET_OBJECTS:pleat_hopper>)
endfunction()
