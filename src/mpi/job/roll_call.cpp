#include "mpi/job/roll_call.h"

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/log.h"
#include "base/version.h"
#include "generated/real.h"
#include "mpi/compat/handles.h"
#include "mpi/job/abort_job.h"
#include "mpi/job/backoff.h"

namespace haichi::mpi {
namespace {

constexpr int kBranches = 32;
constexpr int64_t kMostBetweenLooks = 5'000'000;
constexpr int64_t kAsLongAsItTakes = INT64_MAX;
constexpr int64_t kTellAfter = 6;      // a sixth of the time to wait
constexpr int kLeastTagBound = 32767;  // MPI 4.1, 9.1.2

/// The ranks as a tree from the last one down: rank 0, which often hears anybody with any tag, is
/// a leaf.
struct Branch {
  int above = -1;  ///< -1: this is the root
  std::vector<int> below;
};

Branch branch_of(int rank, int ranks) {
  const int64_t place = ranks - 1 - rank;
  Branch branch;
  if (place > 0) branch.above = ranks - 1 - int((place - 1) / kBranches);
  for (int64_t next = place * kBranches + 1; next <= (place + 1) * kBranches && next < ranks;
       ++next)
    branch.below.push_back(ranks - 1 - int(next));
  return branch;
}

int highest_tag() {
  const Handles& h = handles();
  void* value = nullptr;
  int found = 0;
  if (real().Comm_get_attr(h.comm_world, MPI_TAG_UB, &value, &found) != MPI_SUCCESS || !found)
    return kLeastTagBound;
  return *static_cast<int*>(value);
}

void tell_of(const std::vector<int>& silent, int64_t silent_ns, std::string_view what_now) {
  if (silent.empty()) return;
  std::string ranks;
  for (int rank : silent) ranks += fmt::format("{}{}", ranks.empty() ? "" : ", ", rank);
  log(LogLevel::warn,
      "no answer in {:.3g} s from rank {} of the job: started without haichi? {} Have the launcher "
      "give all ranks the same LD_PRELOAD, or set HAICHI_DISABLE=1 for all",
      double(silent_ns) / 1e9, ranks, what_now);
}

/// What a rank says first: which haichi it has. Positive, and never 1, which says no more than yes.
int64_t own_version() {
  uint64_t hash = 14695981039346656037u;  // FNV-1a
  for (const char letter : std::string_view(kVersion))
    hash = (hash ^ uint8_t(letter)) * 1099511628211u;
  return int64_t(hash >> 2 | 2);
}

void tell_of_other_version(int rank) {
  log(LogLevel::warn,
      "rank {} has another version of haichi than this one ({}): the program goes on without "
      "haichi "
      "on all ranks. Have the launcher give all ranks the same one",
      rank, kVersion);
}

class Call {
 public:
  explicit Call(int64_t wait_ns) : wait_ns_(wait_ns), tag_(highest_tag()) {}
  ~Call() { let_go(); }
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  void tell(int rank, int64_t answer) {
    Word* const word = said_.emplace_back(new Word{answer, handles().request_null});
    real().Isend(&word->answer, 1, handles().int64, rank, tag_, handles().comm_world,
                 &word->request);
  }

