#include "machine/machine.h"

#include <errno.h>

namespace haichi::machine {
namespace {

constexpr double kLargest = 1e9;

constexpr MachineField kFields[] = {
    {"send_ns", &Machine::send_ns, false, "to issue a send, on the rank's processor"},
    {"receive_ns", &Machine::receive_ns, false, "to post a receive"},
    {"match_ns", &Machine::match_ns, false, "to match and complete a message that arrives"},
    {"copy_gbs", &Machine::copy_gbs, true, "memory copy by one rank, GB/s"},
    {"eager_bytes", &Machine::eager_bytes, false, "larger messages are sent by rendezvous"},
    {"local_latency_ns", &Machine::local_latency_ns, false, "from rank to rank inside a node"},
    {"search_ns", &Machine::search_ns, false,
     "for each entry of a queue that is looked at to match; 0: none"},
    {"rendezvous_words", &Machine::rendezvous_words, false,
     "of a rendezvous between nodes, the first so many take the latency: ask, grant, end", true},
    {"word_bytes", &Machine::word_bytes, false,
     "of such a word on its way; 0: none, and it waits behind no bytes", true},
    {"out_gbs", &Machine::out_gbs, true, "a node's port towards the network, GB/s"},
    {"in_gbs", &Machine::in_gbs, true, "a node's port from the network, GB/s"},
    {"latency_ns", &Machine::latency_ns, false, "first byte, from port to port"},
    {"link_gbs", &Machine::link_gbs, true, "a link between switches or neighbours, GB/s"},
    {"hop_ns", &Machine::hop_ns, false, "first byte over such a link, added to latency_ns"},
    {"buffer_bytes", &Machine::buffer_bytes, false,
     "before each link of the network; 0: without a bound", true},
    {"servers", &Machine::servers, false, "that each file is striped over; 0: no storage", true},
    {"stripe_bytes", &Machine::stripe_bytes, true, "of a file before the next server's turn", true},
    {"server_gbs", &Machine::server_gbs, true, "what one server reads or writes, GB/s"},
    {"request_us", &Machine::request_us, false, "of a server, for each request"},
    {"handover_us", &Machine::handover_us, false,
     "of a server, to turn to another node's requests if one of them writes"},
    {"storage_gbs", &Machine::storage_gbs, false,
     "a node's port for files, GB/s; 0: that of the messages"},
    {"client_gbs", &Machine::client_gbs, false,
     "what one rank reads or writes at most, GB/s; 0: no such limit"},
};

}  // namespace

std::span<const MachineField> machine_fields() { return kFields; }

Status set_field(Machine& machine, std::string_view name, double value) {
  for (const MachineField& field : kFields) {
    if (field.name != name) continue;
    if (!(value >= 0 && value <= kLargest) || (field.positive && value == 0))
      return fail(EINVAL, "{} takes a number {} and up to 10^9, not {}", name,
                  field.positive ? "above 0" : "from 0", value);
    if (field.whole && value != double(int64_t(value)))
      return fail(EINVAL, "{} takes a whole number, not {}", name, value);
    machine.*field.member = value;
    if (!machine.tells(name)) machine.told.push_back(field.name);
    return {};
  }
  std::string names;
  for (const MachineField& field : kFields)
    names += fmt::format("{}{}", names.empty() ? "" : ", ", field.name);
  return fail(EINVAL, "a machine has no {}; it has {}", name, names);
}

}  // namespace haichi::machine
