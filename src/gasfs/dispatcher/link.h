// A dispatcher's connection to one server: what is asked of it in order, again after the connection
// or the server broke, until it is answered or the server's time is over.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "gasfs/files/node_files.h"
#include "gasfs/wire/hello.h"
#include "gasfs/wire/sockets.h"
#include "gasfs/wire/stream.h"

namespace haichi::gasfs {

/// A frame that can be sent: room for the header, then the body.
class Outgoing {
 public:
  Outgoing(Kind kind, size_t body_size);
  Outgoing(Kind kind, std::span<const std::byte> body);
  std::span<std::byte> body() { return bytes_.span().subspan(kHeaderBytes); }
  /// Writes the header, when the body is complete.
  void seal(uint64_t id);
  std::span<const std::byte> bytes() const { return bytes_.span(); }

 private:
  Kind kind_;
  Buffer bytes_;
};

struct LinkOptions {
  Address address;
  Secret secret{};
  uint64_t session = 0;
  uint32_t index = 0;
  std::string name{};  // in what is told of it; without, "server INDEX"
  /// A server from which nothing comes for so long, though something is asked of it, is given up.
  int patience_ms = 30'000;
};

/// Thread-safe. One thread waits for the socket and sleeps when nothing is asked.
class Link {
 public:
  /// Called once, by the link's thread: with the server's errno and answer, or ETIMEDOUT where it
  /// was given up. Must not wait.
  using Then = std::function<void(int error, std::span<const std::byte> rest)>;
  /// What to ask first of a server that has begun anew, so that it knows what it forgot.
  using Again = std::function<std::vector<Outgoing>()>;

  Link(const LinkOptions& options, Again again);
  /// What is not answered yet is given up.
  ~Link();

  /// Asks behind all that was asked before, and does not wait.
  void send(Outgoing frame, Then then);
  /// Asks and waits for the answer.
  Outcome<std::vector<std::byte>> ask(Outgoing frame);
  const Address& address() const { return options_.address; }
  bool connected() const;
  /// This host, as the server sees it; "" before the first connection.
  std::string own_host() const;
  /// Whether it was given up and has not been seen since: what is asked now may take its time.
  bool given_up() const;
  /// How often the server was found begun anew.
  uint64_t restarts() const;

 private:
  struct Asked {
    Outgoing frame;
    uint64_t id;
    Then then;
  };

  void run();
  bool connect();
  void learn(const ServerIdentity& server);
  Status exchange();
  Status send_some();
  Status receive_some();
  void disconnect(const std::string& why);
  void give_up();
  bool out_of_patience() const;
  std::string whom() const;
  void wake();
  void forget_wake();

  const LinkOptions options_;
  const Again again_;
  Descriptor wake_;
  Descriptor socket_;  // of the thread
  FrameReader reader_;
  size_t sent_bytes_ = 0;  // of the frame that is being sent

  mutable std::mutex mutex_;
  std::deque<Asked> asked_;
  size_t sent_ = 0;  // of these, how many are under way as a whole
  uint64_t last_id_ = 0;
  int64_t progress_ns_ = 0;  // when the server last answered, or had nothing to answer
  bool ending_ = false;
  bool connected_ = false;
  bool given_up_ = false;  // and not seen again since
  std::optional<ServerIdentity> known_;
  uint64_t restarts_ = 0;
  std::string own_host_;
  std::string trouble_;  // why it is not connected
  std::thread thread_;
};

}  // namespace haichi::gasfs
