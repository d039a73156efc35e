// haichi-numaio turns FOLDER: several processes read one file that is not cached, each all of it,
// all from its beginning as they would by themselves, or in turns (numaio/file_io.h). Both
// alternately; for each round a JSON object with the time until the last one is done, and what
// storage gave.
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <span>

#include "base/clock.h"
#include "base/process_io.h"
#include "base/settings.h"
#include "numaio/file_io.h"
#include "numaio/run/commands.h"

namespace haichi::numaio {
namespace {

struct Asked {
  std::string folder, size = "1g";
  int processes = 4, rounds = 3;
};

// What the children tell, in memory that they share with us.
struct Told {
  int64_t storage_bytes;
  int64_t got;
};

constexpr int64_t kChunk = 1 << 20;  // what a program reads at a time

int64_t read_in_chunks(int fd, char* data, int64_t bytes) {
  for (int64_t done = 0; done < bytes;) {
    const ssize_t got = pread(fd, data + done, size_t(std::min(kChunk, bytes - done)), done);
    if (got <= 0) return done;
    done += got;
  }
  return bytes;
}

Result<Descriptor> make_file(const Asked& asked, int64_t bytes) {
  auto made = nameless_file(asked.folder);
  if (!made) return made;
  const int fd = made->get();
  const std::string data(size_t(kChunk), 'x');
  for (int64_t done = 0; done < bytes; done += kChunk)
    if (auto written = write_fully(real_os(), fd, std::as_bytes(std::span(data)), done); !written)
      return fail(written.error().code, "{}: {}", asked.folder, written.error().text);
  fsync(fd);
  return made;
}

Result<nlohmann::ordered_json> round_of(const Asked& asked, int fd, int64_t bytes, bool turns) {
  const auto shared = mmap(nullptr, sizeof(Told) * size_t(asked.processes), PROT_READ | PROT_WRITE,
                           MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) return fail(errno, "no memory: {}", strerror(errno));
  auto* const told = static_cast<Told*>(shared);
  posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
  int start[2];
  if (pipe2(start, O_CLOEXEC) != 0) return fail(errno, "no pipe: {}", strerror(errno));
  std::vector<pid_t> children;
  for (int number = 0; number < asked.processes; ++number) {
    const pid_t child = fork();
    if (child == 0) {
      close(start[1]);
      auto* const data = static_cast<char*>(malloc(size_t(bytes)));
      char none;
      if (data == nullptr || read(start[0], &none, 1) != 0) _exit(1);
      const auto before = process_io();
      told[number].got = turns ? pread_turn(real_os(), fd, data, bytes, 0, number, asked.processes)
                               : read_in_chunks(fd, data, bytes);
      const auto after = process_io();
      told[number].storage_bytes = before && after ? after->read_bytes - before->read_bytes : 0;
      _exit(0);
    }
    if (child > 0) children.push_back(child);
  }
  usleep(20'000);  // all of them wait at the pipe
  const int64_t begin = now_ns();
  close(start[1]);
  for (const pid_t child : children) waitpid(child, nullptr, 0);
  const double seconds = double(now_ns() - begin) / 1e9;
  close(start[0]);
  int64_t storage = 0, whole = 0;
  for (int number = 0; number < asked.processes; ++number) {
    storage += told[number].storage_bytes;
    whole += told[number].got == bytes;
  }
  munmap(shared, sizeof(Told) * size_t(asked.processes));
  if (whole < asked.processes) return fail(EIO, "a process did not read all of the file");
  return nlohmann::ordered_json{{"way", turns ? "turns" : "plain"},
                                {"processes", asked.processes},
                                {"bytes", bytes},
                                {"seconds", seconds},
                                {"storage_bytes", storage}};
}

}  // namespace

int turns_command(const Words& words) {
  Asked asked;
  CLI::App app("Several processes that read one cold file, plainly and in turns.",
               "haichi-numaio turns");
  app.add_option("folder", asked.folder, "Where the file is made")->required();
  app.add_option("--size", asked.size, "Of the file")->capture_default_str();
  app.add_option("--processes", asked.processes, "How many")
      ->check(CLI::Range(1, 256))
      ->capture_default_str();
  app.add_option("--rounds", asked.rounds, "Of each way")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  if (const int code = parse_words(app, words); code >= 0) return code;
  const auto size = parse_bytes(asked.size);
  if (!size || *size < kChunk) return refuse(kUsage, "turns: --size takes 1m and more");
  const int64_t bytes = *size / kChunk * kChunk;
  const auto fd = make_file(asked, bytes);
  if (!fd) return refuse(kBadInput, "turns: " + fd.error().text);
  for (int round = 0; round < 2 * asked.rounds; ++round) {
    const auto done = round_of(asked, fd->get(), bytes, round % 2 == 1);
    if (!done) return refuse(kFailed, "turns: " + done.error().text);
    printf("%s\n", done->dump().c_str());
    fflush(stdout);
  }
  return 0;
}

}  // namespace haichi::numaio
