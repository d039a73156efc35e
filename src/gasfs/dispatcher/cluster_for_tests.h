// Servers in this process and files on them, for tests of what stands on them.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/eventfd.h>

#include <filesystem>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <thread>

#include "gasfs/dispatcher/dispatcher.h"
#include "gasfs/server/server.h"

namespace haichi::gasfs {

class ClusterForTests {
 public:
  explicit ClusterForTests(uint32_t servers, uint64_t stripe = Layout{}.stripe) : stripe_(stripe) {
    // In memory where it can be: a server that ends waits for the whole disk.
    std::string pattern = (::access("/dev/shm", W_OK) == 0 ? "/dev/shm/" : ::testing::TempDir()) +
                          "gasfs_cluster_XXXXXX";
    folder_ = ::mkdtemp(pattern.data());
    secret_.fill(9);
    running_.resize(servers);
    for (uint32_t i = 0; i < servers; ++i) addresses_.push_back({"127.0.0.1", 0});
    for (uint32_t i = 0; i < servers; ++i) start(i);
  }
  ~ClusterForTests() {
    for (uint32_t i = 0; i < running_.size(); ++i) stop(i);
    std::filesystem::remove_all(folder_);
  }

  /// `host`: "0.0.0.0" to be reached by all addresses of this machine.
  void start(uint32_t i, const std::string& host = "127.0.0.1") {
    const auto count = static_cast<uint32_t>(running_.size());
    auto store = Store::open(folder_ + "/" + std::to_string(i),
                             {.index = i, .servers = count, .stripe = stripe_});
    ASSERT_TRUE(store) << store.error().text;
    Address address{host, addresses_[i].port};
    auto server = Server::open(std::move(*store), secret_, address);
    ASSERT_TRUE(server) << server.error().text;
    addresses_[i].port = address.port;
    Running& running = running_[i];
    running.server = std::move(*server);
    running.stop = Descriptor(::eventfd(0, EFD_CLOEXEC));
    running.thread = std::thread([&running] { (void)running.server->run(running.stop.get()); });
  }
  void stop(uint32_t i) {
    Running& running = running_[i];
    if (!running.server) return;
    const uint64_t one = 1;
    EXPECT_EQ(::write(running.stop.get(), &one, sizeof one), 8);
    running.thread.join();
    running.server.reset();
  }

  std::shared_ptr<Dispatcher> dispatcher(DispatcherOptions options = {}) const {
    if (options.servers.empty()) options.servers = addresses_;
    options.secret = secret_;
    auto made = std::make_shared<Dispatcher>(options);
    const auto begun = made->begin();
    EXPECT_TRUE(begun) << begun.error().text;
    return made;
  }
  const std::vector<Address>& addresses() const { return addresses_; }
  const Secret& secret() const { return secret_; }
  Service& service(uint32_t i) { return running_[i].server->service(); }
  const std::string& folder() const { return folder_; }

 private:
  struct Running {
    std::unique_ptr<Server> server;
    Descriptor stop;
    std::thread thread;
  };
  const uint64_t stripe_;
  std::string folder_;
  Secret secret_;
  std::vector<Address> addresses_;
  std::vector<Running> running_;
};

inline std::span<const std::byte> bytes(std::string_view text) {
  return std::as_bytes(std::span(text));
}

inline std::string drawn(size_t size, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::string text(size, '\0');
  for (char& c : text) c = static_cast<char>(random());
  return text;
}

inline std::string read(Dispatcher& files, Handle handle, uint64_t offset, size_t length) {
  std::string text(length, '?');
  const auto got = files.read(handle, offset, std::as_writable_bytes(std::span(text)));
  EXPECT_TRUE(got);
  text.resize(got.value_or(0));
  return text;
}

/// A file that is at the servers, and that no node has open.
inline Inode stored(Dispatcher& files, std::string_view name, std::string_view text) {
  const auto made = files.create(kRoot, name, {.mode = 0600}, O_RDWR);
  EXPECT_TRUE(made);
  EXPECT_TRUE(files.write(made->handle, 0, bytes(text), 1));
  EXPECT_TRUE(files.flush(made->handle));
  files.release(made->handle);
  return made->attributes.inode;
}

}  // namespace haichi::gasfs
