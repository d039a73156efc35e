#include "gasfs/wire/hello.h"

#include <sodium.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "base/os.h"
#include "gasfs/wire/stream.h"

namespace haichi::gasfs {
namespace {

using Nonce = std::array<unsigned char, 32>;
using Mac = std::array<unsigned char, crypto_auth_hmacsha256_BYTES>;
constexpr uint32_t kMostHello = 1024;
static_assert(kSecretBytes == crypto_auth_hmacsha256_KEYBYTES);

template <class T>
std::span<const std::byte> bytes_of(const T& array) {
  return std::as_bytes(std::span(array));
}

template <class T>
void take_into(Unpacker& unpacker, T& array) {
  const auto taken = unpacker.take_bytes(array.size());
  if (unpacker.sound())
    std::ranges::transform(taken, array.begin(),
                           [](std::byte b) { return std::to_integer<unsigned char>(b); });
}

Mac mac_of(const Secret& secret, std::span<const std::byte> text) {
  Mac mac;
  crypto_auth_hmacsha256(mac.data(), reinterpret_cast<const unsigned char*>(text.data()),
                         text.size(), secret.data());
  return mac;
}

Mac client_proof(const Secret& secret, const Nonce& server, const Nonce& client, uint64_t session) {
  Packer packer;
  packer.put(std::string_view("haichi gasfs client 1"));
  packer.put_bytes(bytes_of(server));
  packer.put_bytes(bytes_of(client));
  packer.put(session);
  return mac_of(secret, packer.bytes());
}

Mac server_proof(const Secret& secret, const Nonce& client, const Nonce& server,
                 const ServerIdentity& self) {
  Packer packer;
  packer.put(std::string_view("haichi gasfs server 1"));
  packer.put_bytes(bytes_of(client));
  packer.put_bytes(bytes_of(server));
  packer.put(self.boot);
  packer.put(self.store);
  packer.put(self.index);
  return mac_of(secret, packer.bytes());
}

Result<Frame> receive(int fd, Kind kind) {
  FrameReader reader(kMostHello);  // from somebody who may be anybody
  const auto whole = reader.fill(fd);
  if (!whole) return tl::unexpected(whole.error());
  if (!*whole) return fail(ETIMEDOUT, "no hello in time");
  Frame frame = reader.take();
  if (frame.header.kind != kind) return fail(EPROTO, "a hello out of turn");
  return frame;
}

}  // namespace

Result<Secret> read_secret(const std::string& path) {
  const auto accept = [&](const struct stat& file) -> Status {
    if (file.st_uid != geteuid() && file.st_uid != 0)
      return fail(EPERM, "the secret {} belongs to somebody else", path);
    if (file.st_mode & 077)
      return fail(EPERM, "others may read the secret {}: chmod 600 it, or make another", path);
    return {};
  };
  const auto text = read_file(path, 1024, 0, accept);
  if (!text) return tl::unexpected(text.error());
  Secret secret;
  size_t size = 0;
  const char* end = nullptr;
  if (sodium_hex2bin(secret.data(), secret.size(), text->data(), text->size(), " \n", &size,
                     &end) != 0 ||
      size != secret.size() || end != text->data() + text->size())
    return fail(EINVAL, "the secret {} is not 64 hexadecimal digits", path);
  return secret;
}

Result<uint64_t> ServerHello::challenge() {
  randombytes_buf(mine_.data(), mine_.size());
  if (auto sent = send_frame(fd_, Kind::challenge, 0, bytes_of(mine_)); !sent)
    return tl::unexpected(sent.error());
  const auto frame = receive(fd_, Kind::answer);
  if (!frame) return tl::unexpected(frame.error());
  Unpacker unpacker(frame->body.span());
  Mac mac{};
  take_into(unpacker, theirs_);
  const auto session = unpacker.take<uint64_t>();
  take_into(unpacker, mac);
  if (!unpacker.whole()) return fail(EPROTO, "a malformed hello");
  if (sodium_memcmp(mac.data(), client_proof(secret_, mine_, theirs_, session).data(),
                    mac.size()) != 0)
    return fail(EACCES, "somebody who does not have the secret of this job");
  return session;
}

Status ServerHello::welcome() {
  Packer packer;
  packer.put(self_.boot);
  packer.put(self_.store);
  packer.put(self_.index);
  packer.put_bytes(bytes_of(server_proof(secret_, theirs_, mine_, self_)));
  return send_frame(fd_, Kind::welcome, 0, packer.bytes());
}

Result<ServerIdentity> introduce(int fd, const Secret& secret, uint64_t session) {
  const auto challenge = receive(fd, Kind::challenge);
  if (!challenge) return tl::unexpected(challenge.error());
  Unpacker asked(challenge->body.span());
  Nonce theirs{}, mine{};
  take_into(asked, theirs);
  if (!asked.whole()) return fail(EPROTO, "a malformed challenge");
  randombytes_buf(mine.data(), mine.size());
  Packer packer;
  packer.put_bytes(bytes_of(mine));
  packer.put(session);
  packer.put_bytes(bytes_of(client_proof(secret, theirs, mine, session)));
  if (auto sent = send_frame(fd, Kind::answer, 0, packer.bytes()); !sent)
    return tl::unexpected(sent.error());
  const auto welcome = receive(fd, Kind::welcome);
  if (!welcome && welcome.error().code == ECONNRESET)
    return fail(EACCES, "the server closed the connection: is the secret the same on both sides?");
  if (!welcome) return tl::unexpected(welcome.error());
  Unpacker answer(welcome->body.span());
  ServerIdentity server;
  Mac mac{};
  answer.take(server.boot);
  answer.take(server.store);
  answer.take(server.index);
  take_into(answer, mac);
  if (!answer.whole()) return fail(EPROTO, "a malformed welcome");
  if (sodium_memcmp(mac.data(), server_proof(secret, mine, theirs, server).data(), mac.size()) != 0)
    return fail(EACCES, "a server that does not have the secret of this job");
  return server;
}

}  // namespace haichi::gasfs
