#include "gasfs/dispatcher/dispatcher.h"

#include <filesystem>
#include <map>
#include <random>

#include "gasfs/dispatcher/cluster_for_tests.h"
#include "gasfs/files/conformance.h"
#include "gasfs/plan/btio.h"
#include "gasfs/store/check.h"
#include "gasfs/store/name_table.h"

namespace haichi::gasfs {
namespace {

/// A dispatcher with servers of its own beneath it.
struct Alone {
  explicit Alone(uint32_t servers, uint64_t stripe, DispatcherOptions options = {})
      : cluster(servers, stripe), dispatcher(cluster.dispatcher(options)) {}
  ClusterForTests cluster;
  std::shared_ptr<Dispatcher> dispatcher;
};

std::shared_ptr<NodeFiles> files_of(std::shared_ptr<Alone> alone) {
  return {alone, alone->dispatcher.get()};
}
std::shared_ptr<NodeFiles> one_server() { return files_of(std::make_shared<Alone>(1, 65536)); }
std::shared_ptr<NodeFiles> three_servers() { return files_of(std::make_shared<Alone>(3, 4096)); }
std::shared_ptr<NodeFiles> two_copies_of_all() {
  auto alone = std::make_shared<Alone>(3, 4096);
  EXPECT_TRUE(alone->dispatcher->setxattr(kRoot, kCopiesAttribute, "2", 0));
  return files_of(std::move(alone));
}
std::shared_ptr<NodeFiles> little_memory() {
  return files_of(std::make_shared<Alone>(
      2, 4096, DispatcherOptions{.sub_buffer = 100, .memory = 1000, .linger_ms = 1}));
}

INSTANTIATE_TEST_SUITE_P(OneServer, NodeFilesConformance, testing::Values(&one_server));
INSTANTIATE_TEST_SUITE_P(ThreeServers, NodeFilesConformance, testing::Values(&three_servers));
INSTANTIATE_TEST_SUITE_P(TwoCopies, NodeFilesConformance, testing::Values(&two_copies_of_all));
INSTANTIATE_TEST_SUITE_P(LittleMemory, NodeFilesConformance, testing::Values(&little_memory));

std::string contents(NodeFiles& files, Inode inode) {
  const auto opened = files.open(inode, O_RDONLY);
  EXPECT_TRUE(opened);
  std::string text(opened->attributes.size, '?');
  EXPECT_EQ(files.read(opened->handle, 0, std::as_writable_bytes(std::span(text))), text.size());
  files.release(opened->handle);
  return text;
}

/// A frame that asks for bytes of an object.
Frame read_of(Inode inode, Extent extent) {
  const auto body = pack_read({inode, {extent}});
  Frame frame{{Kind::read, static_cast<uint32_t>(body.size())}, Buffer(body.size())};
  std::ranges::copy(body, frame.body.data());
  return frame;
}

Opened create(NodeFiles& files, std::string_view name, int flags = O_RDWR) {
  const auto made = files.create(kRoot, name, {.mode = 0600}, flags);
  EXPECT_TRUE(made);
  return made.value_or(Opened{});
}

TEST(Dispatcher, ShowsAnotherNodeWhatWasFlushed) {
  ClusterForTests cluster(2, 4096);
  const auto a = cluster.dispatcher(), b = cluster.dispatcher();
  const Opened file = create(*a, "f");
  const std::string text(10'000, 'x');
  ASSERT_TRUE(a->write(file.handle, 5, bytes(text), 1));
  EXPECT_EQ(a->getattr(file.attributes.inode)->size, 10'005u);
  ASSERT_TRUE(a->flush(file.handle));
  EXPECT_EQ(b->lookup(kRoot, "f")->size, 10'005u);
  EXPECT_EQ(contents(*b, file.attributes.inode), std::string(5, '\0') + text);
}

/// Files of the root folder have two copies from here on.
void two_copies(NodeFiles& files) { ASSERT_TRUE(files.setxattr(kRoot, kCopiesAttribute, "2", 0)); }

std::string random_text(size_t size, unsigned seed) {
  std::mt19937 random(seed);
  std::string text(size, 0);
  for (char& c : text) c = static_cast<char>('a' + random() % 26);
  return text;
}

TEST(Copies, AreOnTwoServersAndReadOfEither) {
  for (const uint32_t away : {1u, 2u}) {
    ClusterForTests cluster(3, 4096);
    const auto writer = cluster.dispatcher();
    two_copies(*writer);
    const Opened file = create(*writer, "f");
    const std::string text = random_text(50'000, away);
    ASSERT_TRUE(writer->write(file.handle, 0, bytes(text), 1));
    ASSERT_TRUE(writer->flush(file.handle));
    cluster.stop(away);
    EXPECT_EQ(contents(*writer, file.attributes.inode), text);
    EXPECT_EQ(contents(*cluster.dispatcher({.patience_ms = 1000}), file.attributes.inode), text);
    EXPECT_EQ(writer->getxattr(file.attributes.inode, kStaleAttribute).error(), ENODATA)
        << "reading makes nothing stale";
  }
}

TEST(Copies, OfAServerThatIsAwayAreStaleAndNotReadUntilTheyAreMended) {
  ClusterForTests cluster(2, 4096);
  const std::string old = random_text(30'000, 1), text = random_text(30'000, 2);
  Inode inode = 0;
  {
    const auto writer = cluster.dispatcher({.patience_ms = 2000});
    two_copies(*writer);
    const Opened file = create(*writer, "f");
    inode = file.attributes.inode;
    ASSERT_TRUE(writer->write(file.handle, 0, bytes(old), 1));
    ASSERT_TRUE(writer->flush(file.handle));
    cluster.stop(1);
    ASSERT_TRUE(writer->write(file.handle, 0, bytes(text), 1));
    ASSERT_TRUE(writer->fsync(file.handle, false));
    EXPECT_EQ(writer->getxattr(inode, kStaleAttribute), "1");
    cluster.start(1);
    EXPECT_EQ(contents(*writer, inode), text);
    EXPECT_EQ(contents(*cluster.dispatcher(), inode), text);
    writer->release(file.handle);
  }
  cluster.stop(0);
  cluster.stop(1);
  {
    std::vector<std::unique_ptr<Store>> stores;
    for (uint32_t i : {0u, 1u})
      stores.push_back(std::move(*Store::open(cluster.folder() + "/" + std::to_string(i),
                                              {.index = i, .servers = 2, .stripe = 4096})));
    const auto report = check(stores);
    ASSERT_TRUE(report);
    ASSERT_EQ(report->stale.size(), 1u);
    ASSERT_TRUE(repair(stores, *report));
    EXPECT_EQ(check(stores)->stale.size(), 0u);
  }
  cluster.start(0);
  cluster.start(1);
  const auto reader = cluster.dispatcher({.patience_ms = 2000});
  EXPECT_EQ(reader->getxattr(inode, kStaleAttribute).error(), ENODATA);
  const Handle handle = reader->open(inode, O_RDONLY)->handle;
  // What server 1 has is whole again: each stripe is read of it alone.
  std::string seen(text.size(), '?');
  for (uint64_t at = 0; at < text.size(); at += 4096) {
    const Extent extent{at, static_cast<uint32_t>(std::min<size_t>(4096, text.size() - at))};
    auto reply = cluster.service(1).answer(0, read_of(inode, extent));
    ASSERT_TRUE(reply);
    const auto rest = unpack_reply(*reply)->rest;
    std::memcpy(seen.data() + at, rest.data(), rest.size());
  }
  EXPECT_EQ(seen, text);
  reader->release(handle);
}

TEST(Copies, AFullDiskAndTheLossOfBothAreTold) {
  ClusterForTests cluster(3, 4096);
  const auto writer = cluster.dispatcher({.patience_ms = 2000});
  two_copies(*writer);
  const Opened file = create(*writer, "f");
  cluster.stop(1);
  cluster.stop(2);
  ASSERT_TRUE(writer->write(file.handle, 0, bytes(random_text(40'000, 3)), 1));
  EXPECT_FALSE(writer->flush(file.handle)) << "stripes of 1 and 2 are nowhere";
  EXPECT_TRUE(writer->flush(file.handle)) << "it is told once";
  Layout layout{4096, 3, 0, 2, 0};
  EXPECT_TRUE(Scatter::can_go_on_without(layout, 1, ETIMEDOUT));
  EXPECT_FALSE(Scatter::can_go_on_without(layout, 1, ENOSPC));
  layout.stale = server_bit(0);
  EXPECT_FALSE(Scatter::can_go_on_without(layout, 1, ETIMEDOUT));
  EXPECT_FALSE(Scatter::can_go_on_without(Layout{4096, 3, 0, 1, 0}, 1, EIO));
}

/// A server that cannot store what was written still answers the read behind it, by what it had.
TEST(Copies, AreReadOfTheOtherServerWhereTheWriteBeforeFailed) {
  for (const uint64_t cache : {uint64_t{0}, uint64_t{64} << 20}) {
    ClusterForTests cluster(2, 4096);
    const auto node = cluster.dispatcher({.sub_buffer = 4096, .cache = cache});
    two_copies(*node);
    const Opened file = create(*node, "f");
    const std::string objects =
        fmt::format("{}/1/objects/{:02x}", cluster.folder(), file.attributes.inode % 256);
    std::filesystem::remove(objects);
    const std::string text = random_text(1 << 20, 6);
    ASSERT_TRUE(node->write(file.handle, 0, bytes(text), 1));
    for (int i : {0, 1}) {
      std::string seen(text.size(), '?');
      ASSERT_TRUE(node->read(file.handle, 0, std::as_writable_bytes(std::span(seen))));
      EXPECT_TRUE(seen == text) << "read " << i << " with a cache of " << cache;
    }
    EXPECT_TRUE(node->flush(file.handle));
    EXPECT_EQ(node->getxattr(file.attributes.inode, kStaleAttribute), "1");
  }
}

TEST(Copies, OfAServerThatIsAwayTakeNoProcessor) {
  ClusterForTests cluster(2, 4096);
  const auto writer = cluster.dispatcher({.patience_ms = 2000});
  two_copies(*writer);
  const Opened file = create(*writer, "f");
  cluster.stop(1);
  ASSERT_TRUE(writer->write(file.handle, 0, bytes(random_text(20'000, 5)), 1));
  ASSERT_TRUE(writer->flush(file.handle));
  const auto processor = [] {  // nanoseconds of all threads
    timespec time{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return time.tv_sec * 1'000'000'000 + time.tv_nsec;
  };
  const int64_t before = processor();
  std::this_thread::sleep_for(std::chrono::milliseconds(1500));
  EXPECT_LT(processor() - before, 150'000'000);
}

TEST(Copies, AreCutWhileAServerIsAway) {
  ClusterForTests cluster(2, 4096);
  const auto writer = cluster.dispatcher({.patience_ms = 2000});
  two_copies(*writer);
  const Opened file = create(*writer, "f");
  const std::string text = random_text(30'000, 4);
  ASSERT_TRUE(writer->write(file.handle, 0, bytes(text), 1));
  ASSERT_TRUE(writer->flush(file.handle));
  cluster.stop(1);
  Changes cut;
  cut.size = 5000;
  ASSERT_TRUE(writer->setattr(file.attributes.inode, cut));
  cut.size = 20'000;
  ASSERT_TRUE(writer->setattr(file.attributes.inode, cut));
  cluster.start(1);
  EXPECT_EQ(contents(*cluster.dispatcher(), file.attributes.inode),
            text.substr(0, 5000) + std::string(15'000, 0));
}

TEST(Dispatcher, LosesNoRecordsOfTwoNodesThatAlternate) {
  ClusterForTests cluster(2, 4096);
  const std::shared_ptr<Dispatcher> nodes[2] = {cluster.dispatcher(), cluster.dispatcher()};
  const Inode inode = create(*nodes[0], "f").attributes.inode;
  const Handle handles[2] = {nodes[0]->open(inode, O_WRONLY)->handle,
                             nodes[1]->open(inode, O_WRONLY)->handle};
  std::string model;
  for (int i = 0; i < 4000; ++i) {
    const std::string record(40, static_cast<char>('a' + i % 26));
    ASSERT_TRUE(nodes[i % 2]->write(handles[i % 2], 40 * i, bytes(record), 1));
    model += record;
  }
  for (int i : {0, 1}) ASSERT_TRUE(nodes[i]->flush(handles[i]));
  EXPECT_EQ(contents(*cluster.dispatcher(), inode), model);
}

TEST(Dispatcher, AppendsOfTwoNodesDoNotMeet) {
  ClusterForTests cluster(1);
  const std::shared_ptr<Dispatcher> nodes[2] = {cluster.dispatcher(), cluster.dispatcher()};
  const Inode inode = create(*nodes[0], "log").attributes.inode;
  std::vector<std::thread> threads;
  for (int node : {0, 1})
    threads.emplace_back([&, node] {
      const auto opened = nodes[node]->open(inode, O_WRONLY | O_APPEND);
      for (int i = 0; i < 200; ++i) {
        const std::string line = fmt::format("node {} line {:04}\n", node, i);
        EXPECT_EQ(nodes[node]->write(opened->handle, 0, bytes(line), 1), line.size());
      }
      nodes[node]->release(opened->handle);
    });
  for (std::thread& thread : threads) thread.join();
  const std::string text = contents(*nodes[0], inode);
  std::map<std::string, int> seen;
  for (size_t at = 0; at < text.size(); at += 17) ++seen[text.substr(at, 17)];
  EXPECT_EQ(seen.size(), 400u);
}

/// Random writes, cuts and reads of several threads' worth of handles against a string.
TEST(Dispatcher, IsAFileAsAByteModelIs) {
  for (const bool arranges : {true, false}) {
    ClusterForTests cluster(3, 4096);
    const auto files = cluster.dispatcher(
        {.arrange = arranges, .sub_buffer = 3000, .memory = 20'000, .linger_ms = 3});
    const Opened file = create(*files, "f");
    std::string model;
    std::mt19937_64 random(13);
    for (int i = 0; i < 3000; ++i) {
      const uint64_t offset = random() % 40'000, length = 1 + random() % (i % 7 ? 100 : 9000);
      const uint64_t kind = random() % 20;
      if (kind < 12) {
        const std::string text(length, static_cast<char>('a' + i % 26));
        ASSERT_EQ(files->write(file.handle, offset, bytes(text), 1), length);
        if (model.size() < offset + length) model.resize(offset + length);
        model.replace(offset, length, text);
      } else if (kind < 18) {
        std::string text(length, '?');
        const auto got = files->read(file.handle, offset, std::as_writable_bytes(std::span(text)));
        ASSERT_TRUE(got);
        text.resize(*got);
        ASSERT_EQ(text, offset < model.size() ? model.substr(offset, length) : "") << "step " << i;
      } else if (kind == 18) {
        ASSERT_TRUE(files->flush(file.handle));
      } else {
        Changes changes;
        changes.size = random() % 40'000;
        ASSERT_EQ(files->setattr(file.attributes.inode, changes)->size, *changes.size);
        model.resize(*changes.size);
      }
      ASSERT_EQ(files->getattr(file.attributes.inode)->size, model.size()) << "step " << i;
    }
    ASSERT_TRUE(files->flush(file.handle));
    EXPECT_EQ(contents(*cluster.dispatcher(), file.attributes.inode), model);
  }
}

/// BTIO on one node: each snapshot is written by all its ranks, and flushed.
uint64_t btio_requests(bool arranges, Service& service, Dispatcher& files) {
  const BtioJob job{*btio_class("S"), 1, 4};
  const Opened file = create(files, "bt");
  std::vector<std::byte> record(kBtioRecord);
  for (uint32_t snapshot = 0; snapshot < job.size.snapshots; ++snapshot) {
    std::vector<std::vector<uint64_t>> records;
    for (uint32_t rank = 0; rank < 4; ++rank) records.push_back(btio_records(job, rank, snapshot));
    for (size_t i = 0; i < records[0].size(); ++i)
      for (uint32_t rank = 0; rank < 4; ++rank) {
        std::memcpy(record.data(), &records[rank][i], 8);
        EXPECT_TRUE(files.write(file.handle, records[rank][i], record, 1));
      }
    if (arranges) (void)files.flush(file.handle);
  }
  EXPECT_TRUE(files.flush(file.handle));
  const std::string text = contents(files, file.attributes.inode);
  EXPECT_EQ(text.size(), 829'440u);
  for (uint64_t at = 0; at < text.size(); at += kBtioRecord) {
    uint64_t told = 0;
    std::memcpy(&told, text.data() + at, 8);
    EXPECT_EQ(told, at);
  }
  return service.counters().write_requests;
}

TEST(Dispatcher, SendsAsManyRequestsAsTheArithmeticSays) {
  Alone arranged(1, 65536, {.linger_ms = 60'000});
  EXPECT_EQ(btio_requests(true, arranged.cluster.service(0), *arranged.dispatcher), 24u);
  Alone plain(1, 65536, {.arrange = false, .linger_ms = 60'000});
  EXPECT_EQ(btio_requests(false, plain.cluster.service(0), *plain.dispatcher), 20'746u);
}

TEST(Dispatcher, SendsWhatLingersWithoutBeingAsked) {
  Alone alone(1, 65536, {.linger_ms = 10});
  const Opened file = create(*alone.dispatcher, "f");
  ASSERT_TRUE(alone.dispatcher->write(file.handle, 0, bytes("hello"), 1));
  const auto other = alone.cluster.dispatcher();
  for (int i = 0; i < 500 && other->lookup(kRoot, "f")->size == 0; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_EQ(contents(*other, file.attributes.inode), "hello");
}

TEST(Dispatcher, GoesOnWhereAServerBeginsAnew) {
  Alone alone(2, 4096);
  Dispatcher& files = *alone.dispatcher;
  const Opened file = create(files, "f"), removed = create(files, "gone");
  std::string model(30'000, '\0');
  for (int round = 0; round < 6; ++round) {
    const std::string text(20'000, static_cast<char>('a' + round));
    ASSERT_TRUE(files.write(file.handle, 1000 * round, bytes(text), 1));
    model.replace(1000 * round, text.size(), text);
    std::thread later([&] {
      alone.cluster.stop(round % 2);
      std::this_thread::sleep_for(std::chrono::milliseconds(30));
      alone.cluster.start(round % 2);
    });
    EXPECT_TRUE(files.flush(file.handle)) << "round " << round;
    later.join();
  }
  model.resize(25'000);
  EXPECT_EQ(contents(files, file.attributes.inode), model);
  // The server of names has begun anew, and must know that this is open.
  ASSERT_TRUE(files.write(removed.handle, 0, bytes("still"), 1));
  ASSERT_TRUE(files.unlink(kRoot, "gone"));
  ASSERT_TRUE(files.flush(removed.handle));
  std::string text(5, '?');
  EXPECT_EQ(files.read(removed.handle, 0, std::as_writable_bytes(std::span(text))), 5u);
  EXPECT_EQ(text, "still");
  files.release(removed.handle);
}

TEST(Dispatcher, GivesAServerUpThatIsNotThere) {
  Alone alone(2, 4096, {.patience_ms = 300});
  Dispatcher& files = *alone.dispatcher;
  const Opened file = create(files, "f");
  const auto second = files.open(file.attributes.inode, O_WRONLY);
  alone.cluster.stop(1);
  ASSERT_TRUE(files.write(file.handle, 0, bytes(std::string(9000, 'x')), 1));
  EXPECT_EQ(files.flush(file.handle).error(), ETIMEDOUT);
  EXPECT_TRUE(files.flush(file.handle)) << "each handle is told once";
  EXPECT_EQ(files.write(second->handle, 0, bytes("y"), 1).error(), ETIMEDOUT);
  EXPECT_EQ(files.flush(second->handle).error(), ETIMEDOUT);
  alone.cluster.start(1);
  ASSERT_TRUE(files.write(second->handle, 0, bytes(std::string(9000, 'y')), 1));
  EXPECT_TRUE(files.flush(second->handle));
  EXPECT_EQ(contents(files, file.attributes.inode), std::string(9000, 'y'));
}

TEST(Dispatcher, TakesTheObjectsOfAFileWithItsLastName) {
  Alone alone(2, 4096);
  const auto objects = [&] {
    int number = 0;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(alone.cluster.folder()))
      number +=
          entry.path().string().find("/objects/") != std::string::npos && entry.is_regular_file();
    return number;
  };
  Dispatcher& files = *alone.dispatcher;
  const Opened file = create(files, "f");
  ASSERT_TRUE(files.write(file.handle, 0, bytes(std::string(9000, 'x')), 1));
  ASSERT_TRUE(files.flush(file.handle));
  EXPECT_EQ(objects(), 2);
  ASSERT_TRUE(files.unlink(kRoot, "f"));
  EXPECT_EQ(objects(), 2) << "it is open";
  files.release(file.handle);
  ASSERT_TRUE(files.statfs()) << "asked behind the removal";
  EXPECT_EQ(objects(), 0);
}

/// What lookup and getattr tell of a file that is being written is the same, and goes only forward.
TEST(Dispatcher, TellsOfTimesAlikeByNameAndByNumber) {
  Alone alone(1, 65536, {.linger_ms = 60'000});
  Dispatcher& files = *alone.dispatcher;
  const Opened file = create(files, "f");
  const auto time = [](const timespec& t) { return std::pair(t.tv_sec, t.tv_nsec); };
  ASSERT_TRUE(files.write(file.handle, 0, bytes("hello"), 1));
  const auto by_number = files.getattr(file.attributes.inode), by_name = files.lookup(kRoot, "f");
  EXPECT_GT(time(by_number->changed), time(file.attributes.changed));
  EXPECT_EQ(time(by_name->modified), time(by_number->modified));
  EXPECT_EQ(time(by_name->changed), time(by_number->changed));
  const auto linked = files.link(file.attributes.inode, kRoot, "g");
  EXPECT_GT(time(linked->changed), time(by_number->changed));
  EXPECT_EQ(time(files.getattr(file.attributes.inode)->changed), time(linked->changed));
}

/// Who has a file open writes to the servers that it was dealt out over when it was opened.
TEST(Dispatcher, DealsAFileOutAsItWasOpened) {
  ClusterForTests cluster(2, 4096);
  const auto files = cluster.dispatcher(), other = cluster.dispatcher();
  const Opened file = create(*files, "f");
  const Inode inode = file.attributes.inode;
  for (const auto& node : {files, other})
    EXPECT_EQ(node->setxattr(inode, kStripeAttribute, "65536", 0).error(), EBUSY);
  const std::string text(20'000, 'x');
  ASSERT_TRUE(files->write(file.handle, 0, bytes(text), 1));
  files->release(file.handle);
  EXPECT_TRUE(contents(*files, inode) == text);
  EXPECT_EQ(files->setxattr(inode, kStripeAttribute, "65536", 0).error(), ENOTEMPTY);
  const Inode empty = files->mknod(kRoot, "empty", {.mode = 0600})->inode;
  EXPECT_TRUE(files->setxattr(empty, kStripeAttribute, "65536", 0));
}

TEST(Dispatcher, SaysWhatIsNotStored) {
  Alone alone(1, 4096, {.patience_ms = 200});
  const Opened file = create(*alone.dispatcher, "f");
  ASSERT_TRUE(alone.dispatcher->write(file.handle, 0, bytes("x"), 1));
  EXPECT_TRUE(alone.dispatcher->finish());
  ASSERT_TRUE(alone.dispatcher->write(file.handle, 1, bytes("y"), 1));
  alone.cluster.stop(0);
  EXPECT_FALSE(alone.dispatcher->finish());
}

}  // namespace
}  // namespace haichi::gasfs
