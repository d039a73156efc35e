// Where the dynamic loader would find a library: the rules of ld.so(8), without starting it.
//
// ldd answers the same question by running the program's loader, in three processes and 10 ms; a
// launcher that starts on 10,000 ranks at once has neither. Left out on purpose: the glibc-hwcaps
// subdirectories of search paths (variants of a library have its soname, which is all that counts
// here) and audit modules.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "launch/elf.h"
#include "launch/environment.h"

namespace haichi::launch {

/// What the loader would look into. The paths are parameters for the sake of tests.
struct LoaderPaths {
  std::string cache = "/etc/ld.so.cache";
  std::vector<std::string> defaults = default_directories();

  static std::vector<std::string> default_directories();
};

/// One object of a program: the program itself or a library, with what asked for it.
struct LoadedObject {
  std::string path;
  const ElfFile& file;
  const LoadedObject* needed_by = nullptr;
};

class Loader {
 public:
  explicit Loader(const Environment& environment, LoaderPaths paths = {});

  /// The file that `name` (DT_NEEDED of `requester`, or an argument of dlopen) would be; empty if
  /// none is found. A file for another kind of machine is passed over, as the loader does.
  std::string find(std::string_view name, const LoadedObject& requester) const;

  /// Calls `visit(name, requester)` for every name that the program at `path`, and what it needs,
  /// asks for: breadth first, each name once, until a visit returns true. Libraries that are not
  /// found are passed over. Returns whether a visit returned true.
  bool walk(const std::string& path, const ElfFile& file,
            const std::function<bool(std::string_view, const LoadedObject&)>& visit) const;

 private:
  std::string find_in(std::string_view list, std::string_view name,
                      const LoadedObject& requester) const;
  std::string find_in_cache(std::string_view name) const;

  std::string library_path_;
  LoaderPaths paths_;
};

/// The values that a cache file of ldconfig(8) holds for a library's name, best first.
std::vector<std::string> cache_lookup(std::string_view cache, std::string_view name);

}  // namespace haichi::launch
