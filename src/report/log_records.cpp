#include "report/log_records.h"

#include <bit>
#include <concepts>

namespace haichi::report {
namespace {

// What is packed, in which order, is said once for both directions.

void go_through_candidate(auto& field, auto& candidate) {
  field(candidate.name);
  field(candidate.trials);
  field(candidate.dropped);
  field(candidate.predicted);
  field(candidate.reason);
}

/// Seven bits a byte, the last one without the eighth; small negative numbers are small, too.
class Packer {
 public:
  explicit Packer(std::string& bytes) : bytes_(bytes) {}
  ~Packer() { flush(); }
  Packer(const Packer&) = delete;
  Packer& operator=(const Packer&) = delete;

  void operator()(std::integral auto number) {
    if (size_ + kMostOfANumber > sizeof coded_) flush();
    const auto value = int64_t(number);
    uint64_t rest = uint64_t(value) << 1 ^ uint64_t(value >> 63);
    for (; rest >= 128; rest >>= 7) coded_[size_++] = char((rest & 127) | 128);
    coded_[size_++] = char(rest);
  }
  void operator()(double number) { (*this)(std::bit_cast<int64_t>(number)); }
  void operator()(const std::string& text) {
    (*this)(text.size());
    flush();
    bytes_ += text;
  }
  template <class Each>
  void operator()(const std::vector<Each>& list) {
    (*this)(list.size());
    for (const Each& each : list) (*this)(each);
  }
  void operator()(const std::map<std::string, std::string>& map) {
    (*this)(map.size());
    for (const auto& [name, value] : map) {
      (*this)(name);
      (*this)(value);
    }
  }
  void operator()(const CollectiveRecord::Candidate& candidate) {
    go_through_candidate(*this, candidate);
  }

 private:
  static constexpr size_t kMostOfANumber = 10;
  void flush() {
    bytes_.append(coded_, size_);
    size_ = 0;
  }

  std::string& bytes_;
  char coded_[128];  // what is not in `bytes_` yet
  size_t size_ = 0;
};

class Unpacker {
 public:
  explicit Unpacker(std::string_view bytes) : bytes_(bytes) {}

  void operator()(std::integral auto& number) {
    uint64_t value = 0;
    for (int shift = 0;; shift += 7) {
      if (bytes_.empty() || shift > 63) return fail();
      const auto byte = uint8_t(bytes_.front());
      bytes_.remove_prefix(1);
      value |= uint64_t(byte & 127) << shift;
      if (byte < 128) break;
    }
    number = std::remove_reference_t<decltype(number)>(int64_t(value >> 1 ^ (0 - (value & 1))));
  }
  void operator()(double& number) {
    int64_t bits = 0;
    (*this)(bits);
    number = std::bit_cast<double>(bits);
  }
  void operator()(CollectiveRecord::Candidate& candidate) {
    go_through_candidate(*this, candidate);
  }
  void operator()(std::string& text) {
    const size_t size = length();
    text = bytes_.substr(0, size);
    bytes_.remove_prefix(size);
  }
  template <class Each>
  void operator()(std::vector<Each>& list) {
    list.resize(length());
    for (Each& each : list) (*this)(each);
  }
  void operator()(std::map<std::string, std::string>& map) {
    for (size_t left = length(); left > 0; --left) {
      std::string name;
      (*this)(name);
      (*this)(map[name]);
    }
  }
  /// Whether all bytes were what was asked for.
  bool whole() const { return sound_ && bytes_.empty(); }
  bool sound() const { return sound_; }
  std::string_view rest() const { return bytes_; }

 private:
  void fail() {
    sound_ = false;
    bytes_ = {};
  }
  /// Of something that takes a byte each at least.
  size_t length() {
    size_t size = 0;
    (*this)(size);
    if (size <= bytes_.size()) return size;
    fail();
    return 0;
  }

