#include "sim/messages.h"

#include <errno.h>

#include <algorithm>

namespace haichi::sim {
namespace {

tl::unexpected<Error> mismatch(int source, int64_t sent, int target, int64_t received) {
  return fail(EMSGSIZE, "rank {} sends {} bytes, but rank {} receives {}", source, sent, target,
              received);
}

}  // namespace

Status Messages::check(int r, int peer, int64_t bytes) const {
  if (peer < 0 || peer >= placement_.ranks())
    return fail(EINVAL, "rank {} has a message with rank {}, and there are {} ranks", r, peer,
                placement_.ranks());
  if (bytes < 0) return fail(EINVAL, "rank {} has a message of {} bytes", r, bytes);
  return {};
}

Time Messages::begin_send(int r) {
  const plan::Step& step = ranks_[r].step;
  const int64_t bytes = step.from.size;
  const Time copy = costs_.eager(bytes) ? costs_.eager_copy(r, step.peer, bytes) : 0;
  return ranks_.use_processor(r, send_ + copy);
}

void Messages::send(int r) {
  RankState& rank = ranks_[r];
  const int peer = rank.step.peer;
  const auto round = int32_t(rank.step.round);
  Packet packet{clock_.now(), rank.step.from.size, r, peer, kEager, Packet::Kind::eager};
  if (!costs_.eager(packet.bytes)) {
    packet.kind = Packet::Kind::request;
    packet.rendezvous = remember(round);
    ++rank.outstanding;
    ++rank.open(round).count;
  }
  if (placement_.same_node(r, peer)) return send_local(packet);
  packet.first = pairs_.is_first(r, peer);
  const bool is_eager = packet.kind == Packet::Kind::eager;
  if (is_eager && wires_.tells_of_departures()) {
    packet.rendezvous = remember(round);
    ++rank.outstanding;
    ++rank.open(round).count;
  }
  const auto departed = wires_.send(packet);
  if (!is_eager || !departed) return;
  RankState::Open& open = rank.open(round);
  open.departed = std::max(open.departed, *departed);
  if (rank.window == 0) return;
  rank.departures.push_back(*departed);
  ++rank.outstanding;
}

Status Messages::post(int r, const plan::Step& step) {
  const int64_t bytes = step.to.size;
  const int peer = step.peer;
  if (auto fine = check(r, peer, bytes); !fine) return fine;
  const auto round = int32_t(step.round);
  const Time searching = search(r, peer, Matching::Side::receive);
  const Time posted = ranks_.use_processor(r, receive_ + searching);
  const auto arrived = matching_.offer(r, peer, Matching::Side::receive, {bytes, round});
  if (arrived && arrived->bytes != bytes) return mismatch(peer, arrived->bytes, r, bytes);
  if (arrived && arrived->value == kEager) return {};  // its work was done when it arrived
  ++ranks_[r].open(round).count;
  if (!arrived) return {};
  grant({posted, bytes, peer, r, arrived->value, Packet::Kind::request}, round);
  return {};
}

void Messages::send_local(Packet packet) {
  packet.time = clock_.now() + costs_.latency(packet.source, packet.target, packet.bytes);
  insert_in_order(local_, packet);
  clock_.set(clock_.local(), local_.front().time);
}

Status Messages::take_local() {
  const Packet packet = local_.front();
  local_.pop_front();
  if (local_.empty())
    clock_.remove(clock_.local());
  else
    clock_.set(clock_.local(), local_.front().time);
  return arrive(packet);
}

// A word that answers has nothing to overtake: if it has no bytes, it takes the latency alone. Else
// it goes as other packets do, once its time has come.
void Messages::answer(Packet packet, Packet::Kind kind, Time time) {
  packet.kind = kind;
  const bool local = placement_.same_node(packet.source, packet.target);
  const int number = kind == Packet::Kind::grant ? 2 : 3;
  const bool takes_time = local || (!words_on_wires_ && number <= words_with_latency_);
  packet.time = time + (takes_time ? costs_.latency(packet.source, packet.target, 0) : 0);
  words_.push(packet);
  clock_.set(clock_.words(), words_.next().time);
}

Status Messages::take_word() {
  const Packet packet = words_.take();
  if (words_.empty())
    clock_.remove(clock_.words());
  else
    clock_.set(clock_.words(), words_.next().time);
  if (!words_on_wires_ || placement_.same_node(packet.source, packet.target)) return arrive(packet);
  wires_.send(packet);
  return {};
}

// The receiver's processor does what is left of a message that is all on its node.
Status Messages::arrive(const Packet& packet) {
  if (packet.kind == Packet::Kind::grant) {
    Packet data = packet;
    data.kind = Packet::Kind::data;
    wires_.send(data);
    return {};
  }
  if (packet.kind == Packet::Kind::done || packet.kind == Packet::Kind::left) {
    RankState& source = ranks_[packet.source];
    --source.outstanding;
    --source.open(rendezvous_[size_t(packet.rendezvous)].send_round).count;
    forget(packet.rendezvous);
    ranks_.wake(packet.source);
    return {};
  }
  const int r = packet.target;
  const bool is_eager = packet.kind == Packet::Kind::eager;
  const Time copy = is_eager ? costs_.eager_copy(packet.source, r, packet.bytes) : 0;
  const bool matches = packet.kind != Packet::Kind::data;
  const Time searching = matches ? search(r, packet.source, Matching::Side::message) : 0;
  const Time done = ranks_.use_processor(r, match_ + copy + searching);
  if (!matches) {
    complete(packet, rendezvous_[size_t(packet.rendezvous)].receive_round, done);
    answer(packet, Packet::Kind::done, done);
    return {};
  }
  // What it remembers of an eager message is its sender's alone.
  const int32_t value = is_eager ? kEager : packet.rendezvous;
  const auto posted =
      matching_.offer(r, packet.source, Matching::Side::message, {packet.bytes, value});
  if (posted && posted->bytes != packet.bytes)
    return mismatch(packet.source, packet.bytes, r, posted->bytes);
  if (posted && is_eager) complete(packet, posted->value, done);
  if (!posted && is_eager) count(packet, done);
  if (posted && !is_eager) {
    Packet granted = packet;
    granted.time = done;
    grant(granted, posted->value);
  }
  return {};
}

// Both sides of a rendezvous are there, at packet.time: the network fetches the bytes, or inside
// a node the receiver does.
void Messages::grant(Packet packet, int32_t receive_round) {
  rendezvous_[size_t(packet.rendezvous)].receive_round = receive_round;
  if (placement_.same_node(packet.source, packet.target)) {
    const Time fetch = costs_.fetch(packet.source, packet.target, packet.bytes);
    const Time done = ranks_.use_processor(packet.target, fetch);
    complete(packet, receive_round, done);
    answer(packet, Packet::Kind::done, done);
    return;
  }
  answer(packet, Packet::Kind::grant, packet.time);
}

// The receive is complete once the processor is done with it.
void Messages::complete(const Packet& packet, int32_t round, Time done) {
  --ranks_[packet.target].open(round).count;
  count(packet, done);
  ranks_.wake(packet.target);
}

void Messages::count(const Packet& packet, Time done) {
  ++received_.messages;
  received_.bytes += packet.bytes;
  if (!placement_.same_node(packet.source, packet.target)) received_.network_bytes += packet.bytes;
  if (observer_)
    observer_->received({packet.source, packet.target, packet.bytes, clock_.now(), done});
}

int32_t Messages::remember(int32_t send_round) {
  if (free_rendezvous_ < 0) {
    rendezvous_.push_back({send_round, 0});
    return int32_t(rendezvous_.size()) - 1;
  }
  const int32_t at = free_rendezvous_;
  free_rendezvous_ = rendezvous_[size_t(at)].send_round;
  rendezvous_[size_t(at)] = {send_round, 0};
  return at;
}

void Messages::forget(int32_t at) {
  rendezvous_[size_t(at)].send_round = free_rendezvous_;
  free_rendezvous_ = at;
}

}  // namespace haichi::sim
