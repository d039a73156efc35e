// What the log of a rank takes of a collective call's time: packing its record, and writing the
// totals with all that has been packed since.
#include <benchmark/benchmark.h>
#include <stdlib.h>
#include <unistd.h>

#include <string>

#include "base/clock.h"
#include "report/rank_log.h"

namespace haichi::report {
namespace {

class LogOfARank {
 public:
  LogOfARank() : log_(real_os(), {path(), {kHeadBytes, int64_t{1} << 40}, "head"}, now_ns) {}
  ~LogOfARank() { unlink(path_.c_str()); }
  RankLog* operator->() { return &log_; }

 private:
  std::string path() {
    char name[] = "/tmp/haichi-log-XXXXXX";
    const int fd = mkstemp(name);
    if (fd >= 0) close(fd);
    return path_ = name;
  }
  std::string path_;
  RankLog log_;
};

/// As rank 0 has it, which says why.
CallRecord usual_call() {
  CallRecord call;
  call.call = "MPI_File_write_at_all";
  call.handled = true;
  call.elapsed_ns = 30'000;
  call.bytes = call.bytes_inside = call.file_end = 131'072;
  call.aggregators = {0};
  call.layout = "spread";
  call.order = "nd_shift";
  call.window = 16;
  call.cycles = 1;
  for (int i = 0; i < 5; ++i) call.why.emplace_back(100, char('a' + i));
  return call;
}

void pack_a_call(benchmark::State& state) {
  LogOfARank log;
  CallRecord call = usual_call();
  int64_t calls = 0;
  for (auto _ : state) {
    ++call.index;
    log->add_call(1, call);
    benchmark::DoNotOptimize(log->has_time(0));
    if (++calls % 200 != 0) continue;
    state.PauseTiming();
    log->show({});
    state.ResumeTiming();
  }
}
BENCHMARK(pack_a_call);

void write_what_is_packed(benchmark::State& state) {
  LogOfARank log;
  CallRecord call = usual_call();
  for (auto _ : state) {
    for (int64_t i = 0; i < state.range(0); ++i) log->add_call(1, call);
    log->show({});
  }
}
BENCHMARK(write_what_is_packed)->Arg(0)->Arg(1)->Arg(20);

}  // namespace
}  // namespace haichi::report
