// haichi-numaio bench FOLDER...: reads, writes and copies by haichi beside the plain calls, in
// turns in one run, so that both have the same machine. One JSON object a line: a ratio above 1 is
// what haichi gains. Rounds in which somebody else had our processors are thrown away.
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <functional>
#include <nlohmann/json.hpp>
#include <span>

#include "base/clock.h"
#include "base/settings.h"
#include "numaio/copy.h"
#include "numaio/engine.h"
#include "numaio/file_io.h"
#include "numaio/host_nodes.h"
#include "numaio/run/commands.h"

namespace haichi::numaio {
namespace {

struct Asked {
  std::vector<std::string> folders;
  std::vector<std::string> sizes = {"64k", "256k", "1m", "4m", "8m", "16m", "64m", "256m"};
  std::vector<std::string> only;
  int rounds = 15;
  double patience = 1.0;  // seconds a case may take
};

// Nanoseconds that the caller of a round waited for its processor.
int64_t waited_ns() {
  FILE* const file = fopen("/proc/thread-self/schedstat", "r");
  long long ran = 0, waited = 0;
  if (file == nullptr) return 0;
  if (fscanf(file, "%lld %lld", &ran, &waited) != 2) waited = 0;
  fclose(file);
  return waited;
}

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::nth_element(values.begin(), values.begin() + long(values.size() / 2), values.end());
  return values[values.size() / 2];
}

struct Case {
  std::string folder, what;
  int64_t bytes;
  bool cold;  // the threads are asleep before each call
  std::function<void()> plain, ours;
};

// Both ways in turns, each first in half of the rounds.
nlohmann::ordered_json measure(const Case& each, const Asked& asked) {
  std::vector<double> plain, ours, ratios;
  constexpr double kDisturbed = 0.05;  // of the time, waiting for a processor
  const auto timed = [&](const std::function<void()>& call, bool& quiet) {
    if (each.cold) usleep(300);
    const int64_t before = waited_ns(), begin = now_ns();
    call();
    const int64_t taken = now_ns() - begin;
    if (double(waited_ns() - before) > kDisturbed * double(taken)) quiet = false;
    return double(taken) / 1e9;
  };
  int threads = 1, thrown = 0;
  std::string why;
  const int64_t end = now_ns() + int64_t(asked.patience * 1e9);
  each.ours();
  const auto least = size_t(asked.rounds);
  for (int round = 0; ratios.size() < least || now_ns() < end; ++round) {
    bool quiet = true;
    const bool first = round % 2 == 0;
    double one = first ? timed(each.plain, quiet) : 0;
    const double two = timed(each.ours, quiet);
    threads = std::max(threads, last().threads);
    why = last().why;
    if (!first) one = timed(each.plain, quiet);
    if (!quiet && thrown < 4 * asked.rounds) {
      ++thrown;
      continue;
    }
    plain.push_back(one);
    ours.push_back(two);
    ratios.push_back(one / two);
  }
  std::vector<double> sorted = ratios;
  std::sort(sorted.begin(), sorted.end());
  return {{"folder", each.folder},
          {"what", each.what},
          {"bytes", each.bytes},
          {"threads_asleep", each.cold},
          {"plain_s", median(plain)},
          {"haichi_s", median(ours)},
          {"ratio", median(plain) / median(ours)},
          {"low", sorted[sorted.size() / 4]},
          {"high", sorted[sorted.size() * 3 / 4]},
          {"rounds", ratios.size()},
          {"thrown_away", thrown},
          {"threads", threads},
          {"how", why}};
}

bool wants(const Asked& asked, const std::string& what) {
  return asked.only.empty() ||
         std::find(asked.only.begin(), asked.only.end(), what) != asked.only.end();
}

class Buffer {
 public:
  explicit Buffer(int64_t bytes) : bytes_(size_t(bytes)) {
    void* const made = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    data_ = made == MAP_FAILED ? nullptr : static_cast<char*>(made);
    if (data_ != nullptr) memset(data_, 7, bytes_);
  }
  ~Buffer() {
    if (data_ != nullptr) munmap(data_, bytes_);
  }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  char* data() const { return data_; }

