// What the MPI library says of itself, fit to stand in a JSON string.
#pragma once

#include <mpi.h>
#include <string.h>

// Its first line, without quotes and what follows them.
static inline const char* library_name(char name[MPI_MAX_LIBRARY_VERSION_STRING]) {
  int length = 0;
  MPI_Get_library_version(name, &length);
  name[strcspn(name, "\n\"\\")] = '\0';
  for (char* c = name; *c; ++c)
    if (*c == '\t') *c = ' ';
  return name;
}
