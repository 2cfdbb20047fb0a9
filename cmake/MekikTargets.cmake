# The build rules shared by every folder: warning and numerics flags, libraries with full-path includes, and the
# MLIR-facing variant with its precompiled header.
include_guard()

find_program(CCACHE ccache)
if(CCACHE)
  # Precompiled headers carry time stamps; without this ccache would refuse every file that uses one.
  set(launcher ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
      ${CCACHE})
  set(CMAKE_C_COMPILER_LAUNCHER ${launcher})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${launcher} CACHE STRING "" FORCE)
endif()

add_library(mekik_flags INTERFACE)
target_include_directories(mekik_flags INTERFACE ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR})
# -ffp-contract=off: host code that computes values of the numerics contract must not fuse what is written apart.
target_compile_options(mekik_flags INTERFACE -Wall -Wextra -Wno-unused-parameter -ffp-contract=off
                       -ffunction-sections -fdata-sections)
target_link_options(mekik_flags INTERFACE -fuse-ld=lld -Wl,--gc-sections)
if(MEKIK_SANITIZE)
  target_compile_options(mekik_flags INTERFACE -fsanitize=address,undefined -fno-sanitize-recover=all -g)
  target_link_options(mekik_flags INTERFACE -fsanitize=address,undefined)
  # Allocations that are too large fail as they do without the sanitizer: tests look at the message for them.
  set(MEKIK_TEST_ENVIRONMENT "ASAN_OPTIONS=allocator_may_return_null=1")
endif()

# mekik_library(NAME SOURCES a.cpp ... LINK lib ...): a static library of one folder.
function(mekik_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINK" ${ARGN})
  add_library(${name} STATIC ${ARG_SOURCES})
  target_link_libraries(${name} PUBLIC mekik_flags ${ARG_LINK})
endfunction()

# mekik_test(NAME SOURCES a.cpp ... LINK lib ...): a GoogleTest program run by ctest.
function(mekik_test name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINK" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE mekik_flags ${ARG_LINK} GTest::gtest_main)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
  add_test(NAME ${name} COMMAND ${name})
  set_tests_properties(${name} PROPERTIES ENVIRONMENT "MEKIK_SOURCE_DIR=${PROJECT_SOURCE_DIR};MEKIK_BINARY_DIR=${PROJECT_BINARY_DIR};${MEKIK_TEST_ENVIRONMENT}")
endfunction()

# mekik_mlir_library(NAME SOURCES ... LINK ...): a library that uses MLIR. MLIR and LLVM are linked as their two shared
# libraries only: a static MLIR library beside them would bring a second copy of every type id.
function(mekik_mlir_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINK" ${ARGN})
  mekik_library(${name} SOURCES ${ARG_SOURCES} LINK mekik_mlir ${ARG_LINK})
  if(NOT name STREQUAL mekik_pch)
    target_precompile_headers(${name} REUSE_FROM mekik_pch)
  endif()
endfunction()
