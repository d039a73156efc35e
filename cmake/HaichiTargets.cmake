# How a folder under src/ becomes a library and its x_test.cpp files become one test program.
find_package(fmt REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(tl-expected REQUIRED)
find_package(Threads REQUIRED)
if(HAICHI_TESTS)
  find_package(GTest REQUIRED)
  include(GoogleTest)
endif()

add_library(haichi_options INTERFACE)
target_compile_options(haichi_options INTERFACE -Wall -Wextra -Wshadow -Wno-missing-field-initializers
                       -fvisibility=hidden $<$<COMPILE_LANGUAGE:CXX>:-fvisibility-inlines-hidden>)
target_include_directories(haichi_options INTERFACE ${CMAKE_SOURCE_DIR}/src)
set_property(SOURCE ${CMAKE_SOURCE_DIR}/src/base/version.cpp
             PROPERTY COMPILE_DEFINITIONS HAICHI_VERSION="${PROJECT_VERSION}")
# {fmt}'s headers; its functions are in haichi_base (src/base/fmt_implementation.cpp).
target_include_directories(haichi_options SYSTEM INTERFACE
  $<TARGET_PROPERTY:fmt::fmt-header-only,INTERFACE_INCLUDE_DIRECTORIES>)
target_link_libraries(haichi_options INTERFACE nlohmann_json::nlohmann_json tl::expected)
if(HAICHI_SANITIZE)
  target_compile_options(haichi_options INTERFACE -fsanitize=${HAICHI_SANITIZE}
                         -fno-omit-frame-pointer -fno-sanitize-recover=undefined)
  target_link_options(haichi_options INTERFACE -fsanitize=${HAICHI_SANITIZE})
endif()

# What nearly every file includes of others is parsed once and not in each, which takes a third off
# the time to compile. Once for libraries (haichi_base has it) and once for unit tests (base_test),
# whose flags differ. Sources name what they use all the same: `./haichi package wheel` builds
# without this.
set(HAICHI_PRECOMPILED <algorithm> <array> <atomic> <cstdint> <functional> <map> <memory> <mutex>
    <numeric> <optional> <span> <string> <string_view> <utility> <vector> <fmt/format.h>
    <tl/expected.hpp>)

# haichi_precompiled(TARGET OWNER [HEADER...]): TARGET takes what OWNER has; OWNER itself makes it.
function(haichi_precompiled target owner)
  if(target STREQUAL owner)
    target_precompile_headers(${target} PRIVATE ${HAICHI_PRECOMPILED} ${ARGN})
  else()
    target_precompile_headers(${target} REUSE_FROM ${owner})
  endif()
  # The first for ccache, if somebody has it (with sloppiness=pch_defines,time_macros). The others:
  # GCC 12 is wrong about std::string (its bug 105651), and a precompiled one is no system header.
  target_compile_options(${target} PRIVATE
                         $<$<CXX_COMPILER_ID:GNU>:-fpch-preprocess -Wno-restrict -Wno-array-bounds
                         -Wno-stringop-overread>)
endfunction()
# It defines what the others only use.
set_property(SOURCE ${CMAKE_SOURCE_DIR}/src/base/fmt_implementation.cpp
             PROPERTY SKIP_PRECOMPILE_HEADERS ON)

# haichi_unit_tests(NAME [SLOW pattern...]): tells CTest the tests of the program NAME_test. Those
# that a pattern of GoogleTest fits get the label "slow".
function(haichi_unit_tests name)
  cmake_parse_arguments(ARG "" "" "SLOW" ${ARGN})
  if(ARG_SLOW)
    list(JOIN ARG_SLOW ":" slow)
    set(quick TEST_FILTER "-${slow}")
    gtest_discover_tests(${name}_test TEST_PREFIX "${name}/" TEST_FILTER "${slow}"
                         TEST_LIST ${name}_slow PROPERTIES LABELS slow DISCOVERY_TIMEOUT 60)
  endif()
  gtest_discover_tests(${name}_test TEST_PREFIX "${name}/" ${quick} PROPERTIES LABELS unit
                       DISCOVERY_TIMEOUT 60)
endfunction()

# haichi_library(NAME [IN folder] [DEPENDS folder...] [LIBS library...] [SLOW pattern...]): static
# library haichi_NAME from src/NAME/*.cpp (or of `folder` there) without *_test.cpp, and the test
# program NAME_test from its *_test.cpp, of which a pattern names those that --quick leaves out.
function(haichi_library name)
  cmake_parse_arguments(ARG "" "IN" "DEPENDS;LIBS;SLOW" ${ARGN})
  set(dir ${CMAKE_SOURCE_DIR}/src/${name})
  if(ARG_IN)
    set(dir ${CMAKE_SOURCE_DIR}/src/${ARG_IN})
  endif()
  file(GLOB sources CONFIGURE_DEPENDS ${dir}/*.cpp)
  file(GLOB tests CONFIGURE_DEPENDS ${dir}/*_test.cpp)
  list(REMOVE_ITEM sources ${tests} "")
  if(sources)
    add_library(haichi_${name} STATIC ${sources})
    haichi_precompiled(haichi_${name} haichi_base)
    set(scope PUBLIC)
  else()
    add_library(haichi_${name} INTERFACE)
    set(scope INTERFACE)
  endif()
  target_link_libraries(haichi_${name} ${scope} haichi_options ${ARG_LIBS})
  foreach(dependency IN LISTS ARG_DEPENDS)
    target_link_libraries(haichi_${name} ${scope} haichi_${dependency})
  endforeach()
  if(HAICHI_TESTS AND tests)
    add_executable(${name}_test ${tests})
    haichi_precompiled(${name}_test base_test <gmock/gmock.h> <gtest/gtest.h>)
    target_link_libraries(${name}_test PRIVATE haichi_${name} haichi_test_support GTest::gmock
                          GTest::gtest_main)
    haichi_unit_tests(${name} SLOW ${ARG_SLOW})
  endif()
endfunction()
