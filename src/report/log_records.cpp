#include "report/log_records.h"

#include <concepts>

namespace haichi::report {
namespace {

/// Seven bits a byte, the last one without the eighth; small negative numbers are small, too.
class Packer {
 public:
  explicit Packer(std::string& bytes) : bytes_(bytes) {}

  void operator()(std::integral auto number) {
    const auto value = int64_t(number);
    char coded[10];
    size_t size = 0;
    uint64_t rest = uint64_t(value) << 1 ^ uint64_t(value >> 63);
    for (; rest >= 128; rest >>= 7) coded[size++] = char(rest & 127 | 128);
    coded[size++] = char(rest);
    bytes_.append(coded, size);
  }
  void operator()(const std::string& text) {
    (*this)(text.size());
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

 private:
  std::string& bytes_;
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

// What is packed, in which order, is said once for both directions.

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

void go_through_numbers(auto& field, auto& call) {
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
}

}  // namespace

void pack(std::string& bytes, const Totals& totals) {
  Packer packer(bytes);
  go_through(packer, totals);
}

void pack_file(std::string& bytes, const FileRecord& file) {
  Packer packer(bytes);
  go_through_file(packer, file);
}

void pack_words(std::string& bytes, const CallRecord& call) {
  Packer packer(bytes);
  go_through_words(packer, call);
}

void pack_number(std::string& bytes, int64_t number) { Packer{bytes}(number); }

void pack_call(std::string& bytes, int64_t key, int64_t words, const CallRecord& call) {
  Packer packer(bytes);
  packer(key);
  packer(words);
  go_through_numbers(packer, call);
  packer(call.behind != nullptr);
  packer(call.behind ? call.behind->ran_ns.load() : 0);
  packer(call.behind ? call.behind->waited_ns.load() : 0);
}

bool unpack(std::string_view bytes, Totals& totals) {
  Unpacker unpacker(bytes);
  go_through(unpacker, totals);
  return unpacker.whole();
}

bool unpack_file(std::string_view bytes, FileRecord& file) {
  Unpacker unpacker(bytes);
  go_through_file(unpacker, file);
  return unpacker.whole();
}

bool unpack_words(std::string_view bytes, int64_t& number, CallRecord& call) {
  Unpacker unpacker(bytes);
  unpacker(number);
  go_through_words(unpacker, call);
  return unpacker.whole();
}

bool unpack_call(std::string_view bytes, LoggedCall& logged) {
  Unpacker unpacker(bytes);
  unpacker(logged.key);
  unpacker(logged.words);
  go_through_numbers(unpacker, logged.call);
  bool behind = false;
  int64_t ran_ns = 0, waited_ns = 0;
  unpacker(behind);
  unpacker(ran_ns);
  unpacker(waited_ns);
  if (behind) {
    logged.call.behind = std::make_shared<BehindTimes>();
    logged.call.behind->ran_ns = ran_ns;
    logged.call.behind->waited_ns = waited_ns;
  }
  return unpacker.whole();
}

}  // namespace haichi::report
