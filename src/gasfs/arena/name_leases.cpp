#include "gasfs/arena/name_leases.h"

#include <algorithm>

#include "gasfs/arena/program.h"
#include "gasfs/files/lease_clock.h"

namespace haichi::gasfs::arena {
namespace {

/// A lease is over long before that.
constexpr int64_t kOldNs = 1'000'000'000;

}  // namespace

void NameLeases::end(std::map<Key, Lease>::iterator which) {
  const auto& [key, lease] = *which;
  if (const auto program = lease.program.lock()) program->end_name(key.second);
  for (const Inode inode : lease.inodes) {
    const auto found = by_inode_.find(inode);
    if (found == by_inode_.end()) continue;
    found->second.erase(key);
    if (found->second.empty()) by_inode_.erase(found);
  }
  leases_.erase(which);
}

void NameLeases::changing(std::span<const Inode> inodes) {
  const std::lock_guard lock(mutex_);
  if (inodes.empty()) {
    ++changing_any_;
    while (!leases_.empty()) end(leases_.begin());
  }
  for (const Inode inode : inodes) {
    ++changing_[inode];
    for (auto held = by_inode_.find(inode); held != by_inode_.end(); held = by_inode_.find(inode)) {
      end(leases_.find(*held->second.begin()));
    }
  }
}

void NameLeases::changed(std::span<const Inode> inodes) {
  const std::lock_guard lock(mutex_);
  if (inodes.empty()) --changing_any_;
  for (const Inode inode : inodes) {
    const auto found = changing_.find(inode);
    if (--found->second == 0) changing_.erase(found);
  }
}

uint32_t NameLeases::begin(const std::shared_ptr<Program>& program, uint16_t name,
                           const std::vector<Inode>& inodes) {
  const std::lock_guard lock(mutex_);
  const int64_t now = lease_clock_ns();
  forget_old(now);
  const Key key{program.get(), name};
  if (const auto before = leases_.find(key); before != leases_.end()) end(before);
  const uint32_t lease = program->end_name(name);
  leases_[key] = {program, inodes, lease, now};
  for (const Inode inode : inodes) by_inode_[inode].insert(key);
  return lease;
}

bool NameLeases::lasts(const std::shared_ptr<Program>& program, uint16_t name, uint32_t lease) {
  const std::lock_guard lock(mutex_);
  const auto found = leases_.find({program.get(), name});
  return found != leases_.end() && found->second.lease == lease && changing_any_ == 0 &&
         std::ranges::none_of(found->second.inodes,
                              [&](Inode inode) { return changing_.contains(inode); });
}

void NameLeases::forget_old(int64_t now) {
  if (now - looked_ < kOldNs) return;
  looked_ = now;
  for (auto each = leases_.begin(); each != leases_.end();) {
    const auto next = std::next(each);
    if (now - each->second.begun > kOldNs) end(each);
    each = next;
  }
}

}  // namespace haichi::gasfs::arena
