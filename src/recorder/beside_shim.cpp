#include "recorder/beside_shim.h"

#include <dlfcn.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>

#include <string>

#include "base/log.h"
#include "base/rank_variables.h"
#include "generated/build_mark.h"
#include "mpi/compat/library_version.h"

namespace haichi::recorder {
namespace {

int find_shim(dl_phdr_info* object, size_t, void* data) {
  const std::string shim = fmt::format("libhaichi-{}.so", mpi::kAbi);
  if (shim != basename(object->dlpi_name)) return 0;
  *static_cast<std::string*>(data) = object->dlpi_name;
  return 1;
}

/// As launchers say it; where none does, this process stands for itself.
bool is_first_rank() {
  for (const char* const name : kRankVariables)
    if (const char* const rank = getenv(name)) return strcmp(rank, "0") == 0;
  return true;
}

}  // namespace

bool fits_beside_shim() {
  std::string path;
  if (dl_iterate_phdr(find_shim, &path) == 0) return true;
  void* const shim = dlopen(path.c_str(), RTLD_LAZY | RTLD_NOLOAD);
  const bool fits = shim != nullptr && dlsym(shim, HAICHI_BUILD_MARK_NAME) != nullptr;
  if (shim != nullptr) dlclose(shim);
  if (!fits && is_first_rank())
    log(LogLevel::warn,
        "nothing is recorded: {} is of another build than the recorder; build or install haichi "
        "again as a whole",
        path);
  return fits;
}

}  // namespace haichi::recorder
