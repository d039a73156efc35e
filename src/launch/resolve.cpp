#include "launch/resolve.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "launch/paths.h"
#include "launch/python_mpi.h"

namespace haichi::launch {
namespace {

// The kernel follows this many scripts whose interpreter is a script.
constexpr int kMaxInterpreters = 5;
// The kernel reads this much of a script's first line.
constexpr size_t kShebangBytes = 256;

// Programs that are no MPI programs and are run to start one. Scripts count as such without being
// listed.
constexpr std::string_view kStarters[] = {
    "sh",       "bash",       "dash",    "zsh",    "ksh",     "mksh",    "csh",
    "tcsh",     "fish",       "busybox", "env",    "nice",    "nohup",   "setsid",
    "stdbuf",   "time",       "timeout", "chrt",   "ionice",  "taskset", "prlimit",
    "numactl",  "hwloc-bind", "perf",    "strace", "ltrace",  "gdb",     "gdbserver",
    "valgrind", "rr",         "perl",    "ruby",   "lua",     "tclsh",   "julia",
    "R",        "octave",     "xterm",   "script", "unshare", "setarch", "catchsegv",
};

// 0 if `path` is a file that may be executed, else the errno of execve.
int executable_error(const std::string& path) {
  struct stat info;
  if (stat(path.c_str(), &info) != 0) return errno;
  if (!S_ISREG(info.st_mode)) return EACCES;
  return access(path.c_str(), X_OK) == 0 ? 0 : errno;
}

bool is_directory(const std::string& path) {
  struct stat info;
  return stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode);
}

std::string read_head(const std::string& path) {
  char head[kShebangBytes];
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return {};
  const ssize_t n = read(fd, head, sizeof head);
  close(fd);
  return std::string(head, n > 0 ? size_t(n) : 0);
}

std::string_view next_word(std::string_view& line) {
  const size_t begin = std::min(line.find_first_not_of(" \t"), line.size());
  line.remove_prefix(begin);
  const std::string_view word = line.substr(0, line.find_first_of(" \t"));
  line.remove_prefix(word.size());
  return word;
}

constexpr std::string_view kForce = "--mpi mpich, --mpi openmpi or --mpi mpiabi";

Result<Choice> starter_choice(const std::string& path, std::string_view what,
                              std::optional<Abi> forced, const Job& job) {
  if (forced) return Choice{*forced, "--mpi"};
  if (job.abi) return Choice{*job.abi, job.launcher};
  return fail(EINVAL, "{} {}, and {}: put {} before it", path, what,
              job.launcher.empty() ? "no launcher's variables say which MPI it will use"
                                   : job.launcher + " starts programs of any MPI",
              kForce);
}

Result<Choice> library_choice(const MpiLibrary& library, std::optional<Abi> forced) {
  const std::string why = fmt::format("{} of {}", library.soname, library.needed_by);
  if (forced && *forced != library.abi)
    return fail(EINVAL, "--mpi {} does not fit: {} needs {}, which is {}", abi_name(*forced),
                library.needed_by, library.soname, abi_name(library.abi));
  return Choice{library.abi, why};
}

Result<Choice> python_choice(const std::string& path, std::optional<Abi> forced, const Job& job,
                             const Environment& environment, const Loader& loader) {
  const auto module = find_python_mpi(path, environment, loader);
  // A Python may well use an MPI that is not seen from here: whoever says --mpi is believed.
  if (forced) return Choice{*forced, "--mpi"};
  if (!module) return tl::unexpected(module.error());
  if (*module) return library_choice(**module, forced);
  return starter_choice(path, "has no mpi4py", forced, job);
}

Result<Choice> elf_choice(const std::string& path, ElfFile file, std::optional<Abi> forced,
                          const Job& job, const Environment& environment, const Loader& loader) {
  const std::string_view name = file_name(path);
  const bool starter =
      std::find(std::begin(kStarters), std::end(kStarters), name) != std::end(kStarters) ||
      is_python(name);
  const bool is_static = !file.has_interpreter();
  auto library = find_mpi(path, file, loader);
  if (!library) return tl::unexpected(library.error());
  if (*library) return library_choice(**library, forced);
  if (is_python(name)) return python_choice(path, forced, job, environment, loader);
  if (!starter && (file.defines("PMPI_Init") || file.defines("MPI_Init")))
    return fail(ENOTSUP,
                "{} has its MPI linked in statically, where no library can be put under it:"
                " link it with the shared MPI library",
                path);
  if (starter || forced) return starter_choice(path, "only starts programs", forced, job);
  if (is_static)
    return fail(EINVAL,
                "{} is statically linked, and nothing in it is called MPI_Init: if it starts "
                "an MPI program, put {} before it",
                path, kForce);
  return fail(EINVAL,
              "{} is not an MPI program, it is linked with no MPI library: if it starts one, "
              "or loads MPI later, put {} before it",
              path, kForce);
}

Result<Choice> choose(const std::string& path, int depth, std::optional<Abi> forced, const Job& job,
                      const Environment& environment, const Loader& loader) {
  const std::string head = read_head(path);
  if (head.starts_with("\x7f"
                       "ELF")) {
    auto file = ElfFile::open(path);
    if (!file) return tl::unexpected(file.error());
    return elf_choice(path, std::move(*file), forced, job, environment, loader);
  }
  const auto shebang = parse_shebang(head);
  // Anything else that may be executed is given to /bin/sh, as execvp(3) does.
  if (!shebang) return starter_choice(path, "is a script", forced, job);
  auto interpreter = shebang->by_env ? find_program(shebang->interpreter, environment)
                                     : Result<std::string>(shebang->interpreter);
  if (!interpreter || executable_error(*interpreter) != 0 || depth == kMaxInterpreters)
    return fail(ENOEXEC, "{}: its interpreter {} can't be executed", path, shebang->interpreter);
  auto choice = choose(*interpreter, depth + 1, forced, job, environment, loader);
  // An interpreter need be no MPI program itself, known or not.
  if (!choice && choice.error().code == EINVAL && !is_python(file_name(*interpreter)))
    return starter_choice(path, "is a script", forced, job);
  return choice;
}

}  // namespace

