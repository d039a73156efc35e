// An all-to-all of unequal messages: a matrix says how many bytes each rank has for each.
#include <errno.h>

#include <memory>
#include <utility>

#include "base/os.h"
#include "patterns/algorithm.h"
#include "patterns/byte_matrix.h"
#include "patterns/pattern.h"

namespace haichi::patterns {
namespace {

// The matrix by rows and by columns: what each rank sends, and what it receives.
struct Sizes {
  std::vector<std::vector<int64_t>> out, in;
};

Sizes sizes_of(const ByteMatrix& matrix, int ranks) {
  Sizes sizes;
  for (int me = 0; me < ranks; ++me) {
    std::vector<int64_t>&out = sizes.out.emplace_back(), &in = sizes.in.emplace_back();
    for (int peer = 0; peer < ranks; ++peer) {
      out.push_back(matrix.bytes(me, peer));
      in.push_back(matrix.bytes(peer, me));
    }
  }
  return sizes;
}

}  // namespace

Result<Job> all_to_all_v(const Case& of) {
  const Parameters& p = of.parameters;
  if (p.file.empty()) return fail(EINVAL, "alltoallv takes a file: a matrix of bytes");
  const auto text = read_file(p.file);
  if (!text) return tl::unexpected(text.error());
  auto matrix = ByteMatrix::parse(*text, of.placement.ranks());
  if (!matrix) return fail(EINVAL, "{}: {}", p.file, matrix.error().text);
  const auto base = std::make_shared<const Sizes>(sizes_of(*matrix, of.placement.ranks()));
  const collectives::Candidate candidate = algorithm_of(p);
  Job job;
  job.base = base;
  for (int r = 0; r < of.placement.ranks(); ++r) {
    const collectives::Exchange x{&of.placement, r, 0, base->out[size_t(r)], base->in[size_t(r)]};
    if (const std::string why = candidate.refusal(x); !why.empty()) return fail(EINVAL, "{}", why);
    job.schedules.push_back(candidate.schedule(x));
  }
  return job;
}

}  // namespace haichi::patterns
