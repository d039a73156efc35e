// Which receive takes which message, as MPI has it: of messages with one source, communicator and
// tag the oldest, and of receives that a message fits the oldest; a receive may leave source and
// tag open.
//
// Why not sim::Matching: the schedules that it serves have neither tags nor open sources.
//
// PURE.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace haichi::predict {

inline constexpr int kAnySource = -2;
inline constexpr int kAnyTag = -1;

struct Envelope {
  int32_t comm, source, tag;
  friend bool operator==(const Envelope&, const Envelope&) = default;
};

class Mailbox {
 public:
  explicit Mailbox(int ranks) : boxes_(size_t(ranks)) {}

  /// A message for `target`: the receive that takes it, or -1 after having put it to wait.
  int32_t offer_message(int target, const Envelope& envelope, int32_t message);
  /// A receive: the message that it takes, or -1 after having put it to wait. Source kAnySource and
  /// a negative tag fit any.
  int32_t offer_receive(int target, const Envelope& envelope, int32_t receive);

  /// Of the messages that nobody has received: how many, and the envelope and target of one.
  struct Left {
    int64_t count = 0;
    int target = -1;
    Envelope envelope{};
  };
  Left left() const;

 private:
  struct Key {
    int32_t target;
    Envelope envelope;
    friend bool operator==(const Key&, const Key&) = default;
  };
  struct Hash {
    size_t operator()(const Key& key) const;
  };
  struct Node {
    int32_t value;
    int32_t next;                   // of the same key, or of the free ones
    int32_t before_all, after_all;  // messages: of the same target, by arrival
    uint64_t number;                // order of posting and arriving
    Envelope envelope;
  };
  struct Queue {
    int32_t head = -1, tail = -1;
    bool receives = false;
  };
  struct Open {  // a receive that leaves something open
    Envelope envelope;
    int32_t receive;
    uint64_t number;
  };
  struct Box {
    int32_t first = -1, last = -1;  // all messages that wait
    std::vector<Open> open;
  };

  Queue& queue(int target, const Envelope& envelope);
  void put(Queue& queue, int32_t node);
  int32_t take(Queue& queue);
  int32_t new_node(const Envelope& envelope, int32_t value);
  void link(Box& box, int32_t at);
  void unlink(Box& box, int32_t at);

  std::vector<Box> boxes_;
  std::unordered_map<Key, Queue, Hash> queues_;
  size_t most_queues_ = 1 << 16;  // before those that are empty are thrown away
  std::vector<Node> nodes_;
  int32_t free_ = -1;
  uint64_t number_ = 0;
};

}  // namespace haichi::predict
