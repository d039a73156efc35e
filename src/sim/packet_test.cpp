#include "sim/packet.h"

#include <gmock/gmock.h>

#include "sim/pairs_seen.h"

namespace haichi::sim {
namespace {

using testing::ElementsAre;

Packet message(Time time, int source, int target) {
  return {time, 100, source, target, -1, Packet::Kind::eager};
}
Packet request(Time time, int source, int target, bool first) {
  return {time, 0, source, target, 0, Packet::Kind::request, first};
}
Fifo<Packet> three() {
  Fifo<Packet> queue;
  for (const int source : {0, 1, 2}) queue.push_back(message(10 + 10 * source, source, 9));
  return queue;
}
std::vector<std::pair<Time, int>> times_and_sources(const Fifo<Packet>& queue) {
  std::vector<std::pair<Time, int>> found;
  for (size_t at = 0; at < queue.size(); ++at) found.emplace_back(queue[at].time, queue[at].source);
  return found;
}

TEST(Packet, ARequestPassesTheMessagesOfOthers) {
  for (const bool first : {true, false}) {
    Fifo<Packet> queue = three();
    insert_in_order(queue, request(20, 3, 9, first));
    EXPECT_THAT(times_and_sources(queue), ElementsAre(std::pair(10, 0), std::pair(20, 1),
                                                      std::pair(20, 3), std::pair(30, 2)));
  }
}

TEST(Packet, ARequestOvertakesNoneOfItsOwnTwoRanks) {
  Fifo<Packet> queue = three();
  insert_in_order(queue, request(5, 1, 9, false));
  EXPECT_THAT(times_and_sources(queue),
              ElementsAre(std::pair(10, 0), std::pair(20, 1), std::pair(20, 1), std::pair(30, 2)));
  EXPECT_EQ(queue[2].kind, Packet::Kind::request);
}

TEST(PairsSeen, AnAnswerIsAnotherPair) {
  PairsSeen pairs(3);
  EXPECT_TRUE(pairs.is_first(0, 1));
  EXPECT_FALSE(pairs.is_first(0, 1));
  EXPECT_TRUE(pairs.is_first(1, 0));
  PairsSeen too_many(100'000);
  EXPECT_FALSE(too_many.is_first(0, 1));  // nothing is known
}

}  // namespace
}  // namespace haichi::sim
