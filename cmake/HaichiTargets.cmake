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

# haichi_library(NAME [DEPENDS folder...]): static library haichi_NAME from src/NAME/*.cpp without
# *_test.cpp, and the test program NAME_test from src/NAME/*_test.cpp.
function(haichi_library name)
  cmake_parse_arguments(ARG "" "" "DEPENDS;LIBS" ${ARGN})
  set(dir ${CMAKE_SOURCE_DIR}/src/${name})
  file(GLOB sources CONFIGURE_DEPENDS ${dir}/*.cpp)
  file(GLOB tests CONFIGURE_DEPENDS ${dir}/*_test.cpp)
  list(REMOVE_ITEM sources ${tests} "")
  if(sources)
    add_library(haichi_${name} STATIC ${sources})
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
    target_link_libraries(${name}_test PRIVATE haichi_${name} haichi_test_support GTest::gmock
                          GTest::gtest_main)
    gtest_discover_tests(${name}_test TEST_PREFIX "${name}/" PROPERTIES LABELS unit
                         DISCOVERY_TIMEOUT 60)
  endif()
endfunction()
