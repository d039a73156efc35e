#include "gasfs/fuse/remembered.h"

#include <sys/stat.h>

namespace haichi::gasfs::fuse {

void Remembered::told(const Attributes& attributes) {
  if (S_ISREG(attributes.mode)) return;
  const std::lock_guard lock(mutex_);
  Held& held = held_[attributes.inode];
  held.attributes = attributes;
  ++held.answers;
}

void Remembered::update(const Attributes& attributes) {
  if (S_ISREG(attributes.mode)) return;
  const std::lock_guard lock(mutex_);
  const auto found = held_.find(attributes.inode);
  if (found != held_.end()) found->second.attributes = attributes;
}

void Remembered::forget(Inode inode, uint64_t answers) {
  const std::lock_guard lock(mutex_);
  const auto found = held_.find(inode);
  if (found == held_.end()) return;
  if (found->second.answers > answers) {
    found->second.answers -= answers;
  } else {
    held_.erase(found);
  }
}

std::optional<Attributes> Remembered::gone(Inode inode) const {
  const std::lock_guard lock(mutex_);
  const auto found = held_.find(inode);
  if (found == held_.end()) return {};
  Attributes attributes = found->second.attributes;
  attributes.links = 0;
  return attributes;
}

}  // namespace haichi::gasfs::fuse
