#include "launch/python_mpi.h"

#include <dirent.h>
#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "base/os.h"
#include "launch/paths.h"

namespace haichi::launch {
namespace {

bool is_directory(const std::string& path) {
  struct stat info;
  return stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode);
}

std::string parent(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == path.npos || slash == 0 ? "/" : path.substr(0, slash);
}

// Names in a directory, sorted, so that the choice does not hang on the file system's order.
std::vector<std::string> list(const std::string& directory) {
  std::vector<std::string> names;
  if (DIR* dir = opendir(directory.c_str())) {
    while (const dirent* entry = readdir(dir)) names.emplace_back(entry->d_name);
    closedir(dir);
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> words;
  while (!text.empty()) {
    const size_t end = text.find(separator);
    words.emplace_back(text.substr(0, end));
    text.remove_prefix(end == text.npos ? text.size() : end + 1);
  }
  return words;
}

// The value of `key = value` in pyvenv.cfg.
std::string config_value(std::string_view text, std::string_view key) {
  for (const std::string& line : split(text, '\n')) {
    const size_t equals = line.find('=');
    if (equals == line.npos) continue;
    const auto trim = [](std::string_view word) {
      while (!word.empty() && word.front() == ' ') word.remove_prefix(1);
      while (!word.empty() && (word.back() == ' ' || word.back() == '\r')) word.remove_suffix(1);
      return word;
    };
    const std::string_view all(line);
    if (trim(all.substr(0, equals)) == key) return std::string(trim(all.substr(equals + 1)));
  }
  return {};
}

// "3.11.7" or "3.11.7.final.0" to "3.11".
std::string major_minor(const std::string& version) {
  const auto words = split(version, '.');
  return words.size() < 2 ? std::string() : words[0] + "." + words[1];
}

// From the executable's name (python3.11), or the only lib/python3.* there is.
std::string version_of(const std::string& executable, const std::string& prefix) {
  const size_t at = executable.rfind("python3.");
  if (at != executable.npos) return executable.substr(at + 6);
  std::string version;
  for (const std::string& name : list(prefix + "/lib"))
    if (name.starts_with("python3.")) version = name.substr(6);
  return version;
}

// An installed Python or a virtual environment.
struct Prefixes {
  std::string own;
  std::string base;  ///< equal to `own` outside a virtual environment
  std::string version;
  bool system_site = true;
};

Prefixes prefixes_of(const std::string& interpreter) {
  const std::string real = real_path(interpreter);
  Prefixes p;
  p.base = parent(parent(real));
  for (const std::string& directory : {parent(interpreter), parent(parent(interpreter))}) {
    const auto config = read_file(directory + "/pyvenv.cfg");
    if (!config) continue;
    p.own = directory;
    if (const std::string home = config_value(*config, "home"); !home.empty())
      p.base = parent(real_path(home));
    p.system_site = config_value(*config, "include-system-site-packages") == "true";
    for (const char* key : {"version", "version_info"})
      if (p.version.empty()) p.version = major_minor(config_value(*config, key));
    break;
  }
  if (p.own.empty()) p.own = p.base;
  if (p.version.empty()) p.version = version_of(real, p.base);
  return p;
}

std::string user_base(const Environment& environment) {
  if (const auto base = environment.get_or("PYTHONUSERBASE", ""); !base.empty())
    return std::string(base);
  const auto home = environment.get_or("HOME", "");
  return home.empty() ? std::string() : std::string(home) + "/.local";
}

// A file of mpi4py such as MPI.mpich.cpython-311-x86_64-linux-gnu.so: `abi` is "mpich", or empty.
struct Extension {
  std::string abi;
  std::string path;
};

// Extension modules `module` of `package`'s directory that this version of Python can import.
std::vector<Extension> extensions(const std::string& directory, const std::string& module,
                                  const std::string& version) {
  std::string tag = version;
  std::erase(tag, '.');
  std::vector<Extension> found;
  for (const std::string& name : list(directory)) {
    if (!name.starts_with(module + ".") || !name.ends_with(".so")) continue;
    auto words = split(name, '.');
    words.erase(words.begin());  // the module
    words.pop_back();            // so
    const std::string last = words.empty() ? "" : words.back();
    const bool for_one_version = last.starts_with("cpython-") || last.starts_with("pypy");
    if (for_one_version && last.find("-" + tag + "-") == last.npos && !last.starts_with("pypy"))
      continue;
    if (for_one_version || last == "abi3") words.pop_back();
    if (words.size() <= 1) found.push_back({words.empty() ? "" : words[0], directory + "/" + name});
  }
  return found;
}

// What MPI4PY_MPIABI may say, as mpi4py's _get_mpiabi_from_string reads it.
std::optional<Abi> abi_from_mpi4py(std::string_view text) {
  std::string name;
  for (const char c : text)
    if (c != ' ' && c != '-' && c != '_') name += char(tolower(c));
  return abi_from_name(name == "impi" ? "mpich" : name);
}

// The MPI library that a wheel of mpi4py would load, by its own search; empty if none.
std::string wheel_library(const PythonPlaces& places, const Environment& environment,
                          const LoadedObject& module, const Loader& loader) {
  std::vector<std::string> entries = places.library_path;
  entries.emplace_back();  // the loader's own search
  if (const auto given = environment.get("MPI4PY_LIBMPI")) entries = split(*given, ':');
  for (const std::string& entry : entries) {
    if (!entry.empty() && !is_directory(entry)) {
      if (const std::string path = loader.find(entry, module); !path.empty()) return path;
      continue;
    }
    for (const char* name : {"libmpi.so", "libmpi.so.12", "libmpi.so.40"}) {
      const std::string asked = entry.empty() ? name : entry + "/" + name;
      if (const std::string path = loader.find(asked, module); !path.empty()) return path;
    }
  }
  return {};
}

// The ABI among `modules` (one per ABI) that mpi4py would choose.
Result<std::optional<MpiLibrary>> choose_wheel_abi(const std::vector<Extension>& modules,
                                                   const PythonPlaces& places,
                                                   const Environment& environment,
                                                   const Loader& loader) {
  MpiLibrary library;
  if (const auto given = environment.get("MPI4PY_MPIABI")) {
    const auto abi = abi_from_mpi4py(*given);
    if (!abi) return fail(ENOTSUP, "MPI4PY_MPIABI={} names an MPI that is not supported", *given);
    library.abi = *abi;
    library.soname = "MPI4PY_MPIABI";
  } else {
    auto file = ElfFile::open(modules.front().path);
    if (!file) return tl::unexpected(file.error());
    const LoadedObject module{modules.front().path, *file, nullptr};
    library.path = wheel_library(places, environment, module, loader);
    if (library.path.empty()) return std::nullopt;
    const auto abi = abi_of_library(library.path);
    if (!abi) return fail(abi.error().code, "{} uses {}", module.path, abi.error().text);
    library.abi = *abi;
    library.soname = library.path.substr(library.path.rfind('/') + 1);
  }
  for (const Extension& module : modules) {
    if (abi_from_mpi4py(module.abi) != library.abi) continue;
    library.needed_by = module.path;
    return library;
  }
  return std::nullopt;
}

}  // namespace

bool is_python(std::string_view name) {
  for (const std::string_view stem : {"python", "pypy"})
    if (name.starts_with(stem))
      return name.find_first_not_of("0123456789.", stem.size()) == name.npos;
  return false;
}

PythonPlaces python_places(const std::string& interpreter, const Environment& environment) {
  const Prefixes p = prefixes_of(interpreter);
  const bool virtual_environment = p.own != p.base;
  const std::string lib = "/lib/python" + p.version;
  PythonPlaces places;
  places.version = p.version;
  places.module_path = split(environment.get_or("PYTHONPATH", ""), ':');
  if (virtual_environment) {
    places.module_path.push_back(p.own + lib + "/site-packages");
    places.library_path.push_back(p.own + "/lib");
  }
  if (p.system_site) {
    const std::string user = user_base(environment);
    if (!user.empty() && !environment.has("PYTHONNOUSERSITE")) {
      places.module_path.push_back(user + lib + "/site-packages");
      places.library_path.push_back(user + "/lib");
    }
    // The last three are Debian's.
    for (const std::string& directory :
         {lib + "/site-packages", "/local" + lib + "/dist-packages",
          std::string("/lib/python3/dist-packages"), lib + "/dist-packages"})
      places.module_path.push_back(p.base + directory);
    if (p.base != "/usr") places.library_path.push_back(p.base + "/lib");
  }
  return places;
}

Result<std::optional<MpiLibrary>> find_python_mpi(const std::string& interpreter,
                                                  const Environment& environment,
                                                  const Loader& loader) {
  // h5py comes with mpi4py where it is parallel; Debian's lies in a subdirectory, without need of
  // it.
  constexpr struct {
    const char* package;
    const char* module;
  } kModules[] = {{"mpi4py", "MPI"}, {"h5py", "h5"}, {"h5py/_debian_h5py_mpi", "h5"}};
  const PythonPlaces places = python_places(interpreter, environment);
  for (const auto& [package, module] : kModules) {
    for (const std::string& directory : places.module_path) {
      const auto files = extensions(directory + "/" + package, module, places.version);
      if (files.empty()) continue;
      // A module without an ABI in its name is imported before mpi4py's own finder is asked.
      const auto plain = std::find_if(files.begin(), files.end(),
                                      [](const Extension& file) { return file.abi.empty(); });
      if (plain == files.end()) return choose_wheel_abi(files, places, environment, loader);
      auto elf = ElfFile::open(plain->path);
      if (!elf) return tl::unexpected(elf.error());
      auto found = find_mpi(plain->path, *elf, loader);
      if (!found || *found) return found;
      break;  // the package is the one imported, and it uses no MPI: a serial h5py
    }
  }
  return std::nullopt;
}

}  // namespace haichi::launch
