#include "gasfs/wire/sockets.h"

#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <memory>

#include "base/number_text.h"

namespace haichi::gasfs {
namespace {

using Found = std::unique_ptr<addrinfo, decltype(&freeaddrinfo)>;

Result<Found> find(const Address& address, int flags) {
  addrinfo wanted{};
  wanted.ai_socktype = SOCK_STREAM;
  wanted.ai_flags = flags | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  const int wrong =
      getaddrinfo(address.host.c_str(), std::to_string(address.port).c_str(), &wanted, &found);
  if (wrong != 0)
    return fail(EINVAL, "no address is known of host '{}': {}", address.host, gai_strerror(wrong));
  return Found(found, &freeaddrinfo);
}

void set_option(int fd, int level, int option) {
  const int on = 1;
  setsockopt(fd, level, option, &on, sizeof on);
}

}  // namespace

Result<Address> parse_address(const std::string& text) {
  const size_t colon = text.rfind(':');
  const bool parts = colon != std::string::npos && colon > 0;
  const auto port =
      parts ? whole_number<uint16_t>(std::string_view(text).substr(colon + 1)) : std::nullopt;
  if (!port) return fail(EINVAL, "'{}' is no address: give HOST:PORT", text);
  Address address{text.substr(0, colon), *port};
  if (address.host.front() == '[' && address.host.back() == ']')
    address.host = address.host.substr(1, address.host.size() - 2);
  return address;
}

std::string to_text(const Address& address) {
  const bool brackets = address.host.find(':') != std::string::npos;
  return fmt::format("{}{}{}:{}", brackets ? "[" : "", address.host, brackets ? "]" : "",
                     address.port);
}

Result<Descriptor> listen_on(Address& address) {
  const auto found = find(address, AI_PASSIVE);
  if (!found) return tl::unexpected(found.error());
  const addrinfo& first = **found;
  Descriptor fd(::socket(first.ai_family, first.ai_socktype | SOCK_CLOEXEC, first.ai_protocol));
  if (!fd) return fail(errno, "no socket: {}", std::strerror(errno));
  set_option(fd.get(), SOL_SOCKET, SO_REUSEADDR);
  if (::bind(fd.get(), first.ai_addr, first.ai_addrlen) != 0 || ::listen(fd.get(), 256) != 0)
    return fail(errno, "cannot listen on {}: {}; name another address or port", to_text(address),
                std::strerror(errno));
  sockaddr_storage bound{};
  socklen_t size = sizeof bound;
  getsockname(fd.get(), reinterpret_cast<sockaddr*>(&bound), &size);
  address.port =
      ntohs(bound.ss_family == AF_INET6 ? reinterpret_cast<sockaddr_in6*>(&bound)->sin6_port
                                        : reinterpret_cast<sockaddr_in*>(&bound)->sin_port);
  return fd;
}

Result<Descriptor> connect_to(const Address& address, int patience_ms) {
  const auto found = find(address, 0);
  if (!found) return tl::unexpected(found.error());
  const addrinfo& first = **found;
  Descriptor fd(::socket(first.ai_family, first.ai_socktype | SOCK_CLOEXEC | SOCK_NONBLOCK,
                         first.ai_protocol));
  if (!fd) return fail(errno, "no socket: {}", std::strerror(errno));
  int wrong = ::connect(fd.get(), first.ai_addr, first.ai_addrlen) == 0 ? 0 : errno;
  if (wrong == EINPROGRESS) {
    pollfd wait{fd.get(), POLLOUT, 0};
    wrong = ::poll(&wait, 1, patience_ms) == 1 ? 0 : ETIMEDOUT;
    socklen_t size = sizeof wrong;
    if (wrong == 0) getsockopt(fd.get(), SOL_SOCKET, SO_ERROR, &wrong, &size);
  }
  if (wrong != 0)
    return fail(wrong, "cannot connect to {}: {}", to_text(address), std::strerror(wrong));
  fcntl(fd.get(), F_SETFL, fcntl(fd.get(), F_GETFL) & ~O_NONBLOCK);
  tune_connection(fd.get());
  return fd;
}

std::string local_host(int fd) {
  sockaddr_storage own{};
  socklen_t size = sizeof own;
  std::array<char, NI_MAXHOST> text{};
  if (getsockname(fd, reinterpret_cast<sockaddr*>(&own), &size) != 0) return {};
  if (getnameinfo(reinterpret_cast<sockaddr*>(&own), size, text.data(), text.size(), nullptr, 0,
                  NI_NUMERICHOST) != 0)
    return {};
  return text.data();
}

void tune_connection(int fd) {
  set_option(fd, SOL_SOCKET, SO_KEEPALIVE);
  const auto set = [&](int option, int value) {
    setsockopt(fd, IPPROTO_TCP, option, &value, sizeof value);
  };
  set(TCP_KEEPIDLE, 10);
  set(TCP_KEEPINTVL, 5);
  set(TCP_KEEPCNT, 4);
  set_option(fd, IPPROTO_TCP, TCP_NODELAY);
}

void bound_waiting(int fd, int milliseconds) {
  const timeval time{milliseconds / 1000, milliseconds % 1000 * 1000};
  setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &time, sizeof time);
  setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &time, sizeof time);
}

}  // namespace haichi::gasfs
