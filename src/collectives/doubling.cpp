// J. Bruck et al., Efficient Algorithms for All-to-All Communications in Multiport Message-Passing
// Systems, IEEE TPDS 8(11), 1997: the concatenation, with a radix.
#include <algorithm>

#include "collectives/circle.h"
#include "collectives/round.h"
#include "collectives/steps.h"

namespace haichi::collectives {

// Temporary memory: the blocks of this rank and of those after it, as far as it has them.
int64_t doubling_temporary(const Exchange& x, const Parameters&) {
  return Circle(x).bytes(0, x.ranks());
}

plan::StepGenerator doubling(Exchange x, Parameters parameters) {
  const Circle circle(x);
  const int64_t ranks = x.ranks(), radix = parameters.radix;
  if (x.bytes_to(x.me) > 0)
    co_yield plan::copy_step(x.me, x.send_block(x.me), Exchange::temporary(0, x.bytes_to(x.me)));
  for (int64_t held = 1; held < ranks; held *= radix) {
    int64_t at = circle.bytes(0, held);
    for (int64_t away = held; away < std::min(ranks, held * radix); away += held) {
      const int64_t bytes = circle.bytes(int(away), std::min(held, ranks - away));
      if (bytes > 0)
        co_yield plan::receive_step(circle.at(int(away)), Exchange::temporary(at, bytes));
      at += bytes;
    }
    for (int64_t away = held; away < std::min(ranks, held * radix); away += held) {
      const int64_t bytes = circle.bytes(0, std::min(held, ranks - away));
      if (bytes > 0) co_yield plan::send_step(circle.at(-int(away)), Exchange::temporary(0, bytes));
    }
    co_yield plan::wait_step();
  }
  if (x.moves_own()) co_yield own_copy(x);
  int64_t at = x.bytes_to(x.me);
  for (int distance = 1; distance < ranks; ++distance) {
    const plan::Slice block = x.receive_block(circle.at(distance));
    if (block.size > 0) co_yield plan::copy_step(x.me, Exchange::temporary(at, block.size), block);
    at += block.size;
  }
}

// As bruck_time(), with messages that grow from step to step.
Terms doubling_time(const Question& q, const Parameters& parameters) {
  const int64_t ranks = q.ranks(), radix = parameters.radix;
  Terms terms;
  terms[Term::copies] = q.copy(double(ranks) * double(q.block));  // out of the temporary memory
  for (int64_t held = 1; held < ranks; held *= radix) {
    Round round(q);
    for (int64_t away = held; away < std::min(ranks, held * radix); away += held) {
      const double bytes = double(std::min(held, ranks - away)) * double(q.block);
      round.message(int(away), bytes, terms);
    }
    round.end(terms);
  }
  return terms;
}

}  // namespace haichi::collectives
