#include "goal/parse.h"

#include <errno.h>

#include <sstream>
#include <string>
#include <unordered_map>

#include "base/number_text.h"
#include "placement/formats.h"

namespace haichi::goal {
namespace {

using Words = std::vector<std::string>;

constexpr int64_t kMostAmount = int64_t{1} << 60;

Words words_of(std::string line) {
  if (const size_t comment = line.find("//"); comment != line.npos) line.resize(comment);
  std::istringstream in(line);
  Words words;
  for (std::string word; in >> word;) words.push_back(word);
  return words;
}

// "8b", or "8".
std::optional<int64_t> amount_of(std::string_view text) {
  if (text.ends_with('b')) text.remove_suffix(1);
  const auto amount = whole_number<int64_t>(text);
  return amount && *amount >= 0 && *amount <= kMostAmount ? amount : std::nullopt;
}

class Parser {
 public:
  Result<std::vector<RankProgram>> parse(std::istream& in) {
    std::string line;
    while (std::getline(in, line)) {
      ++number_;
      const Words words = words_of(line);
      if (words.empty()) continue;
      if (const Status status = take(words); !status)
        return fail(EINVAL, "line {}: {}", number_, status.error().text);
    }
    if (programs_.empty()) return fail(EINVAL, "it is no GOAL: that begins with num_ranks N");
    if (rank_ >= 0) return fail(EINVAL, "it is cut off: rank {} has no }}", rank_);
    return std::move(programs_);
  }

 private:
  Status take(const Words& words) {
    if (programs_.empty()) return take_ranks(words);
    if (rank_ < 0) return take_rank(words);
    if (words[0] == "}" && words.size() == 1) {
      rank_ = -1;
      return {};
    }
    if (words[0].ends_with(':')) return take_operation(words);
    if (words.size() == 3 && (words[1] == "requires" || words[1] == "irequires"))
      return take_dependence(words);
    return fail(EINVAL, "'{}' is no label:, no dependence (a requires b) and no }}", words[0]);
  }

  Status take_ranks(const Words& words) {
    const auto ranks =
        words.size() == 2 && words[0] == "num_ranks" ? whole_number(words[1]) : std::nullopt;
    if (!ranks || *ranks < 1 || *ranks > placement::kMaxRanks)
      return fail(EINVAL, "GOAL begins with num_ranks N");
    programs_.resize(size_t(*ranks));
    return {};
  }

  Status take_rank(const Words& words) {
    const auto rank = words.size() == 3 && words[0] == "rank" && words[2] == "{"
                          ? whole_number(words[1])
                          : std::nullopt;
    if (!rank || *rank < 0 || size_t(*rank) >= programs_.size())
      return fail(EINVAL, "here 'rank R {{' is expected, with R up to {}", programs_.size() - 1);
    if (!programs_[size_t(*rank)].operations.empty())
      return fail(EINVAL, "rank {} is there twice", *rank);
    rank_ = *rank;
    labels_.clear();
    return {};
  }

  Status take_operation(const Words& words) {
    const std::string label = words[0].substr(0, words[0].size() - 1);
    auto& operations = programs_[size_t(rank_)].operations;
    const auto [found, is_new] = labels_.try_emplace(label, int(operations.size()));
    if (!is_new) return fail(EINVAL, "label {} is there twice", label);
    auto operation = operation_of(words);
    if (!operation) return tl::unexpected(operation.error());
    operations.push_back(*operation);
    return {};
  }

  // calc N; send Nb to R [tag T]; recv Nb from R [tag T]; then cpu and nic with a number each.
  Result<Operation> operation_of(const Words& words) const {
    Operation operation;
    const std::string kind = words.size() > 1 ? words[1] : "";
    const bool sends = kind == "send", receives = kind == "recv";
    const auto amount = words.size() > 2 ? amount_of(words[2]) : std::nullopt;
    if ((kind != "calc" && !sends && !receives) || !amount)
      return fail(EINVAL, "an operation is 'calc N', 'send Nb to R' or 'recv Nb from R'");
    operation.amount = *amount;
    size_t next = 3;
    if (sends || receives) {
      operation.kind = sends ? Operation::Kind::send : Operation::Kind::receive;
      const auto peer = words.size() > 4 && words[3] == (sends ? "to" : "from")
                            ? whole_number(words[4])
                            : std::nullopt;
      if (!peer || *peer < 0 || size_t(*peer) >= programs_.size())
        return fail(EINVAL, "{} takes '{} R' with a rank up to {}", kind, sends ? "to" : "from",
                    programs_.size() - 1);
      operation.peer = *peer;
      next = 5;
    }
    for (; next < words.size(); next += 2) {
      const auto value = whole_number(next + 1 < words.size() ? words[next + 1] : "");
      const bool known = words[next] == "tag" || words[next] == "cpu" || words[next] == "nic";
      if (!known || !value || *value < 0)
        return fail(EINVAL, "'{}' is not tag, cpu or nic with a number from 0", words[next]);
      if (words[next] == "tag") operation.tag = *value;
    }
    return operation;
  }

  Status take_dependence(const Words& words) {
    const auto later = labels_.find(words[0]), earlier = labels_.find(words[2]);
    for (const auto* word : {&words[0], &words[2]})
      if (!labels_.contains(*word))
        return fail(EINVAL, "no operation of rank {} above has the label {}", rank_, *word);
    programs_[size_t(rank_)].dependences.push_back(
        {later->second, earlier->second, words[1] == "irequires"});
    return {};
  }

  std::vector<RankProgram> programs_;
  std::unordered_map<std::string, int> labels_;
  int rank_ = -1;
  int64_t number_ = 0;
};

}  // namespace

Result<std::vector<RankProgram>> parse_goal(std::istream& in) { return Parser().parse(in); }

}  // namespace haichi::goal