  /// What each of the ranks says until `waits` waiting times after the begin of the call; -1: it
  /// says nothing. Calls `heard` with each rank that does. Tells of those that are silent for long.
  std::vector<int64_t> listen(const std::vector<int>& from, int64_t waits,
                              const std::function<void(int)>& heard = {}) {
    std::vector<Word> words(from.size(), Word{-1, handles().request_null});
    for (size_t i = 0; i < from.size(); ++i)
      real().Irecv(&words[i].answer, 1, handles().int64, from[i], tag_, handles().comm_world,
                   &words[i].request);
    Backoff backoff;
    size_t missing = from.size();
    bool told = waits == kAsLongAsItTakes;
    while (missing > 0 && waited_ns() / wait_ns_ < waits) {
      bool news = false;
      for (size_t i = 0; i < from.size(); ++i) {
        int done = 0;
        if (words[i].request == handles().request_null ||
            real().Test(&words[i].request, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS || !done)
          continue;
        --missing;
        news = true;
        if (heard) heard(from[i]);
      }
      if (!told && waited_ns_ >= wait_ns_ / kTellAfter) {
        told = true;
        tell_of(still_silent(words, from), waited_ns_, "It is waited for.");
      }
      if (!news) backoff.idle();
    }
    std::vector<int64_t> answers;
    for (Word& word : words) {
      if (word.request != handles().request_null) take_back(word);
      answers.push_back(word.answer);
    }
    return answers;
  }

 private:
  struct Word {
    int64_t answer;
    MPI_Request request;
  };

  static std::vector<int> still_silent(const std::vector<Word>& words,
                                       const std::vector<int>& from) {
    std::vector<int> silent;
    for (size_t i = 0; i < from.size(); ++i)
      if (words[i].request != handles().request_null) silent.push_back(from[i]);
    return silent;
  }

  /// Time that this rank spent waiting. Where a job is suspended or a machine has too much to do,
  /// nobody has been silent for as long as the clock says.
  int64_t waited_ns() {
    const int64_t now = now_ns();
    waited_ns_ += std::min(now - last_look_ns_, kMostBetweenLooks);
    last_look_ns_ = now;
    return waited_ns_;
  }

  /// A message that comes just now counts as none: its sender is told no more.
  static void take_back(Word& word) {
    real().Cancel(&word.request);
    real().Wait(&word.request, MPI_STATUS_IGNORE);
    word.answer = -1;
  }

  /// What nobody receives stays where it is: the library may still look at it.
  void let_go() {
    for (Word* word : said_) {
      int done = 0;
      if (real().Test(&word->request, &done, MPI_STATUS_IGNORE) == MPI_SUCCESS && done)
        delete word;
      else
        real().Request_free(&word->request);
    }
  }

  const int64_t wait_ns_;
  int64_t last_look_ns_ = now_ns();
  int64_t waited_ns_ = 0;
  const int tag_;
  std::vector<Word*> said_;
};

}  // namespace

bool all_have_haichi(int64_t wait_ns) {
  int rank = 0, ranks = 1;
  if (real().Comm_rank(handles().comm_world, &rank) != MPI_SUCCESS ||
      real().Comm_size(handles().comm_world, &ranks) != MPI_SUCCESS)
    return false;
  if (ranks == 1) return true;
  const Branch branch = branch_of(rank, ranks);
  std::vector<int> above, absent, below;
  if (branch.above >= 0) above = {branch.above};
  Call call(wait_ns);

  // Everybody learns which of those next to it in the tree are there, and what they have.
  const int64_t own = own_version();
  bool same = true;
  for (int parent : above) call.tell(parent, own);
  const auto here = call.listen(branch.below, 1, [&](int child) { call.tell(child, own); });
  for (size_t i = 0; i < here.size(); ++i) {
    (here[i] < 0 ? absent : below).push_back(branch.below[i]);
    if (here[i] < 0 || here[i] == own) continue;
    same = false;
    tell_of_other_version(branch.below[i]);
  }
  tell_of(absent, wait_ns, "The program goes on without haichi on all ranks.");
  if (!above.empty() && call.listen(above, 2)[0] < 0) {
    tell_of(above, 2 * wait_ns,
            "It has been sent a message that it would take for one of the program's, so the job "
            "ends.");
    abort_job(kBadInputExit);
  }

  // These have haichi and will answer. Who gave up here would go on without haichi, and the others
  // with it: they would wait for each other for ever.
  bool all = absent.empty() && same;
  for (int64_t answer : call.listen(below, kAsLongAsItTakes)) all = all && answer == 1;
  if (!above.empty()) {
    call.tell(branch.above, all);
    all = call.listen(above, kAsLongAsItTakes)[0] == 1;
  }
  for (int child : below) call.tell(child, all);
  return all;
}

}  // namespace haichi::mpi
