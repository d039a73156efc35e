#include "base/lustre.h"

#include <dlfcn.h>
#include <sys/vfs.h>

namespace haichi {
namespace {

constexpr int64_t kLustreMagic = 0x0BD00BD0;  // statfs(2)
// Larger values are the library's names for "default" and "as many as there are".
constexpr uint64_t kMostUnit = uint64_t{1} << 40;
constexpr uint64_t kMostServers = 1 << 20;
constexpr uint32_t kUseLast = 2;  // LLAPI_LAYOUT_COMP_USE_LAST

struct Library {
  void* (*layout_of)(int fd, uint32_t flags) = nullptr;
  int (*count_of)(const void* layout, uint64_t* count) = nullptr;
  int (*unit_of)(const void* layout, uint64_t* unit) = nullptr;
  void (*release)(void* layout) = nullptr;
  int (*use_component)(void* layout, uint32_t which) = nullptr;  // since Lustre 2.11

  Library() {
    void* const library = dlopen("liblustreapi.so.1", RTLD_LAZY | RTLD_LOCAL);
    if (!library) return;
    find(library, "llapi_layout_stripe_count_get", count_of);
    find(library, "llapi_layout_stripe_size_get", unit_of);
    find(library, "llapi_layout_free", release);
    find(library, "llapi_layout_comp_use", use_component);
    if (count_of && unit_of && release) find(library, "llapi_layout_get_by_fd", layout_of);
  }

 private:
  template <class Function>
  static void find(void* library, const char* name, Function& function) {
    function = reinterpret_cast<Function>(dlsym(library, name));
  }
};

}  // namespace

std::optional<Striping> lustre_striping(int fd) {
  struct statfs system;
  if (fstatfs(fd, &system) != 0 || int64_t(system.f_type) != kLustreMagic) return std::nullopt;
  static const Library library;
  void* const layout = library.layout_of ? library.layout_of(fd, 0) : nullptr;
  if (!layout) return std::nullopt;
  if (library.use_component) library.use_component(layout, kUseLast);
  uint64_t unit = 0, count = 0;
  const bool told = library.unit_of(layout, &unit) == 0 && library.count_of(layout, &count) == 0;
  library.release(layout);
  if (!told || unit == 0 || count == 0 || unit > kMostUnit || count > kMostServers)
    return std::nullopt;
  return Striping{int64_t(unit), int64_t(count)};
}

}  // namespace haichi
