#include "gasfs/arena/gathering.h"

#include <errno.h>
#include <linux/futex.h>

#include <algorithm>

#include "base/log.h"
#include "gasfs/arena/ring_writer.h"
#include "gasfs/arena/stamp.h"

namespace haichi::gasfs::arena {
namespace {

void publish(RingReader& ring) {
  if (ring.publish()) futex(ring.head().taken, FUTEX_WAKE, 1);
}

}  // namespace

/// Its ring holds what can't be.
void Gathering::cut_off(Program& program) {
  program.cut_off();
  ++counts.cut_off;
  log(LogLevel::warn,
      "process {} wrote into its arena what can't be: it writes through the kernel from now on",
      program.pid());
}

bool Gathering::next(Front& front, uint64_t last) {
  bool sound = true;
  const auto record = front.ring->peek(sound);
  if (!sound || (record && record->kind != Kind::bind && record->kind != Kind::write)) {
    cut_off(*front.program);
    return false;
  }
  if (!record || record->stamp > last) return false;
  front.record = *record;
  return true;
}

void Gathering::find_fronts(uint64_t last) {
  fronts_.clear();
  for (const auto& program : programs_) {
    if (program->is_cut_off()) continue;
    for (RingReader& ring : program->rings()) {
      if (ring.is_empty()) continue;
      Front front{program.get(), &ring, {}};
      if (!ring.look()) {
        cut_off(*program);
        break;
      }
      if (next(front, last)) fronts_.push_back(front);
      if (program->is_cut_off()) break;
    }
  }
}

bool Gathering::drain() {
  const uint64_t last = last_stamp(bell_, bell_.stamps_counted != 0);
  find_fronts(last);
  if (fronts_.empty()) return false;
  const auto earlier = [](const Front& a, const Front& b) {
    return a.record.stamp < b.record.stamp;
  };
  while (!fronts_.empty()) {
    const auto first = std::min_element(fronts_.begin(), fronts_.end(), earlier);
    std::iter_swap(first, fronts_.end() - 1);
    Front& front = fronts_.back();
    // As long as its ring has what is earlier than all others'.
    uint64_t until = last;
    for (auto other = fronts_.begin(); other != fronts_.end() - 1; ++other) {
      until = std::min(until, other->record.stamp);
    }
    bool more = true;
    while (more && front.record.stamp <= until) {
      carry_out(front);
      front.ring->pop(front.record);
      more = next(front, last);
    }
    publish(*front.ring);
    if (!more) fronts_.pop_back();
  }
  return true;
}

void Gathering::carry_out(Front& front) {
  const Record& record = front.record;
  if (record.kind == Kind::write) {
    write(front);
    return;
  }
  auto ticket = tickets.find(record.offset);
  const bool mapped = ticket && tickets.is_mapped(ticket->inode);
  front.program->bind(record.slot, std::move(ticket), mapped);
}

void Gathering::write(Front& front) {
  const Record& record = front.record;
  Ticket* const ticket = front.program->open_in(record.slot);
  if (!ticket || !ticket->writes) {  // it wrote to what it had closed, or asked only to read
    front.program->send_through_kernel(record.slot);
    return;
  }
  ++counts.records;
  counts.bytes += record.size;
  const auto written =
      files_.write(ticket->handle, record.offset, front.ring->bytes(record), front.program->pid());
  if (written) return;
  if (ticket->error == 0) ticket->error = written.error();
  front.program->send_through_kernel(record.slot);  // where the next write tells of it
}

void Gathering::changing(Inode inode) {
  leases.changing(inode);
  name_leases->changing(inode);
}

void Gathering::changed(Inode inode) {
  name_leases->changed(inode);
  leases.changed(inode);
}

uint64_t Gathering::give_ticket(Inode inode, Handle handle, bool writes) {
  const uint64_t number = tickets.number_of(inode, handle);
  if (writes && tickets.let_write(number)) changing(inode);
  return number;
}

void Gathering::forget(Inode inode, Handle handle) {
  if (tickets.forget(inode, handle)) changed(inode);
}

std::optional<Gathering::Asked> Gathering::look_up(const std::shared_ptr<Program>& program,
                                                   const Question& question) {
  drain();  // what was written before the question, and in which slot
  if (question.ask == Ask::watch) {
    return Asked{.program = program, .question = question, .watched = program->watched(question)};
  }
  const Ticket* const ticket = program->is_cut_off() ? nullptr : program->open_in(question.slot);
  if (!ticket || tickets.is_mapped(ticket->inode)) {
    program->answer(question, -EBADF, false);
    return {};
  }
  return Asked{program, question, ticket->inode, ticket->handle, leases.read_begins(ticket->inode)};
}

std::optional<Gathering::Asked> Gathering::next_asked() {
  for (size_t i = 0; i < programs_.size(); ++i) {
    const auto& program = programs_[next_program_++ % programs_.size()];
    while (const auto question = program->next_question()) {
      if (auto asked = look_up(program, *question)) return asked;
    }
  }
  return {};
}

bool Gathering::answer_one() {
  std::optional<Asked> asked;
  {
    const std::lock_guard lock(mutex);
    asked = next_asked();
  }
  if (!asked) return false;
  if (asked->question.ask == Ask::watch) {
    answer_watch(*asked);
  } else {
    answer_read(*asked);
  }
  return true;
}

void Gathering::answer_read(const Asked& asked) {
  const Question& question = asked.question;
  const auto got = files_.read(asked.handle, question.offset, asked.program->room(question));
  const std::lock_guard lock(mutex);
  const bool same =
      leases.read_ended(asked.inode, asked.begun, asked.program, question.slot) && got;
  ++counts.answers;
  counts.answer_bytes += got.value_or(0);
  asked.program->answer(question, got ? int(*got) : -got.error(), same);
}

/// The lease begins before the files are asked, so that no change of theirs slips through.
void Gathering::answer_watch(const Asked& asked) {
  const auto name = uint16_t(asked.question.slot % kNames);
  uint32_t lease = 0;
  int64_t until = 0;
  if (!asked.watched.empty()) {
    lease = name_leases->begin(asked.program, name, asked.watched);
    until = files_.watch(asked.watched);
    if (until == 0 || !name_leases->lasts(asked.program, name, lease)) lease = 0;
  }
  const std::lock_guard lock(mutex);
  ++counts.watches;
  asked.program->answer_watch(asked.question, lease, until);
}

void Gathering::remove(pid_t pid) {
  for (const auto& program : programs_) {
    if (program->pid() == pid) {
      drain();
      program->cut_off();
    }
  }
  std::erase_if(programs_, [&](const auto& program) { return program->pid() == pid; });
}

void Gathering::mark_mapped(Inode inode) {
  if (tickets.is_mapped(inode)) return;
  tickets.mark_mapped(inode);
  for (const auto& program : programs_) program->send_through_kernel(inode);
}

void Gathering::close() {
  drain();
  for (const auto& program : programs_) program->cut_off();
}

}  // namespace haichi::gasfs::arena
