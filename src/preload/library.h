// Which MPI library is in this process, and whether this shim may work under it.
//
// A shim that is loaded under another MPI ABI does not fail politely: handles are integers in one
// and pointers in another. So the ABI is looked at before anything else is done, at the first
// intercepted call (a Python loads libmpi late, and privately), and a shim that does not fit steps
// aside (preload/entries.h). Nothing here allocates memory, throws, or needs a constructor to have
// run. See docs/adr/0003-one-shim-per-abi.md.
#pragma once

namespace haichi::preload {

enum class Abi { mpich, openmpi, mpiabi, unknown };

/// The MPI library of this process. `handle` is of dlopen and null if there is none; `soname` is
/// what the library calls itself ("libmpi.so.40") and lives as long as the library.
struct Library {
  void* handle;
  const char* soname;
  Abi abi;
};

/// Exit code of a process that a shim refuses (EX_CONFIG of sysexits.h).
constexpr int refused = 78;

/// The functions that this shim exports, as "PMPI_..." names; ends with null. Generated.
extern const char* const exported_names[];

/// The names of functions by the kNumber of their calls ("generated/by_TAKER.h"), those of
/// large-count forms without "_c"; ends with null. Generated.
extern const char* const function_names[];

/// Looks through what is loaded now, with RTLD_LOCAL or not.
Library find_library();

/// True if `library` is of this shim's ABI and has every function that this shim exports. Otherwise
/// one line on standard error, which says that the program goes on without haichi.
bool say_whether_it_fits(const Library& library);

/// The same for who can't step aside: writes the line and ends the process with `refused`, with
/// _exit: no handler of a program that cannot have started MPI has anything to clean up after MPI.
void require_fit(const Library& library);

/// find_library() and require_fit(), for use in an MPI call: no library at all is refused too.
Library require_library();

/// Address of a symbol of the library or of what it depends on, null if there is none.
void* library_symbol(const Library& library, const char* name);

/// The same, but of the next object after this shim that has the symbol if there is one, so that
/// another tool which is preloaded behind this shim sees the call too.
void* next_symbol(const Library& library, const char* name);

}  // namespace haichi::preload
