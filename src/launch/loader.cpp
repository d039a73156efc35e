#include "launch/loader.h"

#include <string.h>
#include <unistd.h>

#include <algorithm>
#include <deque>
#include <set>

#include "base/os.h"
#include "launch/paths.h"

namespace haichi::launch {
namespace {

#if defined(__x86_64__)
constexpr std::string_view kMultiarch = "x86_64-linux-gnu";
#elif defined(__aarch64__)
constexpr std::string_view kMultiarch = "aarch64-linux-gnu";
#elif defined(__powerpc64__)
constexpr std::string_view kMultiarch = "powerpc64le-linux-gnu";
#elif defined(__riscv)
constexpr std::string_view kMultiarch = "riscv64-linux-gnu";
#endif

constexpr std::string_view kCacheMagic = "glibc-ld.so.cache1.1";

// The file of ldconfig since glibc 2.2 (sysdeps/generic/dl-cache.h). Offsets of strings count from
// the header.
struct CacheHeader {
  char magic[20];
  uint32_t entries;
  uint32_t strings_size;
  uint32_t unused[5];
};
struct CacheEntry {
  int32_t flags;
  uint32_t key;
  uint32_t value;
  uint32_t os_version;
  uint64_t hardware;
};
static_assert(sizeof(CacheHeader) == 48 && sizeof(CacheEntry) == 24);

std::string directory_of(const std::string& path) {
  const size_t slash = path.rfind('/');
  if (slash == path.npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (size_t at = text.find(from); at != text.npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
}

// Replaces $ORIGIN, $LIB and $PLATFORM (ld.so(8), "Dynamic string tokens"). Distributions disagree
// about $LIB: the caller tries what Debian has, the multiarch directory, and `lib64`.
std::string expand(std::string_view text, const std::string& object, std::string_view lib) {
  std::string result(text);
  if (result.find('$') == result.npos) return result;
  const std::string origin = directory_of(real_path(object));
  for (const char* form : {"${ORIGIN}", "$ORIGIN"}) replace_all(result, form, origin);
  for (const char* form : {"${LIB}", "$LIB"}) replace_all(result, form, lib);
  for (const char* form : {"${PLATFORM}", "$PLATFORM"})
    replace_all(result, form, kMultiarch.substr(0, kMultiarch.find('-')));
  return result;
}

bool loadable(const std::string& path) {
  return access(path.c_str(), R_OK) == 0 && ElfFile::open(path).has_value();
}

}  // namespace

std::vector<std::string> LoaderPaths::default_directories() {
  const std::string multiarch(kMultiarch);
  return {"/lib/" + multiarch, "/usr/lib/" + multiarch, "/lib64", "/usr/lib64", "/lib", "/usr/lib"};
}

Loader::Loader(const Environment& environment, LoaderPaths paths)
    : library_path_(environment.get_or("LD_LIBRARY_PATH", "")), paths_(std::move(paths)) {}

std::string Loader::find(std::string_view name, const LoadedObject& requester) const {
  if (name.find('/') != name.npos) {
    const std::string path = expand(name, requester.path, "lib/" + std::string(kMultiarch));
    return loadable(path) ? path : std::string();
  }
  // DT_RPATH counts along the whole chain of who needed whom, but only where there is no RUNPATH.
  if (requester.file.runpath().empty()) {
    for (const LoadedObject* object = &requester; object; object = object->needed_by) {
      if (!object->file.runpath().empty()) continue;
      if (auto found = find_in(object->file.rpath(), name, *object); !found.empty()) return found;
    }
  }
  if (auto found = find_in(library_path_, name, requester); !found.empty()) return found;
  if (auto found = find_in(requester.file.runpath(), name, requester); !found.empty()) return found;
  if (auto found = find_in_cache(name); !found.empty()) return found;
  for (const std::string& directory : paths_.defaults)
    if (std::string path = directory + "/" + std::string(name); loadable(path)) return path;
  return {};
}

std::string Loader::find_in(std::string_view list, std::string_view name,
                            const LoadedObject& requester) const {
  while (!list.empty()) {
    const size_t end = list.find_first_of(":;");
    const std::string_view word = list.substr(0, end);
    list.remove_prefix(end == list.npos ? list.size() : end + 1);
    for (const std::string& lib : {"lib/" + std::string(kMultiarch), std::string("lib64")}) {
      // An empty entry is the working directory.
      const std::string directory = word.empty() ? "." : expand(word, requester.path, lib);
      const std::string path = directory + "/" + std::string(name);
      if (loadable(path)) return path;
      if (word.find("$LIB") == word.npos && word.find("${LIB}") == word.npos) break;
    }
  }
  return {};
}

std::string Loader::find_in_cache(std::string_view name) const {
  auto cache = read_file(paths_.cache);
  if (!cache) return {};
  for (const std::string& path : cache_lookup(*cache, name))
    if (loadable(path)) return path;
  return {};
}

bool Loader::walk(const std::string& path, const ElfFile& file,
                  const std::function<bool(std::string_view, const LoadedObject&)>& visit) const {
  std::deque<ElfFile> libraries;  // both grow at their ends only: references stay valid
  std::deque<LoadedObject> objects;
  std::set<std::string, std::less<>> seen;
  objects.push_back({path, file, nullptr});
  for (size_t i = 0; i < objects.size(); ++i) {
    for (const std::string_view name : objects[i].file.needed()) {
      if (!seen.emplace(name).second) continue;
      if (visit(name, objects[i])) return true;
      const std::string found = find(name, objects[i]);
      if (found.empty()) continue;
      auto library = ElfFile::open(found);
      if (!library) continue;
      libraries.push_back(std::move(*library));
      objects.push_back({found, libraries.back(), &objects[i]});
    }
  }
  return false;
}

std::vector<std::string> cache_lookup(std::string_view cache, std::string_view name) {
  // Older ldconfigs put a table of their own before this header.
  const size_t start = cache.find(kCacheMagic);
  if (start == cache.npos) return {};
  cache.remove_prefix(start);
  CacheHeader header;
  if (cache.size() < sizeof header) return {};
  memcpy(&header, cache.data(), sizeof header);
  if (header.entries > (cache.size() - sizeof header) / sizeof(CacheEntry)) return {};
  const auto text_at = [&](uint32_t offset) -> std::string_view {
    if (offset >= cache.size()) return {};
    return {cache.data() + offset, strnlen(cache.data() + offset, cache.size() - offset)};
  };
  std::vector<std::string> paths;
  for (uint32_t i = 0; i < header.entries; ++i) {
    CacheEntry entry;
    memcpy(&entry, cache.data() + sizeof header + i * sizeof entry, sizeof entry);
    if (text_at(entry.key) == name) paths.emplace_back(text_at(entry.value));
  }
  return paths;
}

}  // namespace haichi::launch
