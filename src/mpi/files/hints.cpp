#include "mpi/files/hints.h"

#include "base/number_text.h"
#include "generated/real.h"
#include "mpi/compat/handles.h"

namespace haichi::mpi {

std::vector<std::pair<std::string, std::string>> hints_of(MPI_Info info) {
  std::vector<std::pair<std::string, std::string>> hints;
  int keys = 0;
  if (info == handles().info_null || real().Info_get_nkeys(info, &keys) != MPI_SUCCESS)
    return hints;
  for (int i = 0; i < keys; ++i) {
    char key[MPI_MAX_INFO_KEY + 1] = {}, value[MPI_MAX_INFO_VAL + 1] = {};
    int found = 0;
    if (real().Info_get_nthkey(info, i, key) == MPI_SUCCESS &&
        real().Info_get(info, key, MPI_MAX_INFO_VAL, value, &found) == MPI_SUCCESS && found)
      hints.emplace_back(key, value);
  }
  return hints;
}

std::optional<int> ranks_of_each_node(std::string_view list) {
  if (!list.starts_with("*:")) return std::nullopt;
  list.remove_prefix(2);
  if (list == "*") return 0;
  const auto each = whole_number(list);
  if (!each || *each < 1) return std::nullopt;
  return *each == 1 ? 0 : *each;
}

bool is_unserved_hint(const std::string& key) {
  constexpr std::string_view kKnown[] = {"access_style",
                                         "cb_block_size",
                                         "cb_config_list",
                                         "chunked",
                                         "collective_buffering",
                                         "direct_read",
                                         "direct_write",
                                         "filename",
                                         "file_perm",
                                         "ind_rd_buffer_size",
                                         "ind_wr_buffer_size",
                                         "io_node_list",
                                         "nb_proc",
                                         "num_io_nodes",
                                         "romio_ds_read",
                                         "romio_ds_write",
                                         "romio_no_indep_rw",
                                         "start_iodevice"};
  for (std::string_view known : kKnown)
    if (key == known) return true;
  return false;
}

}  // namespace haichi::mpi
