#include "patterns/parameters.h"

#include <errno.h>

#include <fmt/format.h>

#include <algorithm>

#include "base/number_text.h"
#include "base/settings.h"
#include "collectives/algorithm.h"

namespace haichi::patterns {
namespace {

template <class Member>
struct TypeOf;
template <class Type>
struct TypeOf<Type Parameters::*> {
  using type = Type;
};
template <auto Member>
using type_of = typename TypeOf<decltype(Member)>::type;

template <auto Member, int Least>
Status assign_whole(Parameters& to, const Parameter& self, const std::string& text) {
  const auto value = whole_number<type_of<Member>>(text);
  if (!value || *value < Least)
    return fail(EINVAL, "{} takes a whole number from {}, not {}", self.name, Least, text);
  to.*Member = *value;
  return {};
}

template <auto Member, int Least>
Status assign_bytes(Parameters& to, const Parameter& self, const std::string& text) {
  const auto bytes = parse_bytes(text);
  if (!bytes || *bytes < Least)
    return fail(EINVAL, "{} takes a size such as 64, 1k or 1M, not {}", self.name, text);
  to.*Member = *bytes;
  return {};
}

Status assign_file(Parameters& to, const Parameter&, const std::string& text) {
  to.file = text;
  return {};
}

Status assign_algorithm(Parameters& to, const Parameter&, const std::string& text) {
  const auto candidate = collectives::parse_candidate(text);
  if (!candidate) return tl::unexpected(candidate.error());
  to.algorithm = candidate->text();
  return {};
}

// The words of the type are the values of an enumeration or of a bool, in their order.
template <auto Member>
Status assign_word(Parameters& to, const Parameter& self, const std::string& text) {
  const std::vector<std::string> words = words_of(self);
  const auto found = std::find(words.begin(), words.end(), text);
  if (found == words.end())
    return fail(EINVAL, "{} takes {}, not {}", self.name, fmt::join(words, ", "), text);
  to.*Member = type_of<Member>(found - words.begin());
  return {};
}

template <auto Member>
Value number(const Parameters& from, const Parameter&) {
  return int64_t(from.*Member);
}

template <auto Member>
Value word(const Parameters& from, const Parameter& self) {
  return words_of(self)[size_t(from.*Member)];
}

Value file(const Parameters& from, const Parameter&) { return from.file; }
Value algorithm(const Parameters& from, const Parameter&) {
  return from.algorithm.empty() ? "spread" : from.algorithm;
}

using P = Parameters;

template <auto Member, int Least>
constexpr Parameter whole_number(std::string_view name, std::string_view help) {
  return {name, "N", help, assign_whole<Member, Least>, number<Member>};
}
template <auto Member, int Least>
constexpr Parameter size(std::string_view name, std::string_view help) {
  return {name, "SIZE", help, assign_bytes<Member, Least>, number<Member>};
}
template <auto Member>
constexpr Parameter choice(std::string_view name, std::string_view words, std::string_view help) {
  return {name, words, help, assign_word<Member>, word<Member>};
}

constexpr Parameter kTable[] = {
    choice<&P::layout>("layout", "roundrobin|packed", "Layout of the aggregators"),
    choice<&P::order>("order", "rank|pairwise|nd_shift|nd_rank_shift", "Issue order"),
    size<&P::bytes, 0>("bytes", "Bytes of a message"),
    whole_number<&P::window, 0>("window", "Most sends outstanding; 0: no limit"),
    whole_number<&P::distance, 0>("distance", "Ranks from sender to receiver"),
    choice<&P::access>("access", "read|write", "What is done with the file"),
    size<&P::region_size, 1>("region-size", "Bytes of a region"),
    size<&P::region_space, 0>("region-space", "Bytes between two regions, nobody's"),
    whole_number<&P::region_count, 1>("region-count", "Regions of a rank"),
    choice<&P::contiguous>("regions", "noncontiguous|contiguous",
                           "In the file, ranks take turns, or each has one piece"),
    whole_number<&P::aggregators, 0>("aggregators", "Aggregators (cb_nodes); 0: the default"),
    whole_number<&P::per_node, 0>("per-node", "So many aggregators on each node; 0: no limit"),
    size<&P::buffer, 0>("buffer",
                        "Collective buffer (cb_buffer_size), two windows or three; 0: the default"),
    choice<&P::cycles>("cycles", "overlapping|in-a-row|in-step",
                       "Exchange while a window is accessed, after that, or after all ranks' are"),
    choice<&P::share>("share", "off|on", "Ranks of a node have memory in common"),
    choice<&P::thread>("thread", "auto|on|off", "A thread of each aggregator accesses the file"),
    choice<&P::streams>("streams", "auto|on|off",
                        "A node sends an aggregator one message for all its ranks"),
    choice<&P::holes>("holes", "auto|separate|rmw", "How a window with holes is written"),
    {"algorithm", "NAME", "Such as ring, bruck(4), node_aware(2), spread(nd_shift,32)",
     assign_algorithm, algorithm},
    {"file", "FILE", "Of the pattern", assign_file, file},
};

}  // namespace

std::vector<std::string> words_of(const Parameter& parameter) {
  std::vector<std::string> words;
  std::string_view rest = parameter.type;
  while (!rest.empty()) {
    const std::string_view word = rest.substr(0, rest.find('|'));
    words.emplace_back(word);
    rest.remove_prefix(std::min(rest.size(), word.size() + 1));
  }
  return words;
}

std::span<const Parameter> parameters() { return kTable; }

const Parameter* find_parameter(std::string_view name) {
  for (const Parameter& each : kTable)
    if (each.name == name) return &each;
  return nullptr;
}

}  // namespace haichi::patterns
