#include "goal/read_goal.h"

#include <errno.h>

#include <algorithm>
#include <functional>
#include <queue>
#include <set>

#include "goal/parse.h"
#include "record/fold.h"

namespace haichi::goal {
namespace {

using record::EventKey;

enum Call { kIsend, kIrecv, kWaitall };
const std::vector<std::string> kNames{"MPI_Isend", "MPI_Irecv", "MPI_Waitall"};
constexpr size_t kMostBytes = size_t{256} << 20;

// The smallest free slot for a request.
class Slots {
 public:
  int take() {
    if (free_.empty()) return made_++;
    const int slot = *free_.begin();
    free_.erase(free_.begin());
    return slot;
  }
  void give(int slot) { free_.insert(slot); }

 private:
  std::set<int> free_;
  int made_ = 0;
};

// Puts the operations of a rank in an order and folds them.
class Sequencer {
 public:
  explicit Sequencer(const RankProgram& program)
      : program_(program),
        left_(program.operations.size()),
        slot_of_(program.operations.size(), kNotBegun),
        before_(program.operations.size()),
        behind_(program.operations.size()),
        folder_(kMostBytes) {
    for (const Dependence& each : program.dependences) {
      ++left_[size_t(each.later)];
      behind_[size_t(each.earlier)].push_back(each.later);
      if (!each.begun) before_[size_t(each.later)].push_back(each.earlier);
    }
  }

  Result<record::Sequence> sequence() {
    std::priority_queue<int, std::vector<int>, std::greater<>> ready;
    for (size_t i = 0; i < left_.size(); ++i)
      if (left_[i] == 0) ready.push(int(i));
    size_t done = 0;
    for (; !ready.empty(); ++done) {
      const int next = ready.top();
      ready.pop();
      begin(size_t(next));
      for (const int each : behind_[size_t(next)])
        if (--left_[size_t(each)] == 0) ready.push(each);
    }
    if (done < left_.size()) return fail(EINVAL, "its dependences make a circle");
    finish();
    if (folder_.cut()) return fail(ENOMEM, "its calls are too many and too different");
    return folder_.sequence(kNames);
  }

 private:
  static constexpr int kNotBegun = -1, kOver = -2;

  void begin(size_t index) {
    const Operation& operation = program_.operations[index];
    wait_for(before_[index]);
    if (operation.kind == Operation::Kind::calc) {
      compute_ns_ += operation.amount;
      slot_of_[index] = kOver;
      return;
    }
    const bool sends = operation.kind == Operation::Kind::send;
    EventKey key;
    key.call = sends ? kIsend : kIrecv;
    key.comm = 0;
    key.peer = operation.peer;
    key.tag = operation.tag;
    key.bytes = operation.amount;
    key.request = slot_of_[index] = slots_.take();
    add(key);
  }

  void wait_for(const std::vector<int>& operations) {
    std::vector<int> slots;
    for (const int each : operations) {
      int& slot = slot_of_[size_t(each)];
      if (slot >= 0) slots.push_back(slot);
      slot = kOver;
    }
    wait(std::move(slots));
  }

  void wait(std::vector<int> slots) {
    if (slots.empty()) return;
    std::sort(slots.begin(), slots.end());
    for (const int slot : slots) slots_.give(slot);
    EventKey key;
    key.call = kWaitall;
    key.completes = slots;
    add(key);
  }

  // What is pending, and computing behind the last message.
  void finish() {
    std::vector<int> slots;
    for (const int slot : slot_of_)
      if (slot >= 0) slots.push_back(slot);
    wait(std::move(slots));
    if (compute_ns_ == 0) return;
    EventKey key;
    key.call = kWaitall;
    add(key);
  }

  void add(const EventKey& key) {
    folder_.add(key, compute_ns_, 0);
    compute_ns_ = 0;
  }

  const RankProgram& program_;
  std::vector<int> left_;     // how many an operation still waits for
  std::vector<int> slot_of_;  // of the request of an operation
  std::vector<std::vector<int>> before_, behind_;
  Slots slots_;
  record::Folder folder_;
  int64_t compute_ns_ = 0;
};

}  // namespace

Result<record::Record> read_goal(std::istream& in) {
  const auto programs = parse_goal(in);
  if (!programs) return tl::unexpected(programs.error());
  record::Record record;
  record.ranks = int(programs->size());
  record.placement = placement::block(record.ranks, 1);
  record::Communicator world{.id = 0, .name = "MPI_COMM_WORLD"};
  for (int rank = 0; rank < record.ranks; ++rank) world.members.push_back(rank);
  record.communicators.push_back(std::move(world));
  for (size_t rank = 0; rank < programs->size(); ++rank) {
    auto sequence = Sequencer((*programs)[rank]).sequence();
    if (!sequence) return fail(sequence.error().code, "rank {}: {}", rank, sequence.error().text);
    record.sequences.emplace_back(std::move(*sequence));
  }
  record.complete = true;
  return record;
}

}  // namespace haichi::goal
