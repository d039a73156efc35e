// The readable form of a type, for the dump of a failed case.
#include <array>

#include "oracle/type.h"

namespace oracle {
namespace {

std::string list(const std::vector<int64_t>& values) {
  std::string out = "{";
  for (size_t i = 0; i < values.size(); ++i) out += (i ? "," : "") + std::to_string(values[i]);
  return out + "}";
}

std::string list(const std::vector<Distribution>& values) {
  static const char* const names[] = {"block", "cyclic", "none"};
  std::string out = "{";
  for (size_t i = 0; i < values.size(); ++i)
    out += (i ? "," : "") + std::string(names[int(values[i])]);
  return out + "}";
}

std::string arguments(const Type& type) {
  const auto n = [](int64_t value) { return std::to_string(value); };
  const std::string order = type.fortran_order ? "fortran" : "c";
  switch (type.kind) {
    case Kind::named:
      return named_types()[size_t(type.named)].name;
    case Kind::f90_real:
    case Kind::f90_complex:
      return n(type.precision) + "," + n(type.range);
    case Kind::f90_integer:
      return n(type.range);
    case Kind::dup:
      return "";
    case Kind::contiguous:
      return n(type.count);
    case Kind::vector:
    case Kind::hvector:
      return n(type.count) + "," + n(type.length) + "," + n(type.stride);
    case Kind::indexed:
    case Kind::hindexed:
    case Kind::structure:
      return list(type.lengths) + "," + list(type.displacements);
    case Kind::indexed_block:
    case Kind::hindexed_block:
      return n(type.length) + "," + list(type.displacements);
    case Kind::subarray:
      return list(type.sizes) + "," + list(type.subsizes) + "," + list(type.starts) + "," + order;
    case Kind::darray:
      return n(type.ranks) + "," + n(type.rank) + "," + list(type.sizes) + "," +
             list(type.distributions) + "," + list(type.arguments) + "," + list(type.grid) + "," +
             order;
    case Kind::resized:
      return n(type.lower) + "," + n(type.extent);
  }
  return "";
}

}  // namespace

const char* name_of(Kind kind) {
  static constexpr std::array<const char*, kKinds> names = {
      "named",  "f90_real", "f90_complex", "f90_integer", "dup",           "contiguous",
      "vector", "hvector",  "indexed",     "hindexed",    "indexed_block", "hindexed_block",
      "struct", "subarray", "darray",      "resized"};
  return names[size_t(kind)];
}

std::string to_text(const Type& type) {
  if (type.kind == Kind::named) return arguments(type);
  std::string out = name_of(type.kind) + std::string("(") + arguments(type);
  for (size_t i = 0; i < type.children.size(); ++i) {
    if (out.back() != '(') out += ", ";
    out += to_text(*type.children[i]);
  }
  return out + ")";
}

}  // namespace oracle
