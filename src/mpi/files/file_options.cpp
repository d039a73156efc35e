#include "mpi/files/file_options.h"

#include <fmt/format.h>

#include <algorithm>

#include "generated/real.h"
#include "mpi/compat/library_file_io.h"
#include "mpi/files/hints.h"
#include "mpi/job/runtime.h"
#include "mpiio/ways/options.h"

namespace haichi::mpi {

bool must_wait_in_library(const Runtime& runtime) {
  return runtime.threads_may_write && library_file_io().locks_files;
}

FileOptions::FileOptions(const Runtime& runtime, const placement::Placement& placement)
    : runtime_(runtime), placement_(placement), settings_(runtime.settings) {}

void FileOptions::take_hints(MPI_Info info, std::vector<std::string>& ignored,
                             const std::function<void(const std::string&)>& complain) {
  aggregators_.ranks.clear();
  for (const auto& [key, value] : hints_of(info)) {
    if (const auto each = ranks_of_each_node(value); key == "cb_config_list" && each) {
      (void)settings_.set("io.per_node", std::to_string(*each), "hint");
      continue;
    }
    const auto known = std::find_if(std::begin(kSettings), std::end(kSettings),
                                    [&](const Setting& s) { return s.hint == key; });
    if (known == std::end(kSettings)) {
      const std::string hint = key + "=" + value;
      if (is_unserved_hint(key) && std::find(ignored.begin(), ignored.end(), hint) == ignored.end())
        ignored.push_back(hint);
      continue;
    }
    // A program may hand on all hints of another file, which asks for nothing.
    if (settings_.text(*known) == value) continue;
    if (auto done = settings_.set(known->key, value, "hint"); !done) complain(done.error().text);
  }
}

void FileOptions::take_striping(const Striping& striping) {
  auto take = [&](SettingKey key, int64_t value) {
    if (settings_.source(key) != "environment")
      (void)settings_.set(key.row().key, std::to_string(value), "file system");
  };
  take("io.stripe_unit", striping.unit);
  take("io.stripes", striping.count);
  aggregators_.ranks.clear();
}

void FileOptions::give_hints(MPI_Info info) const {
  for (const Setting& row : kSettings) {
    if (row.hint.empty()) continue;
    std::string value = settings_.text(row);
    if (row.key == "io.aggregators")
      value = std::to_string(mpiio::aggregators_of(placement_, two_phase()));
    if (row.kind == Setting::Kind::bytes || row.kind == Setting::Kind::bytes_or_none)
      value = std::to_string(settings_.number(NumberKey(row)));
    if (row.key == "io.buffer") value = std::to_string(two_phase().buffer);
    // A stripe size or count of 0 means "not given": then the key is not there, as without haichi.
    if (value == "0" && row.hint.starts_with("striping")) continue;
    real().Info_set(info, std::string(row.hint).c_str(), value.c_str());
  }
  if (const std::string list = config_list(); !list.empty())
    real().Info_set(info, "cb_config_list", list.c_str());
}

std::map<std::string, std::string> FileOptions::hints() const {
  std::map<std::string, std::string> hints;
  for (const Setting& row : kSettings)
    if (!row.hint.empty()) hints[std::string(row.hint)] = settings_.text(row);
  if (const std::string list = config_list(); !list.empty()) hints["cb_config_list"] = list;
  return hints;
}

/// The limit of each node as ROMIO has it; empty if there is none.
std::string FileOptions::config_list() const {
  const int64_t each = settings_.number("io.per_node");
  return each > 0 ? fmt::format("*:{}", each) : "";
}

mpiio::TwoPhaseOptions FileOptions::two_phase() const {
  mpiio::TwoPhaseOptions options = mpiio::options_of(settings_, placement_);
  options.machine = runtime_.machine ? &*runtime_.machine : nullptr;
  // Who waits for memory to change has to poll the library meanwhile.
  options.may_share = options.may_share && !must_wait_in_library(runtime_);
  return options;
}

mpiio::Holes FileOptions::holes() const { return mpiio::holes_of(settings_); }

const plan::Aggregators& FileOptions::aggregators() {
  if (aggregators_.ranks.empty()) aggregators_ = mpiio::aggregators_for(placement_, two_phase());
  return aggregators_;
}

bool FileOptions::aggregates(int rank) {
  const std::vector<int>& ranks = aggregators().ranks;
  return std::find(ranks.begin(), ranks.end(), rank) != ranks.end();
}

std::string FileOptions::refusal(mpiio::Direction direction) const {
  const bool writing = direction == mpiio::Direction::write;
  if (switched_off()) return "switched off by io.enable";
  if ((writing ? settings_.text("io.write") : settings_.text("io.read")) == "disable")
    return writing ? "romio_cb_write is disable" : "romio_cb_read is disable";
  return "";
}

bool FileOptions::wants_tuning() const {
  return settings_.text("io.tune") == "on" && placement_.nodes() > 1 &&
         settings_.source("io.order") == "default" && settings_.source("io.window") == "default";
}

}  // namespace haichi::mpi
