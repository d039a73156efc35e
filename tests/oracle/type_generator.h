// Random datatypes: of every combiner, nested, and legal for what they are used as.
#pragma once

#include <functional>

#include "oracle/feature_set.h"
#include "oracle/rng.h"
#include "oracle/type.h"

namespace oracle {

/// What a generated type must keep to.
struct Rules {
  bool view = false;     ///< an etype or filetype: displacements nonnegative and ascending
  bool overlap = false;  ///< bytes may appear more than once
  int64_t unit = 1;      ///< every displacement and extent is a multiple (the etype's extent)
  int64_t most_basics = 256;
  int64_t most_span = 4096;  ///< bytes from the first to the last
};

/// Makes types over leaves that `leaf` gives. Every extent is either free of padding or given by
/// an outermost resize, and a struct with marked and unmarked parts is always resized: the MPI
/// libraries differ on those extents (MPICH pads structs only, and lets the bounds of a part that
/// was resized count no more than those of its neighbours), so no portable program relies on them.
class TypeGenerator {
 public:
  using Leaf = std::function<TypePtr()>;
  TypeGenerator(Rng& rng, const Features& features, const Rules& rules, Leaf leaf)
      : rng_(rng), features_(features), rules_(rules), leaf_(std::move(leaf)) {}

  /// A type of up to `depth` constructors, one of more than zero bytes unless `may_be_empty`.
  TypePtr make(int depth, bool may_be_empty);

 private:
  bool has(Feature memory, Feature view) const {
    return features_.has(rules_.view ? view : memory);
  }
  bool negative() const { return !rules_.view && features_.has(Feature::negative); }
  bool permuted() const { return !rules_.view && features_.has(Feature::permuted); }
  int64_t length(int64_t most);
  int64_t gap();
  TypePtr attempt(int depth);
  TypePtr construct(Kind kind, const TypePtr& child, int depth);
  TypePtr settle(TypePtr type);
  bool fits(const Type& type) const;

  TypePtr make_vector(bool bytes, const TypePtr& child);
  TypePtr make_indexed(Kind kind, const TypePtr& child);
  TypePtr make_struct(const TypePtr& child, int depth);
  TypePtr make_subarray(const TypePtr& child);
  TypePtr make_darray(const TypePtr& child);
  TypePtr make_resized(const TypePtr& child);

  Rng& rng_;
  const Features& features_;
  const Rules& rules_;
  Leaf leaf_;
};

/// A named or F90 type, at random.
TypePtr random_leaf(Rng& rng, const Features& features, bool view);
/// Something to measure a view in: a named type, a pair, an F90 type or a small derived one.
TypePtr random_etype(Rng& rng, const Features& features);

}  // namespace oracle
