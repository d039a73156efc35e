# haichi-where-<flavour>: a plain MPI program that prints the placement of its job, one for each
# MPI, started by `haichi where`. It shares job/discover.cpp and the table real() with the shims.
find_path(HAICHI_HWLOC_INCLUDE hwloc.h)
# Debian keeps what its header includes in a folder for the processor's architecture.
find_path(HAICHI_HWLOC_CONFIG_INCLUDE hwloc/autogen/config.h)
find_library(HAICHI_HWLOC_LIBRARY hwloc)
if(NOT HAICHI_HWLOC_INCLUDE OR NOT HAICHI_HWLOC_CONFIG_INCLUDE OR NOT HAICHI_HWLOC_LIBRARY)
  message(FATAL_ERROR "hwloc is missing: ./haichi build installs it, or apt install libhwloc-dev")
endif()

set(hardware ${CMAKE_SOURCE_DIR}/src/placement/hwloc)
add_library(haichi_hardware STATIC ${hardware}/hardware.cpp ${hardware}/where_table.cpp)
target_include_directories(haichi_hardware SYSTEM PRIVATE ${HAICHI_HWLOC_INCLUDE}
                           ${HAICHI_HWLOC_CONFIG_INCLUDE})
target_link_libraries(haichi_hardware PUBLIC haichi_placement ${HAICHI_HWLOC_LIBRARY})
if(HAICHI_TESTS)
  add_executable(hardware_test ${hardware}/hardware_test.cpp ${hardware}/where_table_test.cpp)
  target_link_libraries(hardware_test PRIVATE haichi_hardware GTest::gmock
                        GTest::gtest_main)
  gtest_discover_tests(hardware_test TEST_PREFIX "hardware/" PROPERTIES LABELS unit)
endif()

find_package(CLI11 REQUIRED)
foreach(flavour IN LISTS HAICHI_MPI_FLAVOURS)
  set(generated ${CMAKE_BINARY_DIR}/src/preload/${flavour}/generated)
  add_library(haichi_discover_${flavour} STATIC job/discover.cpp job/node_address.cpp
              compat/library_version.cpp compat/handles.cpp compat/fjmpi.cpp
              ${CMAKE_SOURCE_DIR}/src/preload/library.cpp ${generated}/real.cpp)
  set_source_files_properties(${generated}/real.cpp PROPERTIES GENERATED TRUE)
  add_dependencies(haichi_discover_${flavour} haichi_generated_${flavour}_files)
  target_compile_definitions(haichi_discover_${flavour} PRIVATE HAICHI_FLAVOUR=${flavour}
                             HAICHI_FLAVOUR_NAME="${flavour}")
  target_link_libraries(haichi_discover_${flavour} PUBLIC
                        haichi_generated_${flavour} haichi_placement
                        ${HAICHI_MPI_${flavour}_LIBRARY} ${CMAKE_DL_LIBS})

  add_executable(haichi-where-${flavour} job/where.cpp)
  target_link_libraries(haichi-where-${flavour} PRIVATE haichi_discover_${flavour} haichi_hardware
                        CLI11::CLI11)
  if(HAICHI_TESTS)  # started by tests/cli/test_where.py
    add_executable(discover-test-${flavour} job/discover_test.cpp)
    target_link_libraries(discover-test-${flavour} PRIVATE haichi_discover_${flavour})
  endif()
endforeach()
