#include "preload/library.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

namespace haichi::preload {
namespace {

constexpr const char* abi_names[] = {"MPICH", "Open MPI", "the MPI standard ABI",
                                     "an MPI that haichi does not know"};
constexpr Abi this_abi = Abi::HAICHI_FLAVOUR;

// Objects that may be an MPI library, by their file names. A few at most: libmpi, libmpi_mpifh,
// libmpichfort, libmpi_cray, ... Those that are not, lead to the one that is.
struct Candidates {
  static constexpr int room = 16;
  const char* paths[room];
  int count;
};

int add_candidate(dl_phdr_info* object, size_t, void* data) {
  auto* found = static_cast<Candidates*>(data);
  if (strncmp(basename(object->dlpi_name), "libmpi", 6) == 0 && found->count < Candidates::room) {
    found->paths[found->count++] = object->dlpi_name;
  }
  return 0;
}

// What a loaded object calls itself. Its file name will not do: libmpi.so may be opened by that
// name, and a link of another name may lead to it.
const char* soname_of(const link_map& object) {
  const char* strings = nullptr;
  ElfW(Xword) offset = 0;
  for (const ElfW(Dyn)* entry = object.l_ld; entry->d_tag != DT_NULL; ++entry) {
    if (entry->d_tag == DT_STRTAB) strings = reinterpret_cast<const char*>(entry->d_un.d_ptr);
    if (entry->d_tag == DT_SONAME) offset = entry->d_un.d_val;
  }
  return strings && offset ? strings + offset : basename(object.l_name);
}

Abi abi_of(void* handle, const char* soname) {
  if (strncmp(soname, "libmpi_abi.so", 13) == 0) return Abi::mpiabi;
  if (dlsym(handle, "ompi_mpi_comm_world")) return Abi::openmpi;
  // The MPICH ABI Compatibility Initiative fixes the number: MPICH, Intel MPI, MVAPICH, Cray.
  const char* version = strstr(soname, ".so.");
  return version && strcmp(version, ".so.12") == 0 ? Abi::mpich : Abi::unknown;
}

void say(const char* why, const char* what, const char* rest) {
  char line[512];
  const int length =
      snprintf(line, sizeof line, "haichi: libhaichi-%s.so is for %s, but this process has %s%s%s",
               HAICHI_FLAVOUR_NAME, abi_names[int(this_abi)], why, what, rest);
  if (length > 0) {
    const size_t size = size_t(length) < sizeof line ? size_t(length) : sizeof line - 1;
    [[maybe_unused]] ssize_t written = write(STDERR_FILENO, line, size);
  }
}

// Says what is wrong if the library is another one than the shim is for.
bool fits(const Library& library, const char* rest) {
  char what[160];
  if (*library.soname == 0) {
    say("no MPI library that haichi can find", "", rest);
    return false;
  }
  if (library.abi != this_abi) {
    snprintf(what, sizeof what, " (%s)", library.soname);
    say(abi_names[int(library.abi)], what, rest);
    return false;
  }
  for (const char* const* name = exported_names; *name; ++name) {
    if (dlsym(library.handle, *name)) continue;
    snprintf(what, sizeof what, " (%s has no %s)", library.soname, *name + 1);
    say("an older one", what, rest);
    return false;
  }
  return true;
}

}  // namespace

Library find_library() {
  Candidates candidates{};
  dl_iterate_phdr(add_candidate, &candidates);
  for (int i = 0; i < candidates.count; ++i) {
    void* handle = dlopen(candidates.paths[i], RTLD_LAZY | RTLD_NOLOAD);
    void* probe = handle ? dlsym(handle, "PMPI_Get_version") : nullptr;
    Dl_info where;
    link_map* object = nullptr;
    if (!probe || !dladdr1(probe, &where, reinterpret_cast<void**>(&object), RTLD_DL_LINKMAP)) {
      if (handle) dlclose(handle);
      continue;
    }
    // libmpichfort has the symbol through libmpich: keep the one that defines it, for good.
    void* library = dlopen(object->l_name, RTLD_LAZY | RTLD_NOLOAD);
    dlclose(handle);
    if (!library) continue;
    const char* soname = soname_of(*object);
    return Library{library, soname, abi_of(library, soname)};
  }
  return Library{nullptr, "", Abi::unknown};
}

bool say_whether_it_fits(const Library& library) {
  return fits(library, "; it runs without haichi: \"haichi run\" would choose the right library\n");
}

void require_fit(const Library& library) {
  const char* const rest =
      ": start the program with \"haichi run\", which chooses the right library\n";
  if (!fits(library, rest)) _exit(refused);
}

Library require_library() {
  const Library library = find_library();
  require_fit(library);
  return library;
}

void* library_symbol(const Library& library, const char* name) {
  return dlsym(library.handle, name);
}

void* next_symbol(const Library& library, const char* name) {
  void* next = dlsym(RTLD_NEXT, name);
  return next ? next : dlsym(library.handle, name);
}

}  // namespace haichi::preload
