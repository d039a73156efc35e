#include "sim/fifo.h"

#include <gtest/gtest.h>

#include <deque>

#include "support/random_placement.h"

namespace haichi::sim {
namespace {

TEST(Fifo, HasWhatADequeHas) {
  test::Random random(5);
  Fifo<int64_t> fifo;
  std::deque<int64_t> expected;
  for (int step = 0; step < 100000; ++step) {
    const bool grows = step / 1000 % 2 == 0;  // and gets shorter again, down to nothing
    if (const int64_t what = random.below(1000); random.below(10) < (grows ? 6 : 3)) {
      const auto at = size_t(random.below(4) == 0 ? random.below(int64_t(expected.size()) + 1)
                                                  : int64_t(expected.size()));
      at == expected.size() ? fifo.push_back(what) : fifo.insert(at, what);
      expected.insert(expected.begin() + std::ptrdiff_t(at), what);
    } else if (!expected.empty()) {
      ASSERT_EQ(fifo.front(), expected.front());
      fifo.pop_front();
      expected.pop_front();
    }
    ASSERT_EQ(fifo.size(), expected.size());
    ASSERT_EQ(fifo.empty(), expected.empty());
    if (step % 100 == 0) {
      for (size_t at = 0; at < expected.size(); ++at) ASSERT_EQ(fifo[at], expected[at]);
    }
  }
}

}  // namespace
}  // namespace haichi::sim
