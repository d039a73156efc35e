#include "gasfs/store/check.h"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>

#include "gasfs/store/name_table.h"

namespace haichi::gasfs {
namespace {

/// What the tables say of one file, gathered from all of them.
struct Seen {
  Record record;
  uint64_t names = 0;
  uint64_t folders_within = 0;
  bool orphan = false;
};

class Check {
 public:
  explicit Check(const Transaction& txn) : txn_(txn) {}

  Status run(CheckReport& report) {
    Done done = txn_.each(Table::inodes, {}, [&](std::string_view key, std::string_view value) {
      const auto record = record_of(value);
      if (record)
        files_[number_at(key, 0)].record = *record;
      else
        report.problems.push_back(fmt::format("file {}: no sound record", number_at(key, 0)));
      return true;
    });
    if (done)
      done = txn_.each(Table::orphans, {}, [&](std::string_view key, std::string_view) {
        const auto file = files_.find(number_at(key, 0));
        if (file != files_.end()) file->second.orphan = true;
        return true;
      });
    if (done)
      done = txn_.each(Table::names, {}, [&](std::string_view key, std::string_view value) {
        look_at_name(key, value, report);
        return true;
      });
    const auto listed = done ? txn_.count(Table::order) : tl::unexpected(done.error());
    if (!listed)
      return fail(listed.error(), "the names cannot be read: {}", std::strerror(listed.error()));
    if (*listed != names_)
      report.problems.push_back(
          fmt::format("folders list {} names, and {} are known", *listed, names_));
    for (const auto& [inode, seen] : files_) count(inode, seen, report);
    report.files = files_.size();
    return {};
  }
  bool has(Inode inode) const { return files_.contains(inode); }

 private:
  void look_at_name(std::string_view key, std::string_view value, CheckReport& report) {
    ++names_;
    const Inode folder = number_at(key, 0);
    const std::string_view name = key.substr(std::min<size_t>(8, key.size()));
    const auto problem = [&](const char* what) {
      report.problems.push_back(fmt::format("'{}' in folder {}: {}", name, folder, what));
    };
    const auto record = name_record_of(value);
    if (!record) return problem("no sound record");
    const auto parent = files_.find(folder), file = files_.find(record->inode);
    if (parent == files_.end() || !is_folder(parent->second.record)) problem("its folder is none");
    if (!txn_.get(Table::order, key_of(folder, record->cursor)))
      problem("its folder does not list it");
    if (file == files_.end()) return problem("its file is not there");
    ++file->second.names;
    if (!is_folder(file->second.record)) return;
    if (file->second.record.parent != folder) problem("it names another folder as its own");
    if (parent != files_.end()) ++parent->second.folders_within;
  }

  static void count(Inode inode, const Seen& seen, CheckReport& report) {
    const Record& record = seen.record;
    const bool folder = is_folder(record);
    const uint64_t links = folder ? 2 + seen.folders_within : seen.names;
    if (record.links != links)
      report.problems.push_back(
          fmt::format("file {}: {} links, and {} are there", inode, record.links, links));
    if (seen.names == 0 && !seen.orphan && inode != kRoot)
      report.problems.push_back(fmt::format("file {}: has no name", inode));
    for (uint32_t i = 0; i < std::min(record.servers, kMostServersWithCopies); ++i)
      if (is_stale(layout_of(record), i)) report.stale.push_back({inode, i});
    if (folder && seen.names > 1)
      report.problems.push_back(fmt::format("folder {}: has {} names", inode, seen.names));
  }

  const Transaction& txn_;
  std::map<Inode, Seen> files_;
  uint64_t names_ = 0;
};

}  // namespace

Result<CheckReport> check(std::span<const std::unique_ptr<Store>> stores) {
  CheckReport report;
  if (stores.empty() || !stores[0]->names()) return fail(EINVAL, "the first store has no names");
  const auto txn = stores[0]->names()->database().begin(false);
  if (!txn) return fail(txn.error(), "the names cannot be read: {}", std::strerror(txn.error()));
  Check names(*txn);
  if (auto run = names.run(report); !run) return tl::unexpected(run.error());
  for (const auto& store : stores) {
    auto looked = store->objects().each([&](Inode inode, uint64_t) {
      ++report.objects;
      if (!names.has(inode)) report.left_over.push_back(inode);
      return true;
    });
    if (!looked) return tl::unexpected(looked.error());
  }
  return report;
}

Status repair(std::span<const std::unique_ptr<Store>> stores, const CheckReport& report) {
  auto gone = stores[0]->names()->drop_orphans();
  if (!gone)
    return fail(gone.error(), "the names cannot be changed: {}", std::strerror(gone.error()));
  for (const StaleCopy& copy : report.stale)
    if (std::ranges::find(*gone, copy.inode) == gone->end())
      if (auto mended = mend(stores, copy); !mended) return mended;
  gone->insert(gone->end(), report.left_over.begin(), report.left_over.end());
  for (const auto& store : stores)
    for (const Inode inode : *gone)
      if (auto removed = store->objects().remove(inode); !removed)
        return fail(removed.error(), "object {} cannot be removed: {}", inode,
                    std::strerror(removed.error()));
  return {};
}

}  // namespace haichi::gasfs
