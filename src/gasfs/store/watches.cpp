#include "gasfs/store/watches.h"

#include <algorithm>

namespace haichi::gasfs {

bool Watches::grant(uint64_t session, std::span<const Inode> inodes, int64_t now) {
  forget_old(now);
  if (inodes.empty() || files_.size() + inodes.size() > kMost) return false;
  for (const Inode inode : inodes)
    if (const auto found = files_.find(inode);
        found != files_.end() && found->second.refused_until > now)
      return false;
  for (const Inode inode : inodes) {
    File& file = files_[inode];
    if (file.until <= now) {
      file.session = session;
      file.several = false;
    }
    file.several |= file.session != session;
    file.until = now + kWatchNs;
  }
  return true;
}

int64_t Watches::left(uint64_t session, std::span<const Inode> inodes, int64_t now) {
  int64_t until = others_until_;
  for (const Inode inode : inodes) {
    const auto found = files_.find(inode);
    if (found == files_.end()) continue;
    File& file = found->second;
    if (file.until <= now || (!file.several && file.session == session)) continue;
    file.refused_until = now + kWatchNs * kPause;
    until = std::max(until, file.until);
  }
  return std::max<int64_t>(until - now, 0);
}

void Watches::forget_old(int64_t now) {
  if (files_.size() < look_again_) return;
  std::erase_if(files_, [&](const auto& each) {
    return each.second.until <= now && each.second.refused_until <= now;
  });
  look_again_ = std::max<size_t>(64, 2 * files_.size());
}

}  // namespace haichi::gasfs
