// TCP connections between the nodes.
#pragma once

#include <cstdint>
#include <string>

#include "base/descriptor.h"
#include "base/result.h"

namespace haichi::gasfs {

/// Where a server listens: a host's name or address, and a port.
struct Address {
  std::string host;
  uint16_t port = 0;
};
/// host:port, [address]:port.
Result<Address> parse_address(const std::string& text);
std::string to_text(const Address& address);

/// Listens there, and nowhere else; port 0 takes a free one, which `address` has afterwards.
Result<Descriptor> listen_on(Address& address);
/// Connects within `patience_ms`: ETIMEDOUT. The socket blocks.
Result<Descriptor> connect_to(const Address& address, int patience_ms);
/// The address that a connected socket has on this host; "" if it has none.
std::string local_host(int fd);
/// What both ends of a connection want: nothing waits for more to send, and in half a minute it is
/// noticed that the other host is gone. `connect_to` has done it.
void tune_connection(int fd);
/// Bounds what one receive and one send may wait; 0: no bound.
void bound_waiting(int fd, int milliseconds);

}  // namespace haichi::gasfs
