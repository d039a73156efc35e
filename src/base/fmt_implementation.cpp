// {fmt}'s own functions, compiled here once. As headers alone (fmt::fmt-header-only) each file that
// formats a number compiled them again, which took half of the time of src/mpi; Debian has no
// static library of it.
#include <fmt/format-inl.h>

// Templates that its headers promise to be instantiated elsewhere.
FMT_BEGIN_NAMESPACE
namespace detail {
template FMT_API thousands_sep_result<char> thousands_sep_impl<char>(locale_ref);
template FMT_API char decimal_point_impl<char>(locale_ref);
}  // namespace detail
FMT_END_NAMESPACE
