#include "record/json_fields.h"

#include <errno.h>

#include <algorithm>
#include <optional>

#include "base/json_text.h"
#include "base/number_text.h"

namespace haichi::record {
namespace {

using nlohmann::json;

std::optional<int64_t> whole_in(const json& value, int64_t least, int64_t most) {
  if (!value.is_number_integer()) return std::nullopt;
  if (value.is_number_unsigned() && value.get<uint64_t>() > uint64_t(Fields::kMostWhole))
    return std::nullopt;
  const auto number = value.get<int64_t>();
  return number >= least && number <= most ? std::optional(number) : std::nullopt;
}

std::string range(int64_t least, int64_t most) {
  return most == Fields::kMostWhole || most == std::numeric_limits<int>::max()
             ? fmt::format("from {}", least)
             : fmt::format("from {} up to {}", least, most);
}

// "0-3,8,4" as numbers; nothing if it is not such a text.
std::optional<std::vector<int>> ranks_in(std::string_view text, int ranks) {
  std::vector<int> all;
  while (!text.empty()) {
    const std::string_view part = text.substr(0, text.find(','));
    text.remove_prefix(std::min(text.size(), part.size() + 1));
    const size_t dash = part.find('-');
    const auto first = whole_number(part.substr(0, dash));
    const auto last = dash == part.npos ? first : whole_number(part.substr(dash + 1));
    if (!first || !last || *first < 0 || *last < *first || *last >= ranks) return std::nullopt;
    if (all.size() + size_t(*last - *first) >= size_t(ranks)) return std::nullopt;
    for (int rank = *first; rank <= *last; ++rank) all.push_back(rank);
  }
  return all;
}

}  // namespace

Fields::Fields(const json& object, std::string where, Status& status)
    : object_(object), where_(std::move(where)), status_(status) {
  if (status_ && !object_.is_object())
    status_ = fail(EINVAL, "{} takes an object, not {}",
                   where_.empty() ? "a line" : where_.substr(0, where_.size() - 1), shown(object_));
}

const json& Fields::raw(const char* key) const {
  static const json none;
  const auto found = object_.is_object() ? object_.find(key) : object_.end();
  return found == object_.end() || !object_.is_object() ? none : *found;
}

bool Fields::has(const char* key) const { return !raw(key).is_null(); }

void Fields::wrong(const char* key, const std::string& takes) {
  if (status_) status_ = fail(EINVAL, "{}{} takes {}, not {}", where_, key, takes, shown(raw(key)));
}

Fields& Fields::needs(const char* key) {
  if (status_ && !has(key)) status_ = fail(EINVAL, "{}{} is missing", where_, key);
  return *this;
}

int64_t Fields::whole(const char* key, int64_t otherwise, int64_t least, int64_t most) {
  if (!has(key)) return otherwise;
  const auto number = whole_in(raw(key), least, most);
  if (!number) wrong(key, "a whole number " + range(least, most));
  return number.value_or(otherwise);
}

int Fields::small(const char* key, int otherwise, int least, int most) {
  return int(whole(key, otherwise, least, most));
}

double Fields::number(const char* key, double otherwise) {
  if (!has(key)) return otherwise;
  const json& value = raw(key);
  if (value.is_number() && value.get<double>() >= 0) return value.get<double>();
  wrong(key, "a number from 0");
  return otherwise;
}

bool Fields::flag(const char* key, bool otherwise) {
  if (!has(key)) return otherwise;
  if (raw(key).is_boolean()) return raw(key).get<bool>();
  wrong(key, "true or false");
  return otherwise;
}

std::string Fields::text(const char* key) {
  if (!has(key)) return {};
  if (raw(key).is_string()) return raw(key).get<std::string>();
  wrong(key, "a text");
  return {};
}

template <class T, class Convert>
std::vector<T> Fields::list(const char* key, const std::string& takes, Convert convert) {
  std::vector<T> values;
  if (!has(key)) return values;
  const json& list = raw(key);
  for (const json& each : list) {
    const std::optional<T> value = list.is_array() ? convert(each) : std::nullopt;
    if (!value) {
      wrong(key, takes);
      return values;
    }
    values.push_back(*value);
  }
  if (!list.is_array()) wrong(key, takes);
  return values;
}

std::vector<int> Fields::smalls(const char* key, int least, int most) {
  return list<int>(key, "a list of whole numbers " + range(least, most), [&](const json& each) {
    const auto number = whole_in(each, least, most);
    return number ? std::optional(int(*number)) : std::nullopt;
  });
}

std::vector<uint64_t> Fields::wholes(const char* key) {
  return list<uint64_t>(key, "a list of whole numbers from 0", [](const json& each) {
    const auto number = whole_in(each, 0, kMostWhole);
    return number ? std::optional(uint64_t(*number)) : std::nullopt;
  });
}

std::vector<std::string> Fields::texts(const char* key) {
  return list<std::string>(key, "a list of texts", [](const json& each) {
    return each.is_string() ? std::optional(each.get<std::string>()) : std::nullopt;
  });
}

std::vector<bool> Fields::flags(const char* key) {
  return list<bool>(key, "a list of true and false", [](const json& each) {
    return each.is_boolean() ? std::optional(each.get<bool>()) : std::nullopt;
  });
}

std::vector<int> Fields::rank_list(const char* key, int ranks) {
  if (!has(key)) return {};
  const json& value = raw(key);
  auto all = value.is_string() ? ranks_in(value.get_ref<const std::string&>(), ranks)
                               : std::optional<std::vector<int>>();
  if (!all)
    wrong(key, fmt::format("each of the ranks from 0 up to {} once, such as \"0-3,8\"", ranks - 1));
  return all ? std::move(*all) : std::vector<int>();
}

}  // namespace haichi::record
