#include "mpi/job/machine_search.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <tuple>

#include "base/log.h"
#include "base/os.h"
#include "base/trust.h"
#include "machine/match.h"
#include "mpi/job/machine_signature.h"

namespace haichi::mpi {
namespace {

constexpr size_t kMostFiles = 64;  // of a folder
constexpr int kMostEntries = 4096;
constexpr int64_t kMostBytes = 1 << 20;

std::string from_environment(const char* name) {
  const char* const value = getenv(name);
  return value ? value : "";
}

// Of the tree PREFIX/lib/haichi/lib/libhaichi-….so, as packaging/CMakeLists.txt lays it out.
std::string installed_folder() {
  Dl_info self = {};
  if (dladdr(reinterpret_cast<const void*>(&machine_folders), &self) == 0 || !self.dli_fname)
    return "";
  const std::string library(self.dli_fname);
  constexpr std::string_view kInTree = "/lib/haichi/lib/";
  const size_t at = library.rfind(kInTree);
  if (at == library.npos || library.find('/', at + kInTree.size()) != library.npos) return "";
  return library.substr(0, at) + "/share/haichi/machines";
}

std::vector<std::string> profiles_in(const std::string& folder) {
  std::vector<std::string> names;
  const std::unique_ptr<DIR, int (*)(DIR*)> entries(opendir(folder.c_str()), closedir);
  for (int seen = 0; entries && seen < kMostEntries; ++seen) {
    const dirent* const entry = readdir(entries.get());
    if (!entry) break;
    const std::string_view name(entry->d_name);
    if (name.ends_with(".json") && name[0] != '.') names.emplace_back(name);
  }
  std::sort(names.begin(), names.end());
  if (names.size() > kMostFiles) {
    log(LogLevel::warn, "{} has {} profiles of machines: only the first {} are looked at", folder,
        names.size(), kMostFiles);
    names.resize(kMostFiles);
  }
  return names;
}

/// The text of a file that may be obeyed.
Result<std::string> trusted_text(const struct stat& around, const std::string& path) {
  return read_file(path, kMostBytes, O_NOFOLLOW, [&](const struct stat& file) -> Status {
    const uid_t owner = file.st_uid == 0 ? 0 : geteuid();
    const std::string why = distrusted(around, file, file, owner);
    if (why.empty()) return {};
    return fail(EPERM, "{}: {}", path, why);
  });
}

struct Candidate {
  std::string path, text;
  machine::Profile profile;
  machine::Match match;
  size_t folder;

  bool better_than(const Candidate& other) const {
    return std::tuple(match.agreements, -int64_t(folder), std::string_view(profile.made)) >
           std::tuple(other.match.agreements, -int64_t(other.folder),
                      std::string_view(other.profile.made));
  }
};

}  // namespace

std::vector<MachineFolder> machine_folders() {
  std::vector<MachineFolder> folders;
  const std::string home = from_environment("HOME"), data = from_environment("XDG_DATA_HOME");
  if (data.starts_with('/'))
    folders.push_back({data + "/haichi/machines"});
  else if (home.starts_with('/'))
    folders.push_back({home + "/.local/share/haichi/machines"});
  folders.push_back({"/etc/haichi/machines"});
  if (std::string installed = installed_folder(); !installed.empty())
    folders.push_back({std::move(installed), true});
  return folders;
}

FoundMachine find_machine(const std::vector<MachineFolder>& folders,
                          const placement::Placement& world) {
  std::optional<Candidate> best;
  std::optional<machine::Signature> here;
  std::string other;  // why the first one that could be read does not fit
  for (size_t f = 0; f < folders.size(); ++f) {
    struct stat around = {};
    if (stat(folders[f].path.c_str(), &around) != 0) continue;
    for (const std::string& name : profiles_in(folders[f].path)) {
      const std::string path = folders[f].path + "/" + name;
      auto text = trusted_text(around, path);
      auto profile = text ? machine::parse_profile(*text) : tl::unexpected<Error>(text.error());
      if (!profile) {
        log(LogLevel::warn, "a profile of a machine is ignored: {}",
            text ? fmt::format("{}: {}", path, profile.error().text) : profile.error().text);
        continue;
      }
      if (!here) here = signature_of(world);
      machine::Match match = machine::match(profile->signature, *here);
      if (!match.fits() && other.empty()) other = fmt::format("{}: {}", path, match.difference);
      if (!match.fits() || !match.telling || (folders[f].exact && !match.exact)) continue;
      Candidate candidate{path, *std::move(text), *std::move(profile), std::move(match), f};
      if (!best || candidate.better_than(*best)) best = std::move(candidate);
    }
  }
  if (best)
    return {std::move(best->path), std::move(best->text), std::move(best->profile),
            best->match.exact ? "it was measured on these nodes" : "its signature fits"};
  return {"", "", {}, other.empty() ? "none was found" : "none that was found is of it: " + other};
}

}  // namespace haichi::mpi
