#include "gasfs/arena/tickets.h"

#include "base/unguessable.h"

namespace haichi::gasfs::arena {

uint64_t Tickets::number_of(Inode inode, Handle handle) {
  if (const auto found = by_handle_.find(handle); found != by_handle_.end()) return found->second;
  uint64_t number = 0;
  while (number == 0 || by_number_.contains(number)) number = unguessable_number();
  by_number_[number] = std::make_shared<Ticket>(Ticket{.inode = inode, .handle = handle});
  by_handle_[handle] = number;
  return number;
}

bool Tickets::let_write(uint64_t number) {
  return !std::exchange(by_number_[number]->writes, true);
}

std::shared_ptr<Ticket> Tickets::find(uint64_t number) const {
  const auto found = by_number_.find(number);
  return found == by_number_.end() ? nullptr : found->second;
}

int Tickets::take_error(Handle handle) {
  const auto found = by_handle_.find(handle);
  if (found == by_handle_.end()) return 0;
  return std::exchange(by_number_[found->second]->error, 0);
}

bool Tickets::forget(Inode inode, Handle handle) {
  bool wrote = false;
  if (const auto found = by_handle_.find(handle); found != by_handle_.end()) {
    wrote = by_number_[found->second]->writes;
    by_number_[found->second]->open = false;  // programs may still have it in a slot
    by_number_.erase(found->second);
    by_handle_.erase(found);
  }
  const auto file = files_.find(inode);
  if (file != files_.end() && --file->second.open <= 0) files_.erase(file);
  return wrote;
}

void Tickets::mark_mapped(Inode inode) {
  if (const auto file = files_.find(inode); file != files_.end()) file->second.mapped = true;
}

bool Tickets::is_mapped(Inode inode) const {
  const auto file = files_.find(inode);
  return file != files_.end() && file->second.mapped;
}

}  // namespace haichi::gasfs::arena
