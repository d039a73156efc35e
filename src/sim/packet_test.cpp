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
std::vector<std::pair<Time, int>> times_and_sources(const std::deque<Packet>& queue) {
  std::vector<std::pair<Time, int>> found;
  for (const Packet& each : queue) found.emplace_back(each.time, each.source);
  return found;
}

TEST(Packet, ARequestPassesTheMessagesOfOthers) {
  for (const bool first : {true, false}) {
    std::deque<Packet> queue = {message(10, 0, 9), message(20, 1, 9), message(30, 2, 9)};
    insert_in_order(queue, request(20, 3, 9, first));
    EXPECT_THAT(times_and_sources(queue), ElementsAre(std::pair(10, 0), std::pair(20, 1),
                                                      std::pair(20, 3), std::pair(30, 2)));
  }
}

TEST(Packet, ARequestOvertakesNoneOfItsOwnTwoRanks) {
  std::deque<Packet> queue = {message(10, 0, 9), message(20, 1, 9), message(30, 2, 9)};
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
