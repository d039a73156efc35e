# haichi_generate(LIBRARY FOLDER): the generated part of preload objects, by FOLDER/functions.txt:
# for each of HAICHI_MPI_FLAVOURS the files of src/preload/generate.py, in HAICHI_GENERATED_<FOLDER>_<flavour>,
# and the INTERFACE library LIBRARY_<flavour>: mpi.h of that MPI, "generated/real.h", "generated/hooks.h"
# and a "generated/by_TAKER.h" for each TAKER of functions.txt.
set(HAICHI_PYTHON "" CACHE FILEPATH "Python that has pympistandard, for the wrapper generator")

set(python "")
foreach(candidate "${HAICHI_PYTHON}" ${CMAKE_SOURCE_DIR}/.venv/bin/python python3)
  if(candidate AND NOT python)
    execute_process(COMMAND ${candidate} -c "import pympistandard" RESULT_VARIABLE failed
                    OUTPUT_QUIET ERROR_QUIET)
    if(NOT failed)
      set(python ${candidate})
    endif()
  endif()
endforeach()
if(HAICHI_MPI_FLAVOURS AND NOT python)
  message(FATAL_ERROR "no Python with the package pympistandard, which the MPI wrappers are "
          "generated from: run ./haichi build, or pip install pympistandard and give that "
          "Python with -DHAICHI_PYTHON=PATH")
endif()

set(haichi_generator ${CMAKE_SOURCE_DIR}/src/preload/generate.py)
function(haichi_generate library folder)
  set(listed ${CMAKE_SOURCE_DIR}/src/${folder}/functions.txt)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${listed})
  file(STRINGS ${listed} takers REGEX "^ *hook +[^ ]+ +by +[a-z]")
  list(TRANSFORM takers REPLACE "^ *hook +[^ ]+ +by +([A-Za-z0-9_]+).*$" "by_\\1.h")
  list(REMOVE_DUPLICATES takers)
  foreach(flavour IN LISTS HAICHI_MPI_FLAVOURS)
    set(include ${CMAKE_BINARY_DIR}/src/${folder}/${flavour})
    set(files "")
    foreach(file real.h real.cpp hooks.h ${takers} wrappers.cpp export.map)
      list(APPEND files ${include}/generated/${file})
    endforeach()
    add_custom_command(OUTPUT ${files}
      COMMAND ${python} ${haichi_generator} --functions ${listed}
              --library ${HAICHI_MPI_${flavour}_LIBRARY} --nm ${CMAKE_NM} --out ${include}/generated
      DEPENDS ${haichi_generator} ${listed} ${HAICHI_MPI_${flavour}_LIBRARY}
      COMMENT "Generating the MPI wrappers of ${folder} for ${flavour}" VERBATIM)
    add_custom_target(${library}_${flavour}_files DEPENDS ${files})
    set(HAICHI_GENERATED_${folder}_${flavour} ${files} PARENT_SCOPE)

    add_library(${library}_${flavour} INTERFACE)
    add_dependencies(${library}_${flavour} ${library}_${flavour}_files)
    target_include_directories(${library}_${flavour} INTERFACE ${include})
    # As system headers: an mpi.h must not raise our warnings, nor demand its own exception rules.
    target_include_directories(${library}_${flavour} SYSTEM INTERFACE
                               ${HAICHI_MPI_${flavour}_INCLUDES})
    # Without the old C++ bindings, whose symbols the shim could not resolve.
    target_compile_definitions(${library}_${flavour} INTERFACE
                               OMPI_SKIP_MPICXX MPICH_SKIP_MPICXX ${HAICHI_MPI_${flavour}_DEFINES})
  endforeach()
endfunction()
haichi_generate(haichi_generated preload)
