#include "launch/environment.h"

#include <algorithm>

namespace haichi::launch {
namespace {

bool names(const std::string& entry, std::string_view name) {
  return entry.size() > name.size() && entry[name.size()] == '=' && entry.starts_with(name);
}

}  // namespace

Environment::Environment(const char* const* entries) {
  for (; entries && *entries; ++entries) entries_.emplace_back(*entries);
}

std::optional<std::string_view> Environment::get(std::string_view name) const {
  for (const std::string& entry : entries_)
    if (names(entry, name)) return std::string_view(entry).substr(name.size() + 1);
  return std::nullopt;
}

std::string_view Environment::get_or(std::string_view name, std::string_view fallback) const {
  const auto value = get(name);
  return value && !value->empty() ? *value : fallback;
}

void Environment::set(std::string_view name, std::string_view value) {
  std::string entry(name);
  entry.append("=").append(value);
  for (std::string& old : entries_) {
    if (names(old, name)) {
      old = std::move(entry);
      return;
    }
  }
  entries_.push_back(std::move(entry));
}

void Environment::unset(std::string_view name) {
  std::erase_if(entries_, [&](const std::string& entry) { return names(entry, name); });
}

std::vector<char*> Environment::pointers() {
  std::vector<char*> pointers;
  pointers.reserve(entries_.size() + 1);
  for (std::string& entry : entries_) pointers.push_back(entry.data());
  pointers.push_back(nullptr);
  return pointers;
}

}  // namespace haichi::launch
