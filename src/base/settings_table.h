// The table of all settings, sorted by key: one row gives the environment variable, the key of
// haichi.toml, the listing of `haichi config` and the hint.
#pragma once

#include <cstddef>
#include <iterator>
#include <string_view>

namespace haichi {

/// One row of the table. A setting's environment variable is `variable`; its key in haichi.toml is
/// `key`; `hint` is the MPI_Info hint that overrides it for one file, or empty.
struct Setting {
  enum class Kind { flag, choice, integer, bytes, bytes_or_none, path, text };
  std::string_view key;
  std::string_view variable;
  std::string_view hint;
  Kind kind;
  std::string_view fallback;  ///< default value, in the notation a user would write
  std::string_view choices;   ///< for Kind::choice: the allowed words, separated by |
  std::string_view help;      ///< one sentence, with the unit

  /// Its value is a number too.
  constexpr bool counts() const {
    return kind == Kind::flag || kind == Kind::integer || kind == Kind::bytes ||
           kind == Kind::bytes_or_none;
  }
};

inline constexpr Setting kSettings[] = {
    {"collectives.after", "HAICHI_COLLECTIVES_AFTER", "", Setting::Kind::integer, "40", "",
     "Calls of a communicator that are the MPI library's before haichi looks at it, at least 1; "
     "fewer where they are of many bytes, and 4 at most with collectives.decisions or a "
     "collectives.budget of 100."},
    {"collectives.algorithm", "HAICHI_COLLECTIVES_ALGORITHM", "", Setting::Kind::text, "auto", "",
     "Algorithm of all-to-all and all-gather collectives: auto chooses by trial, library is the "
     "MPI "
     "library's, else a name such as ring, bruck(4), node_aware(2), relay or "
     "spread(nd_rank_shift,32)."},
    {"collectives.budget", "HAICHI_COLLECTIVES_BUDGET", "", Setting::Kind::integer, "2", "",
     "Per cent of the time of an all-to-all's or all-gather's calls that trials of other "
     "algorithms "
     "may cost; 0: no trials, 100: trials from the first call on."},
    {"collectives.decisions", "HAICHI_COLLECTIVES_DECISIONS", "", Setting::Kind::path, "", "",
     "Folder in which the choices of a run are kept; later runs with the same MPI library and "
     "placement start with them. Empty: they are not kept."},
    {"collectives.enable", "HAICHI_COLLECTIVES_ENABLE", "", Setting::Kind::choice, "auto",
     "auto|on|off",
     "Whether haichi chooses the algorithms of all-to-all and all-gather collectives: auto for "
     "communicators of "
     "more than one node, on for all."},
    {"collectives.nonblocking", "HAICHI_COLLECTIVES_NONBLOCKING", "", Setting::Kind::choice, "off",
     "on|off",
     "Whether nonblocking and persistent all-to-all collectives, among neighbours too, are "
     "haichi's, on communicators that collectives.enable allows; each then costs a little more "
     "when it is created."},
    {"collectives.prune", "HAICHI_COLLECTIVES_PRUNE", "", Setting::Kind::choice, "on", "on|off",
     "off tries every algorithm as often as every other, however slow it is: to measure them all."},
    {"collectives.rounds", "HAICHI_COLLECTIVES_ROUNDS", "", Setting::Kind::integer, "5", "",
     "Trials of an algorithm before the choice is made, at least 1; up to three times as many "
     "where they differ too much to decide."},
    {"config", "HAICHI_CONFIG", "", Setting::Kind::path, "", "",
     "File of settings that `haichi run` reads instead of ./haichi.toml or "
     "~/.config/haichi/haichi.toml."},
    {"disable", "HAICHI_DISABLE", "", Setting::Kind::flag, "0", "",
     "1 makes every hook a plain call of the MPI library."},
    {"io.aggregators", "HAICHI_IO_AGGREGATORS", "cb_nodes", Setting::Kind::integer, "0", "",
     "Number of aggregators of a collective file access; 0 is one per node, or more where machine "
     "tells what storage and network can take."},
    {"io.budget", "HAICHI_IO_BUDGET", "", Setting::Kind::integer, "2", "",
     "Per cent of the time of collective file accesses that trials of other ways than the model's "
     "choice may cost; 0: no trials, 100: trials from the first access on."},
    {"io.buffer", "HAICHI_IO_BUFFER", "cb_buffer_size", Setting::Kind::bytes_or_none, "0", "",
     "Size of an aggregator's collective buffer in bytes; one cycle moves half of it, on a "
     "single node a third. 0 is 16 KiB for each rank of the file, at least 256 KiB (768 on a "
     "single "
     "node) and at most 16 MiB."},
    {"io.enable", "HAICHI_IO_ENABLE", "haichi_io", Setting::Kind::choice, "on", "on|off|observe",
     "off hands collective file accesses to the MPI library; observe does so too, and tells in the "
     "report what they took."},
    {"io.holes", "HAICHI_IO_HOLES", "haichi_holes", Setting::Kind::choice, "auto",
     "auto|separate|rmw",
     "How an aggregator writes around bytes that no rank gave: separate writes, or "
     "read-modify-write under a lock; auto decides by the size of the pieces."},
    {"io.layout", "HAICHI_IO_LAYOUT", "haichi_cb_layout", Setting::Kind::choice, "roundrobin",
     "roundrobin|packed",
     "How aggregators are laid out: round robin over the nodes, or filling one node after another "
     "(paper 000, Figs. 2 and 3)."},
    {"io.library", "HAICHI_IO_LIBRARY", "haichi_library", Setting::Kind::choice, "on", "on|off",
     "Whether the MPI library's own way is a candidate for collective file accesses; off takes "
     "every access that haichi can carry out."},
    {"io.locality", "HAICHI_IO_LOCALITY", "haichi_locality", Setting::Kind::choice, "on", "on|off",
     "on gives each part of the file to an aggregator on the node that has most of its bytes, "
     "where "
     "that saves the network something; off divides the file evenly."},
    {"io.node_streams", "HAICHI_IO_NODE_STREAMS", "haichi_node_streams", Setting::Kind::choice,
     "auto", "auto|on|off",
     "Whether the ranks of a node put what they have for an aggregator on another node together, "
     "in "
     "memory that they have in common, to be sent as one message; auto is where they have little "
     "each."},
    {"io.nonblocking", "HAICHI_IO_NONBLOCKING", "haichi_nonblocking", Setting::Kind::choice, "auto",
     "auto|now|thread",
     "When a rank carries out its part of a nonblocking collective access: now, within the call, "
     "or behind the program, by a thread of haichi's own that calls no MPI function; auto is now, "
     "but leaves it to an MPI library with ROMIO unless io.library is off. The hint chooses "
     "between now and thread."},
    {"io.order", "HAICHI_IO_ORDER", "haichi_comm_order", Setting::Kind::choice, "nd_rank_shift",
     "rank|pairwise|nd_shift|nd_rank_shift",
     "Order in which a rank issues its messages of an exchange (paper 000, section 3)."},
    {"io.per_node", "HAICHI_IO_PER_NODE", "", Setting::Kind::integer, "0", "",
     "Most aggregators on a node, and how many if io.aggregators is 0; 0 is no limit. The hint "
     "cb_config_list sets it where it names no hosts: *:k is k, *:* and *:1 are 0."},
    {"io.read", "HAICHI_IO_READ", "romio_cb_read", Setting::Kind::choice, "automatic",
     "enable|disable|automatic", "disable hands collective reads to the MPI library."},
    {"io.share", "HAICHI_IO_SHARE", "haichi_share", Setting::Kind::choice, "on", "on|off",
     "on lets the ranks of a node put their bytes straight into its aggregators' buffers, in "
     "memory "
     "that they have in common; off sends messages."},
    {"io.split", "HAICHI_IO_SPLIT", "", Setting::Kind::choice, "off", "on|always|off",
     "on splits large reads of any program's own calls over threads, by the NUMA nodes of their "
     "pages; always does so even where it was no faster before. `haichi run` takes programs "
     "without MPI then, too."},
    {"io.split_from", "HAICHI_IO_SPLIT_FROM", "", Setting::Kind::bytes, "8M", "",
     "Smallest read that io.split splits, at least 16 KiB; from 256 KiB on those are that come "
     "right behind another one."},
    {"io.split_threads", "HAICHI_IO_SPLIT_THREADS", "", Setting::Kind::integer, "0", "",
     "Most threads of io.split, the caller among them; 0 is as many as pay, 1 splits nothing."},
    {"io.stripe_unit", "HAICHI_IO_STRIPE_UNIT", "striping_unit", Setting::Kind::bytes_or_none, "0",
     "",
     "Stripe size of the file in bytes; file domains then end at stripe borders. 0 is not "
     "striped."},
    {"io.stripes", "HAICHI_IO_STRIPES", "striping_factor", Setting::Kind::integer, "0", "",
     "Number of servers that the file is striped over; 0 is not known."},
    {"io.thread", "HAICHI_IO_THREAD", "haichi_thread", Setting::Kind::choice, "auto", "auto|on|off",
     "Whether a thread of each aggregator reads and writes the file while messages travel; auto is "
     "where the ranks are on several nodes and there is more than one cycle."},
    {"io.tune", "HAICHI_IO_TUNE", "haichi_tune", Setting::Kind::choice, "off", "on|off",
     "on chooses order and window of exchanges between nodes by trial, from access to access, "
     "unless "
     "io.order or io.window is given; collectives.rounds and collectives.decisions hold here too."},
    {"io.window", "HAICHI_IO_WINDOW", "haichi_comm_window", Setting::Kind::integer, "32", "",
     "Most sends a rank has outstanding in an exchange; 0 is no limit."},
    {"io.write", "HAICHI_IO_WRITE", "romio_cb_write", Setting::Kind::choice, "automatic",
     "enable|disable|automatic", "disable hands collective writes to the MPI library."},
    {"log", "HAICHI_LOG", "", Setting::Kind::choice, "warn", "error|warn|info|debug",
     "What haichi says on standard error."},
    {"machine", "HAICHI_MACHINE", "", Setting::Kind::path, "", "",
     "File that says what messages and file accesses cost on this machine (haichi.machine/1 or "
     "/2); empty: one is looked for (machines.find). With it, collectives do not try what is "
     "predicted to take more than twice the time of the best "
     "(without it three times, by the numbers of a fast network), and files have as many "
     "aggregators as storage and network can keep busy."},
    {"machines.find", "HAICHI_MACHINES_FIND", "", Setting::Kind::choice, "on", "on|off",
     "Whether the profile of this machine is looked for where machine names none: in "
     "haichi/machines of XDG_DATA_HOME or ~/.local/share, in /etc/haichi/machines, and of these "
     "very nodes in the installed tree."},
    {"node.address", "HAICHI_NODE_ADDRESS", "", Setting::Kind::text, "", "",
     "Where this node sits in the network: coordinates 1,0,2, switches and name s0.s3.n17, or the "
     "number of a place. Each node has its own; empty: as Slurm or the MPI library tells."},
    {"placement", "HAICHI_PLACEMENT", "", Setting::Kind::path, "", "",
     "File with the placement to use instead of the discovered one (haichi.placement/1, an RFC 34 "
     "task map, or a PMI process mapping)."},
    {"placement.reorder", "HAICHI_PLACEMENT_REORDER", "", Setting::Kind::choice, "auto",
     "auto|on|off",
     "Whether MPI_Cart_create, MPI_Graph_create and MPI_Dist_graph_create(_adjacent) with reorder "
     "true get an order of ranks that keeps neighbours on a node: auto where fewer bytes then go "
     "between nodes, on also where only the busiest node or the NUMA nodes gain."},
    {"record.file", "HAICHI_RECORD", "", Setting::Kind::path, "", "",
     "File to write the record of the program's MPI calls to (haichi.record/1) at MPI_Finalize; %j "
     "is the job's id, or else the process id of rank 0. `haichi run --record` sets it."},
    {"record.keep", "HAICHI_RECORD_KEEP", "", Setting::Kind::flag, "1", "",
     "1 keeps what each rank records in a file beside record.file until that is written, so that a "
     "record can be made of it when the job is killed."},
    {"record.sequence", "HAICHI_RECORD_SEQUENCE", "", Setting::Kind::flag, "0", "",
     "1 records the order of calls too, with loops folded."},
    {"record.sync", "HAICHI_RECORD_SYNC", "", Setting::Kind::flag, "0", "",
     "1 has the ranks of a communicator wait for one another before each blocking collective, to "
     "tell waiting from what the collective takes."},
    {"report.bytes", "HAICHI_REPORT_BYTES", "", Setting::Kind::bytes, "1M", "",
     "Most bytes of a report, and of the logs of all nodes until it is written; what has no room "
     "is "
     "counted: last events and calls first, then ranks, of which the slowest stay."},
    {"report.events", "HAICHI_REPORT_EVENTS", "", Setting::Kind::integer, "4096", "",
     "Most trace events kept per rank; later ones are counted, not kept."},
    {"report.file", "HAICHI_REPORT", "", Setting::Kind::path, "", "",
     "File to write the run report to (haichi.report/1) at MPI_Finalize; %j is the job's id, %p "
     "the process id of rank 0."},
    {"scale.ranks", "HAICHI_SCALE_RANKS", "", Setting::Kind::integer, "1025", "",
     "From so many ranks on, of a file or a communicator, ranks agree node by node: no rank knows "
     "all others' accesses, and file domains are even."},
    {"start.wait", "HAICHI_START_WAIT", "", Setting::Kind::integer, "60", "",
     "Seconds that the ranks wait at MPI_Init for one that may have been started without haichi, "
     "before all go on without it. After a sixth of them they say which it is."},
};

/// The number of that key's row; that of rows if there is none.
constexpr size_t setting_index(std::string_view key) {
  size_t index = 0;
  while (index < std::size(kSettings) && kSettings[index].key != key) ++index;
  return index;
}
/// The row of that key, or null.
constexpr const Setting* find_setting(std::string_view key) {
  const size_t index = setting_index(key);
  return index < std::size(kSettings) ? &kSettings[index] : nullptr;
}

}  // namespace haichi
