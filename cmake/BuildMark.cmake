# "generated/build_mark.h", by haichi_marked(TARGET): a symbol whose name says of which build a preload object is, as
# far as objects that stand in one process have to agree: how they are framed, and what ranks tell one another at the
# start. A recorder beside a shim of another build is left out (src/recorder/beside_shim.h, src/launch/preload.h).
file(GLOB marked CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/preload/*.* ${CMAKE_SOURCE_DIR}/src/recorder/functions.txt
     ${CMAKE_SOURCE_DIR}/src/mpi/compat/handles.* ${CMAKE_SOURCE_DIR}/src/mpi/job/roll_call.*)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${marked})
set(HAICHI_BUILD_MARK "${PROJECT_VERSION}")
foreach(file IN LISTS marked)
  file(SHA256 ${file} hash)
  string(APPEND HAICHI_BUILD_MARK ${hash})
endforeach()
string(SHA256 HAICHI_BUILD_MARK "${HAICHI_BUILD_MARK}")
string(SUBSTRING ${HAICHI_BUILD_MARK} 0 16 HAICHI_BUILD_MARK)
configure_file(${CMAKE_SOURCE_DIR}/cmake/build_mark.h.in ${CMAKE_BINARY_DIR}/src/mark/generated/build_mark.h @ONLY)

function(haichi_marked target)
  target_include_directories(${target} PRIVATE ${CMAKE_BINARY_DIR}/src/mark)
endfunction()