 private:
  size_t bytes_;
  char* data_;
};

Status write_plain(int fd, const char* data, int64_t bytes) {
  return write_fully(real_os(), fd, std::as_bytes(std::span(data, size_t(bytes))), 0);
}

void read_plain(int fd, char* data, int64_t bytes) {
  const auto all = std::as_writable_bytes(std::span(data, size_t(bytes)));
  static_cast<void>(read_fully(real_os(), fd, all, 0));
}

Status bench_folder(const std::string& folder, const std::vector<int64_t>& sizes,
                    const Asked& asked, const Buffer& memory) {
  const auto a = nameless_file(folder), b = nameless_file(folder), c = nameless_file(folder);
  for (const auto* each : {&a, &b, &c})
    if (!*each) return tl::unexpected(each->error());
  const int whole = a->get(), left = b->get(), right = c->get();
  char* const data = memory.data();
  if (auto written = write_plain(whole, data, sizes.back()); !written)
    return fail(written.error().code, "{}: {}", folder, written.error().text);
  const auto print = [&](const Case& each) {
    if (!wants(asked, each.what)) return;
    printf("%s\n", measure(each, asked).dump().c_str());
    fflush(stdout);
  };
  for (const int64_t bytes : sizes) {
    for (const bool cold : {true, false})
      print({folder, "read", bytes, cold, [&] { read_plain(whole, data, bytes); },
             [&] { parallel_pread(real_cache_os(), whole, data, bytes, 0); }});
    print({folder, "write parts", bytes, true, [&] { write_plain(whole, data, bytes); },
           [&] {
             const int64_t half = bytes / 2;
             const Part parts[] = {{left, data, half, 0}, {right, data + half, bytes - half, 0}};
             write_parts(real_os(), parts);
           }});
  }
  return {};
}

// The plain call is pwrite() into tmpfs; haichi's a copy into a mapping that is kept.
Status bench_arena(const std::vector<int64_t>& sizes, const Asked& asked, const Buffer& memory) {
  const int64_t most = sizes.back();
  const int fd = memfd_create("haichi-bench", MFD_CLOEXEC);
  if (fd < 0 || ftruncate(fd, most) != 0) return fail(errno, "no arena: {}", strerror(errno));
  void* const arena =
      mmap(nullptr, size_t(most), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd, 0);
  if (arena == MAP_FAILED) return fail(errno, "no arena: {}", strerror(errno));
  for (const int64_t bytes : sizes) {
    const Case each{"memfd",
                    "arena",
                    bytes,
                    true,
                    [&] { write_plain(fd, memory.data(), bytes); },
                    [&] { parallel_copy(arena, memory.data(), bytes); }};
    if (wants(asked, each.what)) printf("%s\n", measure(each, asked).dump().c_str());
  }
  munmap(arena, size_t(most));
  close(fd);
  return {};
}

}  // namespace

int bench_command(const Words& words) {
  Asked asked;
  CLI::App app("Reads and writes by haichi beside the plain calls.", "haichi-numaio bench");
  app.add_option("folder", asked.folders, "Where files are made")->required();
  app.add_option("--size", asked.sizes, "Bytes of a call, such as 8m; repeatable")
      ->take_all()
      ->capture_default_str();
  app.add_option("--only", asked.only, "read, write parts or arena; repeatable");
  app.add_option("--rounds", asked.rounds, "At least as many that nobody disturbed")
      ->check(CLI::Range(1, 10000))
      ->capture_default_str();
  app.add_option("--patience", asked.patience, "Seconds for each case")
      ->check(CLI::Range(0.0, 1000.0))
      ->capture_default_str();
  if (const int code = parse_words(app, words); code >= 0) return code;
  std::vector<int64_t> sizes;
  for (const std::string& each : asked.sizes) {
    const auto bytes = parse_bytes(each);
    if (!bytes || *bytes < 1) return refuse(kUsage, "bench: --size " + each + ": use 8m or 65536");
    sizes.push_back(*bytes);
  }
  std::sort(sizes.begin(), sizes.end());
  const Buffer memory(sizes.back());
  if (memory.data() == nullptr) return refuse(kFailed, "bench: no memory for the largest --size");
  fprintf(stderr, "copies: %s; %d processors\n", std::string(fastest_kernel().name).c_str(),
          this_hosts_nodes().processors());
  Status done = bench_arena(sizes, asked, memory);
  for (const std::string& folder : asked.folders)
    if (done) done = bench_folder(folder, sizes, asked, memory);
  return done ? 0 : refuse(kBadInput, "bench: " + done.error().text);
}

}  // namespace haichi::numaio
