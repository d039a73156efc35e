// How dispatcher and server prove to each other that they have the secret of the job, which never
// goes over the network: HMAC-SHA256 of numbers that both have drawn for this connection.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "base/result.h"

namespace haichi::gasfs {

inline constexpr size_t kSecretBytes = 32;
using Secret = std::array<unsigned char, kSecretBytes>;

/// What is in a secret file: 64 hexadecimal digits. EPERM unless the file is the caller's (or
/// root's) and nobody else may read it.
Result<Secret> read_secret(const std::string& path);

/// What a server says of itself.
struct ServerIdentity {
  uint64_t boot = 0;   // another one after each start
  uint64_t store = 0;  // the same as long as its store is
  uint32_t index = 0;  // which of the servers it is
};

/// The server's part of a hello, on a new connection whose waiting is bounded. First `challenge`,
/// which gives the session of a client that has the secret (EACCES for one that has not); then,
/// when the client may begin, `welcome`.
class ServerHello {
 public:
  ServerHello(int fd, const Secret& secret, const ServerIdentity& self)
      : fd_(fd), secret_(secret), self_(self) {}
  Result<uint64_t> challenge();
  Status welcome();

 private:
  const int fd_;
  const Secret secret_;
  const ServerIdentity self_;
  std::array<unsigned char, 32> mine_{};
  std::array<unsigned char, 32> theirs_{};
};

/// The client's part; EACCES for a server that has another secret.
Result<ServerIdentity> introduce(int fd, const Secret& secret, uint64_t session);

}  // namespace haichi::gasfs