Result<std::string> find_program(std::string_view program, const Environment& environment) {
  if (program.find('/') != program.npos) {
    const std::string path(program);
    const int error = executable_error(path);
    if (error == 0) return path;
    if (error == ENOENT || error == ENOTDIR) return fail(ENOENT, "{}: no such file", path);
    return fail(EACCES, "{}: {}", path,
                is_directory(path) ? "is a directory" : "is not executable");
  }
  std::string found_but;
  std::string_view list = environment.get("PATH").value_or("/bin:/usr/bin");
  for (bool more = !program.empty(); more;) {
    const size_t colon = list.find(':');
    const std::string_view directory = list.substr(0, colon);
    more = colon != list.npos;
    if (more) list.remove_prefix(colon + 1);
    const std::string path = (directory.empty() ? std::string(".") : std::string(directory)) + "/" +
                             std::string(program);
    const int error = executable_error(path);
    if (error == 0) return path;
    if (error == EACCES && !is_directory(path)) found_but = path;
  }
  if (!found_but.empty()) return fail(EACCES, "{}: is not executable", found_but);
  return fail(ENOENT, "{}: not found in PATH", program);
}

std::optional<Shebang> parse_shebang(std::string_view head) {
  if (!head.starts_with("#!")) return std::nullopt;
  std::string_view line = head.substr(2, head.find('\n') - 2);
  Shebang shebang{std::string(next_word(line)), false};
  if (file_name(shebang.interpreter) != "env") return shebang;
  for (std::string_view word = next_word(line); !word.empty(); word = next_word(line)) {
    if (word.starts_with("-S") && word.size() > 2) word.remove_prefix(2);
    if (word == "-u" || word == "-C") next_word(line);
    if (word.starts_with('-') || word.find('=') != word.npos) continue;
    return Shebang{std::string(word), true};
  }
  return shebang;
}

Result<Choice> choose_abi(const std::string& path, std::optional<Abi> forced, const Job& job,
                          const Environment& environment, const Loader& loader) {
  return choose(path, 0, forced, job, environment, loader);
}

}  // namespace haichi::launch
