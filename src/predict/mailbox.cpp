#include "predict/mailbox.h"

#include <algorithm>

namespace haichi::predict {
namespace {

bool is_open(const Envelope& envelope) { return envelope.source == kAnySource || envelope.tag < 0; }

bool fits(const Envelope& open, const Envelope& message) {
  return open.comm == message.comm &&
         (open.source == kAnySource || open.source == message.source) &&
         (open.tag < 0 || open.tag == message.tag);
}

}  // namespace

size_t Mailbox::Hash::operator()(const Key& key) const {
  uint64_t mix = uint64_t(uint32_t(key.target)) << 32 | uint32_t(key.envelope.source);
  mix ^= (uint64_t(uint32_t(key.envelope.comm)) << 32 | uint32_t(key.envelope.tag)) *
         0x9E3779B97F4A7C15U;
  mix *= 0xFF51AFD7ED558CCDU;
  return size_t(mix ^ mix >> 32);
}

int32_t Mailbox::offer_message(int target, const Envelope& envelope, int32_t message) {
  Box& box = boxes_[size_t(target)];
  const auto open = std::find_if(box.open.begin(), box.open.end(),
                                 [&](const Open& each) { return fits(each.envelope, envelope); });
  Queue& exact = queue(target, envelope);
  const bool has_exact = exact.head >= 0 && exact.receives;
  const bool has_open = open != box.open.end();
  if (has_exact && (!has_open || nodes_[size_t(exact.head)].number < open->number))
    return take(exact);
  if (has_open) {
    const int32_t receive = open->receive;
    box.open.erase(open);
    return receive;
  }
  const int32_t at = new_node(envelope, message);
  exact.receives = false;
  put(exact, at);
  link(box, at);
  return -1;
}

int32_t Mailbox::offer_receive(int target, const Envelope& envelope, int32_t receive) {
  Box& box = boxes_[size_t(target)];
  if (!is_open(envelope)) {
    Queue& exact = queue(target, envelope);
    if (exact.head >= 0 && !exact.receives) {
      unlink(box, exact.head);
      return take(exact);
    }
    exact.receives = true;
    put(exact, new_node(envelope, receive));
    return -1;
  }
  // The first by arrival that fits is the oldest of its own key too.
  for (int32_t at = box.first; at >= 0; at = nodes_[size_t(at)].after_all) {
    if (!fits(envelope, nodes_[size_t(at)].envelope)) continue;
    Queue& its = queue(target, nodes_[size_t(at)].envelope);
    unlink(box, at);
    return take(its);
  }
  box.open.push_back({envelope, receive, number_++});
  return -1;
}

Mailbox::Left Mailbox::left() const {
  Left left;
  for (size_t target = 0; target < boxes_.size(); ++target)
    for (int32_t at = boxes_[target].first; at >= 0; at = nodes_[size_t(at)].after_all)
      if (left.count++ == 0) {
        left.target = int(target);
        left.envelope = nodes_[size_t(at)].envelope;
      }
  return left;
}

Mailbox::Queue& Mailbox::queue(int target, const Envelope& envelope) {
  if (queues_.size() >= most_queues_) {
    std::erase_if(queues_, [](const auto& each) { return each.second.head < 0; });
    most_queues_ = std::max(most_queues_, 2 * queues_.size());
  }
  return queues_[{target, envelope}];
}

void Mailbox::put(Queue& queue, int32_t node) {
  if (queue.head < 0)
    queue.head = node;
  else
    nodes_[size_t(queue.tail)].next = node;
  queue.tail = node;
}

int32_t Mailbox::take(Queue& queue) {
  const int32_t at = queue.head;
  Node& node = nodes_[size_t(at)];
  queue.head = node.next;
  node.next = free_;
  free_ = at;
  return node.value;
}

int32_t Mailbox::new_node(const Envelope& envelope, int32_t value) {
  int32_t at = free_;
  if (at >= 0) {
    free_ = nodes_[size_t(at)].next;
  } else {
    at = int32_t(nodes_.size());
    nodes_.emplace_back();
  }
  nodes_[size_t(at)] = {value, -1, -1, -1, number_++, envelope};
  return at;
}

void Mailbox::link(Box& box, int32_t at) {
  nodes_[size_t(at)].before_all = box.last;
  if (box.last >= 0)
    nodes_[size_t(box.last)].after_all = at;
  else
    box.first = at;
  box.last = at;
}

void Mailbox::unlink(Box& box, int32_t at) {
  const Node& node = nodes_[size_t(at)];
  if (node.before_all >= 0)
    nodes_[size_t(node.before_all)].after_all = node.after_all;
  else
    box.first = node.after_all;
  if (node.after_all >= 0)
    nodes_[size_t(node.after_all)].before_all = node.before_all;
  else
    box.last = node.before_all;
}

}  // namespace haichi::predict
