#include "gasfs/arena/leases.h"

#include <algorithm>

#include "gasfs/arena/program.h"

namespace haichi::gasfs::arena {

void Leases::end_all(File& file) {
  for (const Holder& holder : file.holders) {
    if (const auto program = holder.program.lock()) program->end_lease(holder.slot);
  }
  file.holders.clear();
  ++file.changes;
}

/// `changes` matters only to reads that are under way.
void Leases::forget_idle(Inode inode) {
  const auto found = files_.find(inode);
  const File& file = found->second;
  if (file.changing == 0 && file.reading == 0 && file.holders.empty()) {
    files_.erase(found);
  }
}

void Leases::changing(Inode inode) {
  File& file = files_[inode];
  ++file.changing;
  end_all(file);
}

void Leases::changed(Inode inode) {
  File& file = files_[inode];
  --file.changing;
  ++file.changes;
  forget_idle(inode);
}

uint64_t Leases::read_begins(Inode inode) {
  File& file = files_[inode];
  ++file.reading;
  return file.changes;
}

bool Leases::read_ended(Inode inode, uint64_t begun, const std::shared_ptr<Program>& program,
                        uint16_t slot) {
  File& file = files_[inode];
  --file.reading;
  const bool same = file.changes == begun && file.changing == 0;
  if (same) {
    const auto has_it = [&](const Holder& holder) {
      return holder.slot == slot && !holder.program.owner_before(program) &&
             !program.owner_before(holder.program);
    };
    std::erase_if(file.holders, [](const Holder& holder) { return holder.program.expired(); });
    if (std::ranges::none_of(file.holders, has_it)) file.holders.push_back({program, slot});
  }
  forget_idle(inode);
  return same;
}

}  // namespace haichi::gasfs::arena
