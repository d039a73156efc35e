// The locks of several handles on a real file: each descriptor is a handle of its own.
#include "mpiio/storage/file_lock.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <optional>

namespace haichi::mpiio {
namespace {

constexpr plan::Extent kPart{0, 4096};

class FileLock : public ::testing::Test {
 protected:
  FileLock() { close(mkstemp(path_)); }
  ~FileLock() override { unlink(path_); }

  AggregatorFile handle(int64_t slot = -1) {
    backoff_.left_ns = 20'000'000;
    return {.os = &real_os(),
            .fd = open(path_, O_RDWR | O_CLOEXEC),
            .readable = true,
            .slot = slot,
            .backoff = &backoff_};
  }

 private:
  char path_[32] = "/tmp/haichi-lock-XXXXXX";
  LockBackoff backoff_;
};

TEST_F(FileLock, OneWhoIsAloneMayFill) {
  const AggregatorFile first = handle(5), aggregator = handle(5);
  ASSERT_TRUE(become_present(first, 5));
  EXPECT_TRUE(FillPermit(aggregator, kPart).given());
  close(first.fd);
  close(aggregator.fd);
}

TEST_F(FileLock, NobodyFillsWhereAnotherHandleIsPresent) {
  for (const int64_t other : {int64_t{4}, int64_t{6}, kSlots - 1}) {
    const AggregatorFile first = handle(5), aggregator = handle(5), second = handle();
    ASSERT_TRUE(become_present(first, 5));
    ASSERT_TRUE(become_present(second, other));
    EXPECT_FALSE(FillPermit(aggregator, kPart).given()) << other;
    close(second.fd);  // it is gone
    EXPECT_TRUE(FillPermit(aggregator, kPart).given()) << other;
    close(first.fd);
    close(aggregator.fd);
  }
}

TEST_F(FileLock, NobodyBecomesPresentWhileHolesAreFilled) {
  const AggregatorFile aggregator = handle(5), second = handle();
  {
    const FillPermit permit(aggregator, kPart);
    ASSERT_TRUE(permit.given());
    EXPECT_FALSE(become_present(second, 9)) << "its backoff must be spent first";
  }
  second.backoff->left_ns = 20'000'000;
  EXPECT_TRUE(become_present(second, 9));
  close(aggregator.fd);
  close(second.fd);
}

TEST_F(FileLock, WhoFillsAndWhoWritesExactlyKeepApart) {
  const AggregatorFile aggregator = handle(5), exact = handle(), another = handle();
  std::optional<RangeLock> writing(std::in_place, exact, F_RDLCK, kPart);
  ASSERT_TRUE(writing->held());
  EXPECT_TRUE(RangeLock(another, F_RDLCK, kPart).held()) << "exact writes do not hinder each other";
  EXPECT_FALSE(FillPermit(aggregator, kPart).given());
  writing.reset();
  aggregator.backoff->left_ns = 20'000'000;
  EXPECT_TRUE(FillPermit(aggregator, kPart).given());
  for (const AggregatorFile& each : {aggregator, exact, another}) close(each.fd);
}

TEST_F(FileLock, PatienceIsSpentOnceForAllCalls) {
  const AggregatorFile holder = handle(), waiting = handle();
  const RangeLock held(holder, F_WRLCK, kPart);
  ASSERT_TRUE(held.held());
  EXPECT_FALSE(RangeLock(waiting, F_RDLCK, kPart).held());
  EXPECT_LE(waiting.backoff->left_ns, 0);
  EXPECT_FALSE(RangeLock(waiting, F_RDLCK, kPart).held());
  close(holder.fd);
  close(waiting.fd);
}

TEST_F(FileLock, WithoutASlotNothingIsFilled) {
  const AggregatorFile aggregator = handle();
  EXPECT_FALSE(FillPermit(aggregator, kPart).given());
  close(aggregator.fd);
}

}  // namespace
}  // namespace haichi::mpiio
