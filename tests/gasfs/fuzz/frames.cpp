// Fuzz target: frames as a server gets them, carried out on a store, frames as a node gets them of
// another, and answers as a dispatcher gets them. An input is the kind of a frame and its body, or
// a header.
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <memory>

#include "gasfs/server/service.h"
#include "gasfs/wire/hold_messages.h"
#include "gasfs/wire/name_messages.h"
#include "target.h"

namespace {

using namespace haichi::gasfs;

/// Inputs between two new stores.
constexpr unsigned kInputs = 20'000;

void require(bool sound) {
  if (!sound) std::abort();
}

/// A store in memory, which begins anew after a while.
class Place {
 public:
  ~Place() { close(); }
  Service& service() {
    if (!service_ || ++used_ > kInputs) open();
    return *service_;
  }

 private:
  void close() {
    service_.reset();
    store_.reset();
    if (!folder_.empty()) std::filesystem::remove_all(folder_);
  }
  void open() {
    close();
    folder_ = ::access("/dev/shm", W_OK) == 0 ? "/dev/shm/gasfs_fuzz_XXXXXX" : "gasfs_fuzz_XXXXXX";
    require(::mkdtemp(folder_.data()) != nullptr);
    auto store = Store::open(folder_, {.servers = 2});
    require(store.has_value());
    store_ = std::move(*store);
    service_ = std::make_unique<Service>(*store_, 1);
    used_ = 0;
  }

  std::string folder_;
  std::unique_ptr<Store> store_;
  std::unique_ptr<Service> service_;
  unsigned used_ = 0;
};

/// A copy of its own, so that a byte too far is seen.
Buffer own(std::span<const std::byte> bytes) {
  Buffer made(bytes.size());
  std::ranges::copy(bytes, made.data());
  return made;
}

void as_server(uint8_t kind, std::span<const std::byte> body) {
  static Place place;
  Frame frame{{static_cast<haichi::gasfs::Kind>(kind), static_cast<uint32_t>(body.size()), 7},
              own(body)};
  const auto reply = place.service().answer(5, frame);
  if (!reply) return;
  const auto opened = unpack_reply(*reply);
  require(opened.has_value());
  if (kind == static_cast<uint8_t>(haichi::gasfs::Kind::names) && opened->error == 0)
    require(unpack_name_reply(opened->rest).has_value());
}

void as_dispatcher(std::span<const std::byte> body) {
  const Buffer copy = own(body);
  const auto reply = unpack_reply(copy.span());
  if (!reply) return;
  (void)unpack_space(reply->rest);
  const auto names = unpack_name_reply(reply->rest);
  if (!names) return;
  require(names->layout.stripe > 0 && names->layout.first < names->layout.servers);
  require(names->layout.copies >= 1 && names->layout.copies <= names->layout.servers);
  std::string_view text = names->text;
  Entry entry;
  for (size_t left = text.size() + 1; unpack_entry(text, entry); left = text.size())
    require(text.size() < left);
}

/// What unpacks is what was packed.
void as_node(std::span<const std::byte> body) {
  const Buffer copy = own(body);
  if (const auto hold = unpack_hold(copy.span()))
    require(std::ranges::equal(pack_hold(*hold), copy.span()));
  if (const auto held = unpack_held(copy.span()))
    require(std::ranges::equal(pack_held(*held), copy.span()));
  if (const auto pull = unpack_pull(copy.span())) {
    require(pull->length > 0 && pull->length <= kMostPulled);
    require(std::ranges::equal(pack_pull(*pull), copy.span()));
  }
}

void as_header(std::span<const std::byte> bytes) {
  if (bytes.size() < kHeaderBytes) return;
  const auto header = unpack(bytes.first<kHeaderBytes>());
  if (!header) return;
  require(header->length <= kMostBody);
  require(std::ranges::equal(pack(*header), bytes.first<kHeaderBytes>()));
}

Input input(uint8_t kind, std::span<const std::byte> body) {
  Input made{kind};
  for (const std::byte b : body) made.push_back(std::to_integer<uint8_t>(b));
  return made;
}

/// Kinds of inputs that are no requests.
constexpr uint8_t kAnswer = 200, kHeader = 201, kNode = 202;

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::span body(reinterpret_cast<const std::byte*>(data) + 1, size - 1);
  if (data[0] == kAnswer)
    as_dispatcher(body);
  else if (data[0] == kHeader)
    as_header(body);
  else if (data[0] == kNode)
    as_node(body);
  else
    as_server(data[0], body);
  return 0;
}

std::vector<Input> seeds() {
  using haichi::gasfs::Kind;
  const auto of = [](Kind kind, std::span<const std::byte> body) {
    return input(static_cast<uint8_t>(kind), body);
  };
  auto write = pack_write_head(2, std::vector<Extent>{{0, 4}, {1 << 20, 4}});
  write.resize(write.size() + 8);
  std::vector<Input> made{of(Kind::write, write),
                          of(Kind::read, pack_read({2, {{0, 9}, {4096, 100}}})),
                          of(Kind::cut, pack_object({2, 4})),
                          of(Kind::remove, pack_object({2, 0})),
                          of(Kind::sync, pack_object({2, 0})),
                          of(Kind::space, {}),
                          of(Kind::status, {})};
  uint64_t sequence = 0;
  for (auto op = static_cast<uint8_t>(NameOp::lookup); op <= static_cast<uint8_t>(kLastNameOp);
       ++op) {
    NameRequest request{.op = static_cast<NameOp>(op), .inode = kRoot, .other = 2, .name = "name"};
    request.text = request.op == NameOp::setxattr ? "4096" : "other";
    request.file.mode = 0100644;
    if (request.op >= kFirstChange) request.sequence = ++sequence;
    made.push_back(of(Kind::names, pack_name_request(request)));
  }
  NameReply reply;
  pack_entry({"name", 9, 0100000, 12}, reply.text);
  made.push_back(input(kAnswer, pack_reply(0, pack_name_reply(reply))));
  made.push_back(input(kAnswer, pack_reply(0, pack_space({}))));
  made.push_back(input(kHeader, pack({Kind::write, 100, 3, 4})));
  made.push_back(input(kNode, pack_hold({2, {{"10.0.0.1", 4242}, {"node7", 1}}})));
  made.push_back(input(kNode, pack_held({HeldMessage::State::coming, 9, 10, 3, "slow"})));
  made.push_back(input(kNode, pack_pull({.inode = 2, .offset = 1 << 20, .length = kMostPulled})));
  return made;
}
