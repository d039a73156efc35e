#include <algorithm>

#include "collectives/circle.h"
#include "collectives/steps.h"

namespace haichi::collectives {

plan::StepGenerator relay(Exchange x, Parameters) {
  const Circle circle(x);
  if (x.moves_own()) co_yield own_copy(x);
  for (int step = 1; step < x.ranks(); ++step) {
    const int coming = circle.at(-step), leaving = circle.at(1 - step);
    if (x.bytes_from(coming) > 0)
      co_yield plan::receive_step(circle.at(-1), x.receive_block(coming));
    if (x.bytes_from(leaving) > 0)
      co_yield plan::send_step(circle.at(1),
                               step == 1 ? x.send_block(x.me) : x.receive_block(leaving));
    co_yield plan::wait_step();
  }
}

// A ring in which at each step one message leaves a node and one comes.
Terms relay_time(const Question& q, const Parameters&) {
  const double steps = q.ranks() - 1, bytes = double(q.block);
  const bool far = q.nodes() > 1;
  const Load& load = q.traffic->shift(1);
  Terms terms;
  terms[Term::latency] = steps * (far ? q.way(bytes, load.hops) : q.local_way(bytes));
  terms[Term::messages] = steps * q.work(bytes);
  terms[Term::copies] = steps * q.copies(bytes, !far) + q.copy(bytes);
  if (!far) return terms;
  // shift(1) has the ranks in order of rank, where several may leave a node at once.
  const double port = q.on_port(1, bytes);
  const double link = q.on_link(load.links / std::max(1.0, load.ports), bytes);
  terms[Term::ports] = steps * port;
  terms[Term::links] = steps * std::max(0.0, link - port);
  return terms;
}

}  // namespace haichi::collectives
