#include "recorder/end_session.h"

#include <memory>
#include <numeric>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/log.h"
#include "generated/real.h"
#include "mpi/compat/handles.h"
#include "preload/library.h"
#include "record/record_file.h"
#include "record/write.h"
#include "recorder/code_objects.h"
#include "recorder/own_messages.h"
#include "recorder/part_files.h"
#include "recorder/session.h"

namespace haichi::recorder {
namespace {

using mpi::handles;
using mpi::real;
using record::Numbers;
using record::Wanted;

/// All numbers in one message, in the order of what was wanted.
std::vector<int32_t> packed(const Numbers& numbers) {
  std::vector<int32_t> all = numbers.communicators;
  all.insert(all.end(), numbers.files.begin(), numbers.files.end());
  all.insert(all.end(), numbers.sites.begin(), numbers.sites.end());
  return all;
}

Numbers unpacked(const std::vector<int32_t>& all, const Wanted& wanted) {
  const auto files = all.begin() + std::ptrdiff_t(wanted.communicators.size());
  const auto sites = files + std::ptrdiff_t(wanted.files.size());
  return {{all.begin(), files}, {files, sites}, {sites, all.end()}};
}

/// Rank 0 has all ranks write their parts, one after the other. A rank's lines come piece by piece,
/// the last one empty.
class Writer {
 public:
  Writer(const Session& session, const record::PartText& own, record::Sequence* sequence)
      : session_(session), own_(own), sequence_(sequence), messages_(session.parts.own) {}

  Status write() {
    auto file = record::RecordFile::create(session_.parts.path);
    if (file) file_.emplace(std::move(*file));
    const record::Sink sink = [&](std::string_view lines) { return file_ && file_->add(lines); };
    sink(session_.record_line + "\n");
    Numbers numbers;
    numbers_.give(own_.wanted(), numbers, sink);
    own_.write(numbers, sink, sequence_);
    for (int rank = 1; rank < session_.parts.ranks; ++rank)
      if (!take(rank, sink)) return fail(EIO, "the MPI library fails between rank 0 and {}", rank);
    if (!file_) return tl::unexpected(file.error());
    sink(record::end_line(session_.parts.ranks, calls_ + own_.calls()));
    return file_->finish();
  }

 private:
  bool take(int rank, const record::Sink& sink) {
    std::string text;
    if (!messages_.send(rank, std::string_view("go")) || !messages_.receive(rank, text))
      return false;
    Numbers numbers;
    numbers_.give(record::from_text(text), numbers, sink);
    if (!messages_.send(rank, packed(numbers))) return false;
    do {
      if (!messages_.receive(rank, text)) return false;
      sink(text);
    } while (!text.empty());
    int32_t calls[2] = {};
    if (!messages_.receive(rank, calls)) return false;
    calls_ += int64_t{calls[0]} << 31 | calls[1];
    return true;
  }

  const Session& session_;
  const record::PartText& own_;
  record::Sequence* const sequence_;
  const OwnMessages messages_;
  record::SharedNumbers numbers_;
  std::optional<record::RecordFile> file_;
  int64_t calls_ = 0;
};

void give_to_rank_0(const Session& session, const record::PartText& own,
                    record::Sequence* sequence) {
  const OwnMessages messages(session.parts.own);
  std::string word;
  if (!messages.receive(0, word) || !messages.send(0, record::to_text(own.wanted()))) return;
  const Wanted& wanted = own.wanted();
  std::vector<int32_t> numbers(wanted.communicators.size() + wanted.files.size() +
                               wanted.sites.size());
  if (!messages.receive(0, numbers)) return;
  const record::Sink sink = [&](std::string_view lines) {
    return lines.empty() || messages.send(0, lines);
  };
  own.write(unpacked(numbers, wanted), sink, sequence);
  const int32_t calls[2] = {int32_t(own.calls() >> 31), int32_t(own.calls() & INT32_MAX)};
  if (messages.send(0, std::string_view())) messages.send(0, calls);
}

/// The order of this rank's calls, if it was wanted.
std::optional<record::Sequence> sequence_of(const Session& session) {
  if (!session.folder) return std::nullopt;
  std::vector<std::string> names;
  for (const char* const* name = preload::function_names; *name != nullptr; ++name)
    names.emplace_back(*name);
  return session.folder->sequence(names);
}

void tell_of_failure(const SessionParts& parts, const std::string& why) {
  const std::string instead =
      parts.part_folder.empty()
          ? std::string()
          : fmt::format(", or make it of what the ranks have left: haichi record {}",
                        parts.part_folder);
  log(LogLevel::error, "no record: {}; give HAICHI_RECORD a path that can be written{}", why,
      instead);
}

bool write_together(const Session& session) {
  const record::PartText own(session.recording.view());
  std::optional<record::Sequence> sequence = sequence_of(session);
  record::Sequence* const of_calls = sequence ? &*sequence : nullptr;
  int64_t written = 0;
  if (session.parts.rank == 0) {
    const Status done = Writer(session, own, of_calls).write();
    written = done.has_value();
    if (!done) tell_of_failure(session.parts, done.error().text);
  } else {
    give_to_rank_0(session, own, of_calls);
  }
  return real().Bcast(&written, 1, handles().int64, 0, session.parts.own) == MPI_SUCCESS &&
         written != 0;
}

}  // namespace

void end_session() {
  const std::unique_ptr<Session> ending(session());
  if (!ending) return;
  set_session(nullptr);
  {
    const std::lock_guard guard(ending->recording.lock());
    ending->recording.finish(now_ns(), process_cpu_ns());
    for (const record::CodeObject& object : code_objects())
      ending->recording.definitions().add_object(object);
  }
  const SessionParts parts = ending->parts;
  if (write_together(*ending) && !parts.part_folder.empty())
    remove_part_file(parts.part_folder, parts.rank);
  MPI_Comm own = parts.own;
  real().Comm_free(&own);
}

}  // namespace haichi::recorder
