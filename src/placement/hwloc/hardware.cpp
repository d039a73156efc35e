#include "placement/hwloc/hardware.h"

#include <hwloc.h>
#include <string.h>

#include <cerrno>

namespace haichi::placement {
namespace {

struct FreeBitmap {
  void operator()(hwloc_bitmap_s* bitmap) const { hwloc_bitmap_free(bitmap); }
};
using Bitmap = std::unique_ptr<hwloc_bitmap_s, FreeBitmap>;

Bitmap new_bitmap() { return Bitmap(hwloc_bitmap_alloc()); }

std::string list_of(hwloc_const_bitmap_t bitmap) {
  char* text = nullptr;
  if (hwloc_bitmap_list_asprintf(&text, bitmap) < 0) return "";
  std::string list(text);
  free(text);  // NOLINT: hwloc hands out malloc's memory
  return list;
}

Binding binding_in(hwloc_topology_t topology, hwloc_const_bitmap_t threads) {
  const Bitmap nodes = new_bitmap();
  hwloc_cpuset_to_nodeset(topology, threads, nodes.get());
  const bool all =
      hwloc_bitmap_isincluded(hwloc_topology_get_allowed_cpuset(topology), threads) != 0;
  return {list_of(threads), list_of(nodes.get()), !all};
}

tl::unexpected<Error> failed(const char* what) {
  const int code = errno ? errno : EIO;
  return fail(code, "hwloc: {}: {}", what, strerror(code));
}

}  // namespace

void Topology::Destroy::operator()(hwloc_topology* topology) const {
  hwloc_topology_destroy(topology);
}

Result<Topology> Topology::load() {
  hwloc_topology* topology = nullptr;
  if (hwloc_topology_init(&topology) != 0) return failed("no topology");
  Topology result(topology);
  if (hwloc_topology_load(topology) != 0) return failed("the topology cannot be loaded");
  return result;
}

Result<Topology> Topology::synthetic(const std::string& description) {
  hwloc_topology* topology = nullptr;
  if (hwloc_topology_init(&topology) != 0) return failed("no topology");
  Topology result(topology);
  if (hwloc_topology_set_synthetic(topology, description.c_str()) != 0 ||
      hwloc_topology_load(topology) != 0)
    return failed("bad synthetic topology");
  return result;
}

Hardware Topology::hardware() const {
  const auto count = [&](hwloc_obj_type_t type) {
    const int n = hwloc_get_nbobjs_by_type(topology_.get(), type);
    return n < 0 ? 0 : n;  // negative: the type is on several levels, or unknown
  };
  return {count(HWLOC_OBJ_PACKAGE), count(HWLOC_OBJ_CORE), count(HWLOC_OBJ_PU),
          count(HWLOC_OBJ_NUMANODE)};
}

Result<Binding> Topology::binding() const {
  const Bitmap threads = new_bitmap();
  errno = 0;
  if (hwloc_get_cpubind(topology_.get(), threads.get(), HWLOC_CPUBIND_THREAD) != 0)
    return failed("cannot tell the binding");
  return binding_in(topology_.get(), threads.get());
}

Result<Binding> Topology::binding_to(const std::string& threads) const {
  const Bitmap set = new_bitmap();
  if (hwloc_bitmap_list_sscanf(set.get(), threads.c_str()) != 0)
    return fail(EINVAL, "{} is no list of threads", threads);
  return binding_in(topology_.get(), set.get());
}

}  // namespace haichi::placement
