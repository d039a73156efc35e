// J. Bruck et al., Efficient Algorithms for All-to-All Communications in Multiport Message-Passing
// Systems, IEEE TPDS 8(11), 1997, with a radix.
//
// A block that has to go i ranks up travels by the digits of i in base k: at the step of digit
// weight w, all blocks whose digit is d go d*w ranks up together.
#include <algorithm>

#include "collectives/round.h"
#include "collectives/steps.h"

namespace haichi::collectives {
namespace {

// Temporary memory: the blocks by the distance that they have to go, then those that are sent in a
// step and those that are received in it.
struct Areas {
  int64_t block;
  int ranks;
  plan::Slice held(int64_t distance, int64_t blocks) const {
    return Exchange::temporary(distance * block, blocks * block);
  }
  plan::Slice leaving(int64_t at, int64_t blocks) const {
    return Exchange::temporary((ranks + at) * block, blocks * block);
  }
  plan::Slice coming(int64_t at, int64_t blocks) const {
    return Exchange::temporary((2 * int64_t{ranks} + at) * block, blocks * block);
  }
};

// Blocks of 0..ranks-1 whose digit of weight w is d come in runs of up to w, every k*w.
int64_t run_length(int64_t begin, int64_t weight, int ranks) {
  return std::min(weight, ranks - begin);
}

int64_t blocks_with(int64_t digit, int64_t weight, int radix, int ranks) {
  int64_t blocks = 0;
  for (int64_t begin = digit * weight; begin < ranks; begin += weight * radix)
    blocks += run_length(begin, weight, ranks);
  return blocks;
}

}  // namespace

int64_t bruck_temporary(const Exchange& x, const Parameters&) { return 3 * x.ranks() * x.block; }

plan::StepGenerator bruck(Exchange x, Parameters parameters) {
  const int ranks = x.ranks();
  const int64_t radix = parameters.radix;
  const Areas areas{x.block, ranks};
  for (int distance = 1; distance < ranks; ++distance)
    co_yield plan::copy_step(x.me, x.send_block(x.shifted(distance)), areas.held(distance, 1));
  for (int64_t weight = 1; weight < ranks; weight *= radix) {
    int64_t at = 0;
    for (int64_t digit = 1; digit < radix && digit * weight < ranks; ++digit) {
      const int64_t blocks = blocks_with(digit, weight, int(radix), ranks);
      const int from = x.shifted(-int(digit * weight)), to = x.shifted(int(digit * weight));
      co_yield plan::receive_step(from, areas.coming(at, blocks));
      const int64_t first = at;
      for (int64_t begin = digit * weight; begin < ranks; begin += weight * radix) {
        const int64_t run = run_length(begin, weight, ranks);
        co_yield plan::copy_step(x.me, areas.held(begin, run), areas.leaving(at, run));
        at += run;
      }
      co_yield plan::send_step(to, areas.leaving(first, blocks));
    }
    co_yield plan::wait_step();
    at = 0;
    for (int64_t digit = 1; digit < radix && digit * weight < ranks; ++digit)
      for (int64_t begin = digit * weight; begin < ranks; begin += weight * radix) {
        const int64_t run = run_length(begin, weight, ranks);
        co_yield plan::copy_step(x.me, areas.coming(at, run), areas.held(begin, run));
        at += run;
      }
  }
  co_yield own_copy(x);
  for (int distance = 1; distance < ranks; ++distance)
    co_yield plan::copy_step(x.me, areas.held(distance, 1), x.receive_block(x.shifted(-distance)));
}

// Table 1 of paper 004: L log2 P + P M log2 P / (2B), here for any radix, with the copies. Each
// step's messages go a distance of their own, and only those that share links with them count.
Terms bruck_time(const Question& q, const Parameters& parameters) {
  const int ranks = q.ranks();
  const int64_t radix = parameters.radix;
  Terms terms;
  terms[Term::copies] = q.copy(2.0 * ranks * double(q.block));  // into their order and out of it
  for (int64_t weight = 1; weight < ranks; weight *= radix) {
    Round round(q);
    for (int64_t digit = 1; digit < radix && digit * weight < ranks; ++digit) {
      const double bytes = double(blocks_with(digit, weight, int(radix), ranks)) * double(q.block);
      round.message(int(digit * weight), bytes, terms);
      terms[Term::copies] += q.copy(2 * bytes);  // together and apart
    }
    round.end(terms);
  }
  return terms;
}

}  // namespace haichi::collectives
