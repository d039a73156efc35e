/* What the parts of argument_fuzz share. */
#pragma once

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

extern int rank, ranks;
extern FILE* log_file;
extern const char* folder;

/* The same on all ranks. */
int draw(int below);

/* One line of the log. */
void told(const char* function, const char* what, int code, const void* bytes, size_t size);

#include "argument_fuzz_communicators.h"
#include "argument_fuzz_exchanges.h"
#include "argument_fuzz_files.h"