  std::string_view bytes_;
  bool sound_ = true;
};

void go_through(auto& field, auto& t) {
  field(t.rank);
  field(t.node);
  field(t.since_start_ns);
  for (auto& each : t.phase_ns) field(each);
  for (auto& each : t.phase_bytes) field(each);
  field(t.accesses.calls);
  field(t.accesses.elapsed_ns);
  field(t.accesses.bytes);
  field(t.shown);
  field(t.lost);
}

void go_through_file(auto& field, auto& file) {
  field(file.key);
  field(file.path);
  field(file.calls_seen);
  field(file.hints);
  field(file.ignored_hints);
  field(file.flattening.view_blocks);
  field(file.flattening.view_bytes);
  field(file.flattening.memory_blocks);
  field(file.flattening.memory_bytes);
  field(file.flattening.others_bytes);
}

void go_through_words(auto& field, auto& call) {
  field(call.call);
  field(call.layout);
  field(call.order);
  field(call.aggregators);
  field(call.why);
}

void go_through_collective(auto& field, auto& record) {
  field(record.collective);
  field(record.ranks);
  field(record.nodes);
  field(record.size_bin);
  field(record.locked);
  field(record.chosen);
  field(record.why);
  field(record.candidates);
}

/// What changes with each call, for as many candidates as `record` has.
void go_through_counts(auto& field, auto& record) {
  field(record.calls);
  field(record.retries);
  field(record.seconds);
  for (auto& candidate : record.candidates) {
    field(candidate.steady_calls);
    field(candidate.steady_seconds);
  }
}

/// `behind`: whether it has times of a thread behind the program, and these two.
void go_through_call(auto& field, auto& key, auto& words, auto& call, auto& behind, auto& ran_ns,
                     auto& waited_ns) {
  field(key);
  field(words);
  field(call.index);
  field(call.event_call);
  field(call.handled);
  field(call.elapsed_ns);
  field(call.bytes_inside);
  field(call.bytes_between);
  field(call.messages_between);
  field(call.min_internode_bytes);
  field(call.windows_whole);
  field(call.windows_separate);
  field(call.windows_rmw);
  field(call.bytes);
  field(call.file_begin);
  field(call.file_end);
  field(call.window);
  field(call.cycles);
  field(behind);
  field(ran_ns);
  field(waited_ns);
}

void pack_all(std::string& bytes, const auto& go) {
  Packer packer(bytes);
  go(packer);
}

bool unpack_all(std::string_view bytes, const auto& go) {
  Unpacker unpacker(bytes);
  go(unpacker);
  return unpacker.whole();
}

}  // namespace

void pack(std::string& bytes, const Totals& totals) {
  pack_all(bytes, [&](auto& field) { go_through(field, totals); });
}

void pack_file(std::string& bytes, const FileRecord& file) {
  pack_all(bytes, [&](auto& field) { go_through_file(field, file); });
}

void pack_words(std::string& bytes, const CallRecord& call) {
  pack_all(bytes, [&](auto& field) { go_through_words(field, call); });
}

void pack_number(std::string& bytes, int64_t number) { Packer{bytes}(number); }

void pack_call(std::string& bytes, int64_t key, int64_t words, const CallRecord& call) {
  const bool behind = call.behind != nullptr;
  const int64_t ran_ns = behind ? call.behind->ran_ns.load() : 0;
  const int64_t waited_ns = behind ? call.behind->waited_ns.load() : 0;
  pack_all(bytes, [&](auto& field) {
    go_through_call(field, key, words, call, behind, ran_ns, waited_ns);
  });
}

void pack_collective(std::string& bytes, const CollectiveRecord& record) {
  pack_all(bytes, [&](auto& field) { go_through_collective(field, record); });
}

void pack_counts(std::string& bytes, const CollectiveRecord& record) {
  pack_all(bytes, [&](auto& field) { go_through_counts(field, record); });
}

bool unpack(std::string_view bytes, Totals& totals) {
  return unpack_all(bytes, [&](auto& field) { go_through(field, totals); });
}

bool unpack_file(std::string_view bytes, FileRecord& file) {
  return unpack_all(bytes, [&](auto& field) { go_through_file(field, file); });
}

bool unpack_words(std::string_view bytes, CallRecord& call) {
  return unpack_all(bytes, [&](auto& field) { go_through_words(field, call); });
}

bool unpack_call(std::string_view bytes, LoggedCall& logged) {
  bool behind = false;
  int64_t ran_ns = 0, waited_ns = 0;
  const bool whole = unpack_all(bytes, [&](auto& field) {
    go_through_call(field, logged.key, logged.words, logged.call, behind, ran_ns, waited_ns);
  });
  if (behind) {
    logged.call.behind = std::make_shared<BehindTimes>();
    logged.call.behind->ran_ns = ran_ns;
    logged.call.behind->waited_ns = waited_ns;
  }
  return whole;
}

bool unpack_number(std::string_view& bytes, int64_t& number) {
  Unpacker unpacker(bytes);
  unpacker(number);
  bytes = unpacker.rest();
  return unpacker.sound();
}

bool unpack_collective(std::string_view bytes, CollectiveRecord& record) {
  return unpack_all(bytes, [&](auto& field) { go_through_collective(field, record); });
}

bool unpack_counts(std::string_view bytes, CollectiveRecord& record) {
  return unpack_all(bytes, [&](auto& field) { go_through_counts(field, record); });
}

}  // namespace haichi::report
