// How long this thread takes for something, without the time in which others had its processor.
#pragma once

#include <sys/resource.h>
#include <time.h>

#include <algorithm>
#include <cstdint>

namespace haichi {

/// Begins where it is made. A thread that the kernel has put aside for another one (an involuntary
/// context switch, getrusage(2)), and that has waited for nothing itself, has taken its processor
/// time only; else all the time that has passed counts.
class OwnTime {
 public:
  /// `clock`: nanoseconds, as haichi::now_ns().
  explicit OwnTime(int64_t (*clock)()) : clock_(clock), begin_ns_(clock()) {
    getrusage(RUSAGE_THREAD, &begin_);
  }
  int64_t so_far_ns() const {
    const int64_t passed_ns = clock_() - begin_ns_;
    rusage now = {};
    getrusage(RUSAGE_THREAD, &now);
    const bool put_aside = now.ru_nivcsw > begin_.ru_nivcsw && now.ru_nvcsw == begin_.ru_nvcsw;
    return put_aside ? std::min(passed_ns, processor_ns(now) - processor_ns(begin_)) : passed_ns;
  }

 private:
  static int64_t processor_ns(const rusage& usage) {
    const auto ns = [](const timeval& t) {
      return int64_t{t.tv_sec} * 1'000'000'000 + int64_t{t.tv_usec} * 1'000;
    };
    return ns(usage.ru_utime) + ns(usage.ru_stime);
  }

  int64_t (*const clock_)();
  const int64_t begin_ns_;
  rusage begin_ = {};
};

}  // namespace haichi
