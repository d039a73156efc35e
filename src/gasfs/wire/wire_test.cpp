#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <fstream>
#include <random>
#include <thread>

#include "gasfs/wire/bytes.h"
#include "gasfs/wire/hello.h"
#include "gasfs/wire/hold_messages.h"
#include "gasfs/wire/messages.h"
#include "gasfs/wire/name_messages.h"
#include "gasfs/wire/sockets.h"
#include "gasfs/wire/stream.h"

namespace haichi::gasfs {
namespace {

using Bytes = std::vector<std::byte>;

Bytes bytes(std::string_view text) {
  const auto view = std::as_bytes(std::span(text));
  return {view.begin(), view.end()};
}

struct Pair {
  Pair() {
    int fds[2];
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
    a = Descriptor(fds[0]);
    b = Descriptor(fds[1]);
    bound_waiting(a.get(), 5000);
    bound_waiting(b.get(), 5000);
  }
  Descriptor a, b;
};

/// All that a socket gives, as frames, until it ends or an error comes.
std::pair<std::vector<Frame>, int> receive_all(int fd) {
  std::vector<Frame> frames;
  FrameReader reader;
  for (;;) {
    const auto whole = reader.fill(fd);
    if (!whole) return {std::move(frames), whole.error().code};
    if (!*whole) return {std::move(frames), 0};
    frames.push_back(reader.take());
  }
}

Bytes frame_bytes(Kind kind, uint64_t id, const Bytes& body) {
  const auto head =
      pack({kind, static_cast<uint32_t>(body.size()), id, checksum_of(kind, id, body)});
  Bytes all(head.begin(), head.end());
  all.insert(all.end(), body.begin(), body.end());
  return all;
}

void send_raw(int fd, std::span<const std::byte> raw) {
  ASSERT_EQ(::send(fd, raw.data(), raw.size(), MSG_NOSIGNAL), static_cast<ssize_t>(raw.size()));
}

TEST(Frame, ArrivesAsItWasSent) {
  Pair pair;
  ASSERT_TRUE(send_frame(pair.a.get(), Kind::write, 7, bytes("hello")));
  ASSERT_TRUE(send_frame(pair.a.get(), Kind::status, 8, {}));
  pair.a.reset();
  const auto [frames, error] = receive_all(pair.b.get());
  ASSERT_EQ(frames.size(), 2u);
  EXPECT_EQ(error, ECONNRESET);
  EXPECT_EQ(frames[0].header.id, 7u);
  EXPECT_TRUE(std::ranges::equal(frames[0].body.span(), bytes("hello")));
  EXPECT_EQ(frames[1].header.kind, Kind::status);
}

TEST(Frame, IsNotGivenBeforeItIsWhole) {
  Pair pair;
  const Bytes raw = frame_bytes(Kind::write, 1, bytes("0123456789"));
  send_raw(pair.a.get(), std::span(raw).first(raw.size() - 1));
  pair.a.reset();
  EXPECT_TRUE(receive_all(pair.b.get()).first.empty());
}

TEST(Frame, RefusesALongBodyBeforeItComes) {
  Pair pair;
  Bytes raw = frame_bytes(Kind::write, 1, {});
  raw[8] = raw[9] = raw[10] = raw[11] = std::byte{0xff};  // the length: 2^32 - 1
  send_raw(pair.a.get(), raw);
  EXPECT_EQ(receive_all(pair.b.get()).second, EMSGSIZE);
}

TEST(Frame, RefusesEveryFlippedBit) {
  const Bytes sound = frame_bytes(Kind::write, 3, bytes("some bytes of a body"));
  for (size_t bit = 0; bit < sound.size() * 8; ++bit) {
    Pair pair;
    Bytes raw = sound;
    raw[bit / 8] ^= std::byte{1} << (bit % 8);
    send_raw(pair.a.get(), raw);
    pair.a.reset();
    EXPECT_TRUE(receive_all(pair.b.get()).first.empty()) << "bit " << bit;
  }
}

TEST(Messages, ComeBackAsTheyWere) {
  const std::vector<Extent> extents{{5, 3}, {kMostOffset - 1, 2}};
  Bytes body = pack_write_head(42, extents);
  const Bytes payload = bytes("abcde");
  body.insert(body.end(), payload.begin(), payload.end());
  const auto write = unpack_write(body);
  ASSERT_TRUE(write);
  EXPECT_EQ(write->inode, 42u);
  ASSERT_EQ(write->extents.size(), 2u);
  EXPECT_EQ(write->extents[1].offset, kMostOffset - 1);
  EXPECT_EQ(write->payload.size(), 5u);
  EXPECT_FALSE(unpack_write(std::span(body).first(body.size() - 1)));
}

TEST(Messages, NamesComeBackAsTheyWere) {
  NameRequest request{.op = NameOp::rename,
                      .sequence = 3,
                      .settled = 2,
                      .inode = 4,
                      .other = 5,
                      .name = "a",
                      .text = std::string("b\0c", 3)};
  request.changes.size = 17;
  request.changes.modified = timespec{5, UTIME_NOW};
  const auto back = unpack_name_request(pack_name_request(request));
  ASSERT_TRUE(back);
  EXPECT_EQ(back->text, request.text);
  EXPECT_EQ(back->changes.size, 17u);
  EXPECT_FALSE(back->changes.mode);
  EXPECT_EQ(back->changes.modified->tv_nsec, UTIME_NOW);
  request.sequence = 0;
  EXPECT_FALSE(unpack_name_request(pack_name_request(request))) << "a change needs its number";
}

TEST(Messages, EntriesComeBackAsTheyWere) {
  std::string packed;
  pack_entry({"one", 7, S_IFREG, 3}, packed);
  pack_entry({"two", 8, S_IFDIR, 4}, packed);
  std::string_view left = packed;
  Entry entry;
  ASSERT_TRUE(unpack_entry(left, entry) && unpack_entry(left, entry));
  EXPECT_EQ(entry.name, "two");
  EXPECT_EQ(entry.cursor, 4u);
  EXPECT_FALSE(unpack_entry(left, entry));
}

/// Every parser on one body: none may read beyond it, hang or take memory for what is not there.
/// The address sanitizer watches it in `./haichi test --sanitize address,undefined`.
void parse_all(std::span<const std::byte> body) {
  // A copy of its own, so that a byte too far is seen.
  const auto own = std::make_unique<std::byte[]>(body.size());
  std::ranges::copy(body, own.get());
  const std::span<const std::byte> seen{own.get(), body.size()};
  if (const auto write = unpack_write(seen)) {
    uint64_t sum = 0;
    for (const Extent& extent : write->extents) sum += extent.length;
    ASSERT_EQ(sum, write->payload.size());
  }
  if (const auto read = unpack_read(seen)) {
    ASSERT_LE(read->extents.size(), kMostExtents);
  }
  (void)unpack_object(seen);
  (void)unpack_reply(seen);
  (void)unpack_space(seen);
  (void)unpack_name_request(seen);
  (void)unpack_name_reply(seen);
  std::string_view text(reinterpret_cast<const char*>(seen.data()), seen.size());
  Entry entry;
  for (size_t left = text.size() + 1; unpack_entry(text, entry); left = text.size())
    ASSERT_LT(text.size(), left) << "each entry takes something off";
}

TEST(Fuzz, BodiesThatAreRandomOrAlmostRight) {
  std::mt19937_64 random(3);
  std::string entries;
  pack_entry({"name", 9, S_IFREG, 12}, entries);
  Bytes write = pack_write_head(1, std::vector<Extent>{{0, 4}, {8, 4}});
  write.resize(write.size() + 8);
  const std::vector<Bytes> seeds{
      write,          pack_read({1, {{0, 9}}}), pack_object({3, 4}), pack_reply(5, bytes("x")),
      pack_space({}), pack_name_request({}),    pack_name_reply({}), bytes(entries),
      Bytes(200)};
  for (int i = 0; i < 200'000; ++i) {
    Bytes body = seeds[random() % seeds.size()];
    if (random() % 4 == 0) body.resize(random() % (body.size() + 8));
    for (uint64_t n = random() % 6; n > 0 && !body.empty(); --n)
      body[random() % body.size()] = static_cast<std::byte>(random() % 3 == 0 ? 0xff : random());
    parse_all(body);
  }
}

TEST(Fuzz, StreamsThatAreRandomOrAlmostRight) {
  std::mt19937_64 random(5);
  for (int i = 0; i < 3000; ++i) {
    Bytes raw;
    for (int n = 0; n < 3; ++n) {
      const Bytes one =
          frame_bytes(static_cast<Kind>(random() % 30), random(), Bytes(random() % 300));
      raw.insert(raw.end(), one.begin(), one.end());
    }
    for (uint64_t n = random() % 4; n > 0; --n)
      raw[random() % raw.size()] = static_cast<std::byte>(random());
    raw.resize(random() % (raw.size() + 1));
    Pair pair;
    send_raw(pair.a.get(), raw);
    pair.a.reset();
    for (const Frame& frame : receive_all(pair.b.get()).first)
      ASSERT_EQ(frame.body.size(), frame.header.length);
  }
}

Secret secret(unsigned char seed) {
  Secret made;
  made.fill(seed);
  return made;
}

/// A hello between two secrets: what the server and the client make of it.
std::pair<Result<uint64_t>, Result<ServerIdentity>> hello(const Secret& servers,
                                                          const Secret& clients) {
  Pair pair;
  Result<ServerIdentity> seen = tl::unexpected(Error{0, ""});
  std::thread client([&] { seen = introduce(pair.b.get(), clients, 77); });
  ServerHello server(pair.a.get(), servers, {1, 2, 3});
  auto session = server.challenge();
  if (session) (void)server.welcome();
  pair.a.reset();
  client.join();
  return {std::move(session), std::move(seen)};
}

TEST(Hello, LetsInWhoHasTheSecret) {
  const auto [session, server] = hello(secret(1), secret(1));
  ASSERT_TRUE(session);
  EXPECT_EQ(*session, 77u);
  ASSERT_TRUE(server);
  EXPECT_EQ(server->store, 2u);
}

TEST(Hello, RefusesWhoHasNot) {
  const auto [session, server] = hello(secret(1), secret(2));
  EXPECT_EQ(session.error().code, EACCES);
  EXPECT_EQ(server.error().code, EACCES);
}

TEST(Hello, RefusesAProofOfAnotherConnection) {
  Pair first, second;
  Bytes recorded;
  std::thread client([&] { (void)introduce(first.b.get(), secret(1), 77); });
  ServerHello server(first.a.get(), secret(1), {});
  // The first connection's answer is recorded by somebody who stands between, and sent again.
  std::thread recorder([&] {
    FrameReader reader;
    (void)reader.fill(second.b.get());
    EXPECT_TRUE(send_frame(second.b.get(), Kind::answer, 0, recorded));
  });
  {
    Packer nonce;
    nonce.put_bytes(Bytes(32));
    EXPECT_TRUE(send_frame(first.a.get(), Kind::challenge, 0, nonce.bytes()));
    FrameReader reader;
    EXPECT_TRUE(*reader.fill(first.a.get()));
    const Frame answer = reader.take();
    recorded.assign(answer.body.span().begin(), answer.body.span().end());
  }
  first.a.reset();
  client.join();
  ServerHello other(second.a.get(), secret(1), {});
  const auto session = other.challenge();
  recorder.join();
  EXPECT_EQ(session.error().code, EACCES);
}

TEST(Secret, IsNobodyElsesToRead) {
  const std::string path = ::testing::TempDir() + "gasfs_secret_" + std::to_string(getpid());
  std::ofstream(path) << std::string(64, 'a') << "\n";
  chmod(path.c_str(), 0644);
  EXPECT_EQ(read_secret(path).error().code, EPERM);
  chmod(path.c_str(), 0600);
  ASSERT_TRUE(read_secret(path));
  EXPECT_EQ((*read_secret(path))[31], 0xaa);
  std::ofstream(path) << "abc";
  EXPECT_EQ(read_secret(path).error().code, EINVAL);
  unlink(path.c_str());
}

TEST(Address, IsHostAndPort) {
  EXPECT_EQ(parse_address("node1:70")->port, 70);
  EXPECT_EQ(parse_address("[::1]:70")->host, "::1");
  for (const char* wrong : {"node1", ":70", "node1:", "node1:x", "node1:70000"})
    EXPECT_FALSE(parse_address(wrong)) << wrong;
}

TEST(Messages, ListsOfInodesComeBackAndWhatIsNoneIsEmpty) {
  const std::vector<Inode> inodes{1, 77, ~uint64_t{0}};
  EXPECT_EQ(unpack_inodes(pack_inodes(inodes)), inodes);
  for (const std::string& none : {std::string(), std::string(7, 'x'), std::string(17 * 8, 'x')})
    EXPECT_TRUE(unpack_inodes(none).empty()) << none.size();
}

/// Of nodes that hold a file whole.
TEST(Messages, WhatNodesAskEachOtherComesBackAndNothingElse) {
  const HoldMessage hold{5, {{"10.0.0.1", 4242}, {"fe80::1", 1}}};
  const auto held_again = unpack_hold(pack_hold(hold));
  ASSERT_TRUE(held_again);
  EXPECT_EQ(held_again->inode, 5u);
  ASSERT_EQ(held_again->from.size(), 2u);
  EXPECT_EQ(to_text(held_again->from[1]), "[fe80::1]:1");
  const PullMessage pull{.inode = 5, .changed = {7, 8}, .stale = 2, .offset = 9, .length = 10};
  const auto pulled = unpack_pull(pack_pull(pull));
  ASSERT_TRUE(pulled);
  EXPECT_EQ(pulled->changed.tv_nsec, 8);
  EXPECT_EQ(pulled->offset + pulled->length, 19u);
  for (const uint32_t length : {uint32_t{0}, kMostPulled + 1, UINT32_MAX})
    EXPECT_FALSE(unpack_pull(pack_pull({.inode = 5, .length = length}))) << length;
  EXPECT_FALSE(unpack_pull(pack_pull({.offset = UINT64_MAX, .length = 1})));
  EXPECT_FALSE(unpack_hold(pack_hold({5, std::vector<Address>(kMostSources + 1)})));
  auto state = pack_held({.state = HeldMessage::State::held, .trouble = "none"});
  EXPECT_EQ(unpack_held(state)->trouble, "none");
  state[0] = std::byte{4};
  EXPECT_FALSE(unpack_held(state));
  for (auto bytes : {pack_hold(hold), pack_pull(pull), pack_held({})}) {
    bytes.pop_back();
    EXPECT_FALSE(unpack_hold(bytes) || unpack_pull(bytes) || unpack_held(bytes));
  }
}

}  // namespace
}  // namespace haichi::gasfs
