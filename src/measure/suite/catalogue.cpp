#include <iterator>

#include "measure/suite/groups.h"

namespace haichi::measure {

std::vector<Measurement> catalogue() {
  std::vector<Measurement> all;
  for (auto* const part :
       {point_to_point, queue_search,   calls,         completion,        datatypes,
        collectives,    neighbourhoods, exchanges,     ordered_exchanges, side_by_side,
        large_counts,   overlap,        one_sided,     synchronisation,   windows,
        file_accesses,  file_patterns,  file_handling, metadata,          communicators,
        objects}) {
    std::vector<Measurement> more = part();
    all.insert(all.end(), std::make_move_iterator(more.begin()),
               std::make_move_iterator(more.end()));
  }
  return all;
}

}  // namespace haichi::measure
