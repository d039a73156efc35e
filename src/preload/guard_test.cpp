#include "preload/guard.h"

#include <gmock/gmock.h>
#include <pthread.h>
#include <setjmp.h>
#include <unistd.h>

#include <new>
#include <stdexcept>
#include <string>
#include <thread>

#include "preload/library.h"

namespace haichi {

namespace mpi {
static bool active_now = true;
bool active() { return active_now; }
}  // namespace mpi

namespace preload {

const char* const exported_names[] = {"PMPI_File_open", nullptr};

namespace {

using testing::HasSubstr;

constexpr auto no_recovery = [] { return -1; };

// A call of MPI has a frame of its own.
[[gnu::noinline]] bool passing_in_a_call() {
  const bool result = passing();
  asm volatile("");
  return result;
}

TEST(PassingTest, DisabledPassesEveryCall) {
  EXPECT_FALSE(passing());
  mpi::active_now = false;
  EXPECT_TRUE(passing());
  mpi::active_now = true;
}

TEST(GuardedTest, ReturnsWhatTheHookReturns) {
  EXPECT_EQ(guarded("MPI_X", [] { return 7; }, no_recovery), 7);
}

TEST(GuardedTest, CallsInsideAHookPass) {
  bool inside = false;
  guarded("MPI_X", [&] { return inside = passing_in_a_call(), 0; }, no_recovery);
  EXPECT_TRUE(inside);
  EXPECT_FALSE(passing());
}

TEST(GuardedTest, OtherThreadsDoNotPass) {
  bool other = true;
  auto hook = [&] {
    std::thread([&] { other = passing_in_a_call(); }).join();
    return 0;
  };
  guarded("MPI_X", hook, no_recovery);
  EXPECT_FALSE(other);
}

TEST(GuardedTest, ExceptionIsRecoveredAndLogged) {
  testing::internal::CaptureStderr();
  auto hook = []() -> int { throw std::runtime_error("no luck"); };
  EXPECT_EQ(guarded("MPI_X", hook, [] { return 16; }), 16);
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              HasSubstr("MPI_X: haichi failed inside: no luck\n"));
  EXPECT_FALSE(passing());
}

TEST(GuardedTest, AHookLeftByLongjmpIsForgotten) {
  static jmp_buf back;
  if (setjmp(back) == 0) guarded("MPI_X", []() -> int { longjmp(back, 1); }, no_recovery);
  EXPECT_EQ(depth, 1);
  EXPECT_FALSE(passing());
  EXPECT_EQ(depth, 0);
}

TEST(GuardedTest, AnythingThrownIsRecovered) {
  EXPECT_EQ(guarded("MPI_X", []() -> int { throw 5; }, [] { return 16; }), 16);
  EXPECT_EQ(guarded("MPI_X", []() -> int { throw std::bad_alloc(); }, [] { return 34; }), 34);
}

TEST(GuardedTest, RecoveryIsStillInside) {
  bool inside = false;
  guarded("MPI_X", []() -> int { throw 5; }, [&] { return inside = passing_in_a_call(), 0; });
  EXPECT_TRUE(inside);
}

TEST(GuardedTest, CancelledThreadUnwinds) {
#ifdef __SANITIZE_THREAD__
  GTEST_SKIP() << "to the thread sanitizer a thread cancelled in pause() never leaves that call";
#endif
  pthread_t thread;
  static bool recovered = false;
  auto body = [](void*) -> void* {
    auto hook = [] {
      for (;;) pause();
      return 0;
    };
    guarded("MPI_X", hook, [] { return recovered = true, 0; });
    return nullptr;
  };
  ASSERT_EQ(pthread_create(&thread, nullptr, body, nullptr), 0);
  pthread_cancel(thread);
  void* result = nullptr;
  pthread_join(thread, &result);
  EXPECT_EQ(result, PTHREAD_CANCELED);
  EXPECT_FALSE(recovered);
}

TEST(LibraryTest, FindsNoneInAProcessWithoutMpi) { EXPECT_EQ(find_library().handle, nullptr); }

TEST(LibraryTest, RefusesACallWithoutALibrary) {
  EXPECT_EXIT(require_library(), testing::ExitedWithCode(refused),
              "haichi: libhaichi-mpich.so is for MPICH, but this process has no MPI library");
}

TEST(LibraryTest, RefusesAnotherAbi) {
  EXPECT_EXIT(require_fit(Library{nullptr, "libmpi.so.40", Abi::openmpi}),
              testing::ExitedWithCode(refused), "this process has Open MPI \\(libmpi.so.40\\)");
}

TEST(LibraryTest, RefusesALibraryWithoutAnExportedFunction) {
  EXPECT_EXIT(require_fit(Library{nullptr, "libmpi.so.12", Abi::mpich}),
              testing::ExitedWithCode(refused), "libmpi.so.12 has no MPI_File_open");
}

}  // namespace
}  // namespace preload
}  // namespace haichi
