#include "stock.h"

#include <algorithm>
#include <bit>
#include <span>

#include "collectives/algorithm.h"
#include "plan/step_generator.h"
#include "plan/steps.h"

namespace haichi::study {
namespace {

using collectives::Exchange;
using plan::copy_step;
using plan::receive_step;
using plan::send_step;
using plan::wait_step;

// Of MPICH: messages that are posted together, MPIR_CVAR_ALLTOALL_THROTTLE.
constexpr int kThrottle = 32;

// MPICH: so many receives from the ranks after this one and sends to those before it, then a wait
// for all of them, and so on. The message to itself is one like any other.
plan::StepGenerator scattered(Exchange x) {
  for (int first = 0; first < x.ranks(); first += kThrottle) {
    const int end = std::min(first + kThrottle, x.ranks());
    for (int i = first; i < end; ++i)
      co_yield receive_step(x.shifted(i), x.receive_block(x.shifted(i)));
    for (int i = first; i < end; ++i)
      co_yield send_step(x.shifted(-i), x.send_block(x.shifted(-i)));
    co_yield wait_step();
  }
}

// Open MPI: receives from the rank after this one on, upwards; sends from the one before it on,
// downwards.
plan::StepGenerator linear(Exchange x) {
  co_yield copy_step(x.me, x.send_block(x.me), x.receive_block(x.me));
  for (int i = 1; i < x.ranks(); ++i)
    co_yield receive_step(x.shifted(i), x.receive_block(x.shifted(i)));
  for (int i = 1; i < x.ranks(); ++i)
    co_yield send_step(x.shifted(-i), x.send_block(x.shifted(-i)));
  co_yield wait_step();
}

constexpr int64_t kAny = INT64_MAX;

StockAlgorithm mpich(int ranks, int64_t block) {
  // Where its rule says fewer than 8 ranks it takes 8 for fewer too (docs/guide/collectives.md,
  // "Where stock is wrong").
  if (ranks > 8 && block <= 256) return {"brucks", "bruck(2)"};
  if (block <= 32768) return {"scattered", "scattered"};
  return {"pairwise", std::has_single_bit(unsigned(ranks)) ? "pair" : "ring"};
}

// The numbers by which Open MPI's sources call its algorithms.
enum OpenMpi : uint8_t { kLinear = 1, kPairwise, kModifiedBruck, kLinearSync, kTwoProc };

struct Sizes {
  int64_t below;  // bytes of a block
  OpenMpi algorithm;
};

// The rule for one range of ranks.
std::span<const Sizes> sizes_of(int ranks) {
  static constexpr Sizes k2[] = {{2, kPairwise},     {4, kTwoProc},         {16, kPairwise},
                                 {64, kTwoProc},     {256, kPairwise},      {4096, kTwoProc},
                                 {32768, kPairwise}, {262144, kLinearSync}, {1048576, kTwoProc},
                                 {kAny, kPairwise}};
  static constexpr Sizes k8[] = {{8192, kLinearSync}, {16384, kLinear},     {65536, kLinearSync},
                                 {524288, kLinear},   {1048576, kPairwise}, {kAny, kLinear}};
  static constexpr Sizes k16[] = {{262144, kLinearSync}, {kAny, kLinear}};
  static constexpr Sizes k32[] = {{4, kLinearSync},   {512, kModifiedBruck}, {8192, kLinearSync},
                                  {32768, kLinear},   {262144, kLinearSync}, {524288, kLinear},
                                  {kAny, kLinearSync}};
  static constexpr Sizes k64[] = {{512, kModifiedBruck}, {524288, kLinear}, {kAny, kLinearSync}};
  static constexpr Sizes k128[] = {{1024, kModifiedBruck},
                                   {2048, kLinear},
                                   {4096, kLinearSync},
                                   {262144, kLinear},
                                   {kAny, kPairwise}};
  static constexpr Sizes k256[] = {
      {1024, kModifiedBruck}, {2048, kLinearSync}, {262144, kLinear}, {kAny, kPairwise}};
  static constexpr Sizes k512[] = {
      {1024, kModifiedBruck}, {8192, kLinearSync}, {32768, kLinear}, {kAny, kPairwise}};
  static constexpr Sizes k1024[] = {{512, kModifiedBruck}, {8192, kLinearSync}, {16384, kLinear},
                                    {131072, kLinearSync}, {262144, kLinear},   {kAny, kPairwise}};
  static constexpr Sizes k2048[] = {{512, kModifiedBruck}, {1024, kLinearSync},
                                    {2048, kLinear},       {16384, kLinearSync},
                                    {262144, kLinear},     {kAny, kLinearSync}};
  static constexpr Sizes k4096[] = {{1024, kModifiedBruck},
                                    {4096, kLinearSync},
                                    {8192, kLinear},
                                    {131072, kLinearSync},
                                    {kAny, kLinear}};
  static constexpr Sizes kMore[] = {{2048, kModifiedBruck}, {8192, kLinearSync},
                                    {16384, kLinear},       {32768, kLinearSync},
                                    {65536, kLinear},       {kAny, kLinearSync}};
  if (ranks == 2) return k2;
  if (ranks < 8) return k8;
  if (ranks < 16) return k16;
  if (ranks < 32) return k32;
  if (ranks < 64) return k64;
  if (ranks < 128) return k128;
  if (ranks < 256) return k256;
  if (ranks < 512) return k512;
  if (ranks < 1024) return k1024;
  if (ranks < 2048) return k2048;
  if (ranks < 4096) return k4096;
  return kMore;
}

StockAlgorithm open_mpi(int ranks, int64_t block) {
  const auto sizes = sizes_of(ranks);
  const auto rule = std::find_if(sizes.begin(), sizes.end(),
                                 [block](const Sizes& each) { return block < each.below; });
  switch (rule->algorithm) {
    case kLinear:
      return {"linear", "linear"};
    case kPairwise:
      return {"pairwise", "ring"};
    case kModifiedBruck:
      return {"modified_bruck", "bruck(2)"};
    case kLinearSync:
      return {"linear_sync", "linear"};
    case kTwoProc:
      return {"two_proc", "ring"};
  }
  return {};
}

}  // namespace

std::string_view name_of(Library library) {
  return library == Library::mpich ? "MPICH" : "Open MPI";
}

StockAlgorithm stock_alltoall(Library library, int ranks, int64_t block) {
  return library == Library::mpich ? mpich(ranks, block) : open_mpi(ranks, block);
}

std::unique_ptr<plan::Schedule> StockAlgorithm::schedule(const Exchange& exchange) const {
  if (same_as == "scattered") return std::make_unique<plan::GeneratedSchedule>(scattered(exchange));
  if (same_as == "linear") return std::make_unique<plan::GeneratedSchedule>(linear(exchange));
  return collectives::parse_candidate(same_as)->schedule(exchange);
}

}  // namespace haichi::study
