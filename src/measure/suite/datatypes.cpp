// Datatypes: the same bytes in other shapes, sent as they are, packed by hand, and packed alone.
#include <algorithm>

#include "measure/case/case.h"
#include "measure/suite/groups.h"

namespace haichi::measure {
namespace {

constexpr int kTag = 3;
constexpr int kBlock = 8;   // bytes of a piece: a double
constexpr int kStride = 2;  // every other one

// The pieces of a message of `bytes`, 8 bytes each.
int pieces(const Case& c) { return int(std::max<int64_t>(c.bytes / kBlock, 1)); }

using Make = int (*)(const Case&, MPI_Datatype*);

int make_contiguous(const Case& c, MPI_Datatype* type) {
  return MPI_Type_contiguous(pieces(c), MPI_DOUBLE, type);
}

int make_vector(const Case& c, MPI_Datatype* type) {
  return MPI_Type_vector(pieces(c), 1, kStride, MPI_DOUBLE, type);
}

int make_hvector(const Case& c, MPI_Datatype* type) {
  return MPI_Type_create_hvector(pieces(c), 1, kStride * kBlock, MPI_DOUBLE, type);
}

int make_indexed(const Case& c, MPI_Datatype* type) {
  std::vector<int> lengths(size_t(pieces(c)), 1), places;
  for (int i = 0; i < pieces(c); ++i) places.push_back(i * kStride);
  return MPI_Type_indexed(pieces(c), lengths.data(), places.data(), MPI_DOUBLE, type);
}

int make_hindexed(const Case& c, MPI_Datatype* type) {
  std::vector<int> lengths(size_t(pieces(c)), 1);
  std::vector<MPI_Aint> places;
  for (int i = 0; i < pieces(c); ++i) places.push_back(MPI_Aint(i) * kStride * kBlock);
  return MPI_Type_create_hindexed(pieces(c), lengths.data(), places.data(), MPI_DOUBLE, type);
}

int make_indexed_block(const Case& c, MPI_Datatype* type) {
  std::vector<int> places;
  for (int i = 0; i < pieces(c); ++i) places.push_back(i * kStride);
  return MPI_Type_create_indexed_block(pieces(c), 1, places.data(), MPI_DOUBLE, type);
}

int make_hindexed_block(const Case& c, MPI_Datatype* type) {
  std::vector<MPI_Aint> places;
  for (int i = 0; i < pieces(c); ++i) places.push_back(MPI_Aint(i) * kStride * kBlock);
  return MPI_Type_create_hindexed_block(pieces(c), 1, places.data(), MPI_DOUBLE, type);
}

// Structures of a double and two integers of which the first is sent, side by side.
int make_struct(const Case& c, MPI_Datatype* type) {
  const int lengths[] = {1, 1};
  const MPI_Aint places[] = {0, 4};
  const MPI_Datatype types[] = {MPI_INT, MPI_FLOAT};
  MPI_Datatype record = MPI_DATATYPE_NULL, spaced = MPI_DATATYPE_NULL;
  int code = MPI_Type_create_struct(2, lengths, places, types, &record);
  if (code == MPI_SUCCESS) code = MPI_Type_create_resized(record, 0, kStride * kBlock, &spaced);
  if (code == MPI_SUCCESS) code = MPI_Type_contiguous(pieces(c), spaced, type);
  for (MPI_Datatype* const part : {&record, &spaced})
    if (*part != MPI_DATATYPE_NULL) must(MPI_Type_free(part));
  return code;
}

// The left half of the columns of a matrix of two columns.
int make_subarray(const Case& c, MPI_Datatype* type) {
  const int sizes[] = {pieces(c), kStride}, part[] = {pieces(c), 1}, begin[] = {0, 0};
  return MPI_Type_create_subarray(2, sizes, part, begin, MPI_ORDER_C, MPI_DOUBLE, type);
}

int make_darray(const Case& c, MPI_Datatype* type) {
  const int sizes[] = {pieces(c), kStride}, processes[] = {1, kStride};
  const int distributions[] = {MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC};
  const int arguments[] = {MPI_DISTRIBUTE_DFLT_DARG, MPI_DISTRIBUTE_DFLT_DARG};
  return MPI_Type_create_darray(kStride, 0, 2, sizes, distributions, arguments, processes,
                                MPI_ORDER_C, MPI_DOUBLE, type);
}

struct Shape {
  const char* name;
  const char* function;
  const char* words;
  Make make;
};

constexpr Shape kShapes[] = {
    {"contiguous", "MPI_Type_contiguous", "doubles side by side", make_contiguous},
    {"vector", "MPI_Type_vector", "every other double", make_vector},
    {"hvector", "MPI_Type_create_hvector", "every other double", make_hvector},
    {"indexed", "MPI_Type_indexed", "every other double", make_indexed},
    {"hindexed", "MPI_Type_create_hindexed", "every other double", make_hindexed},
    {"indexed-block", "MPI_Type_create_indexed_block", "every other double", make_indexed_block},
    {"hindexed-block", "MPI_Type_create_hindexed_block", "every other double", make_hindexed_block},
    {"struct", "MPI_Type_create_struct", "an int and a float of each 16 bytes", make_struct},
    {"subarray", "MPI_Type_create_subarray", "the first of two columns", make_subarray},
    {"darray", "MPI_Type_create_darray", "the first of two columns, dealt out cyclically",
     make_darray},
};

MPI_Datatype of_shape(Case& c, const Shape& shape) {
  return c.type(shape.function, [&](MPI_Datatype* type) { return shape.make(c, type); });
}

MPI_Datatype every_other(Case& c) {
  return c.type("MPI_Type_vector", [&](MPI_Datatype* type) { return make_vector(c, type); });
}

int64_t extent_bytes(const Case& c) { return int64_t{kStride} * kBlock * pieces(c); }

Measurement send_entry(const Shape& shape) {
  return {.name = std::string("ping-pong-") + shape.name,
          .group = "datatype",
          .functions = {shape.function},
          .section = "5.1",
          .timed = std::string("Send, Recv of ") + shape.words + "; the other Recv, Send",
          .sample = "one round trip, on the rank that begins",
          .buffers = "one of twice the bytes to send from, and one to receive in: hot",
          .make =
              [shape](Case& c) {
                const MPI_Datatype type = of_shape(c, shape);
                char* const out = c.memory(extent_bytes(c));
                char* const in = c.memory(extent_bytes(c));
                const auto send = [=, &c] { must(MPI_Send(out, 1, type, c.peer(), kTag, c.comm)); };
                const auto receive = [=, &c] {
                  must(MPI_Recv(in, 1, type, c.peer(), kTag, c.comm, MPI_STATUS_IGNORE));
                };
                if (c.rank == 0)
                  return Body{.call = [=] {
                    send();
                    receive();
                  }};
                return Body{.call = [=] {
                  receive();
                  send();
                }};
              },
          .sizes = {64, 1 << 20},
          .who = Who::pair,
          .start = Start::back_to_back,
          .over = Over::first,
          .parts = 2};
}

Measurement commit_entry(const Shape& shape) {
  return {.name = std::string("type-") + shape.name,
          .group = "datatype",
          .functions = {shape.function, "MPI_Type_commit", "MPI_Type_free"},
          .section = "5.1",
          .timed = std::string(shape.function + 4) + ", Type_commit, Type_free",
          .sample = "the three calls on each rank by itself",
          .buffers = "none",
          .make =
              [make = shape.make](Case& c) {
                return Body{.call = [&c, make] {
                  MPI_Datatype type = MPI_DATATYPE_NULL;
                  must(make(c, &type));
                  must(MPI_Type_commit(&type));
                  must(MPI_Type_free(&type));
                }};
              },
          .sizes = {64, 64 << 10},
          .start = Start::back_to_back};
}

Measurement pack_entry(std::string name, std::vector<std::string> functions, std::string timed,
                       std::function<Body(Case&)> make) {
  return {.name = std::move(name),
          .group = "datatype",
          .functions = std::move(functions),
          .section = "5.2",
          .timed = std::move(timed),
          .sample = "the call on each rank by itself",
          .buffers = "one of twice the bytes and one of the packed bytes: hot",
          .make = std::move(make),
          .sizes = {64, 1 << 20},
          .start = Start::back_to_back};
}

struct Packing {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  char* spread;
  char* packed;
  int bytes;
};

Packing packing(Case& c) {
  int bytes = 0;
  const MPI_Datatype type = every_other(c);
  c.alone("MPI_Pack_size", [&] { must(MPI_Pack_size(1, type, c.comm, &bytes)); });
  return {type, c.memory(extent_bytes(c)), c.memory(bytes), bytes};
}

Packing external_packing(Case& c) {
  MPI_Aint bytes = 0;
  const MPI_Datatype type = every_other(c);
  c.alone("MPI_Pack_external_size",
          [&] { must(MPI_Pack_external_size("external32", 1, type, &bytes)); });
  return {type, c.memory(extent_bytes(c)), c.memory(bytes), int(bytes)};
}

std::vector<Measurement> packs() {
  std::vector<Measurement> all;
  all.push_back(pack_entry("pack", {"MPI_Pack"}, "Pack of every other double", [](Case& c) {
    const Packing p = packing(c);
    return Body{.call = [=, &c] {
      int position = 0;
      must(MPI_Pack(p.spread, 1, p.type, p.packed, p.bytes, &position, c.comm));
    }};
  }));
  all.push_back(pack_entry("unpack", {"MPI_Unpack"}, "Unpack of every other double", [](Case& c) {
    const Packing p = packing(c);
    int position = 0;
    c.alone("MPI_Pack",
            [&] { must(MPI_Pack(p.spread, 1, p.type, p.packed, p.bytes, &position, c.comm)); });
    return Body{.call = [=, &c] {
      int at = 0;
      must(MPI_Unpack(p.packed, p.bytes, &at, p.spread, 1, p.type, c.comm));
    }};
  }));
  all.push_back(pack_entry(
      "pack-external", {"MPI_Pack_external"}, "Pack_external of every other double", [](Case& c) {
        const Packing p = external_packing(c);
        return Body{.call = [=] {
          MPI_Aint position = 0;
          must(MPI_Pack_external("external32", p.spread, 1, p.type, p.packed, p.bytes, &position));
        }};
      }));
  all.push_back(pack_entry(
      "unpack-external", {"MPI_Unpack_external"}, "Unpack_external of every other double",
      [](Case& c) {
        const Packing p = external_packing(c);
        MPI_Aint position = 0;
        c.alone("MPI_Pack_external", [&] {
          must(MPI_Pack_external("external32", p.spread, 1, p.type, p.packed, p.bytes, &position));
        });
        return Body{.call = [=] {
          MPI_Aint at = 0;
          must(MPI_Unpack_external("external32", p.packed, p.bytes, &at, p.spread, 1, p.type));
        }};
      }));
  all.push_back(pack_entry("pack-size", {"MPI_Pack_size", "MPI_Pack_external_size"},
                           "Pack_size, Pack_external_size of every other double", [](Case& c) {
                             const MPI_Datatype type = every_other(c);
                             return Body{.call = [=, &c] {
                               int bytes = 0;
                               MPI_Aint external = 0;
                               must(MPI_Pack_size(1, type, c.comm, &bytes));
                               must(MPI_Pack_external_size("external32", 1, type, &external));
                             }};
                           }));
  return all;
}

}  // namespace

std::vector<Measurement> datatypes() {
  std::vector<Measurement> all;
  for (const Shape& shape : kShapes) all.push_back(send_entry(shape));
  for (const Shape& shape : kShapes) all.push_back(commit_entry(shape));
  for (Measurement& each : packs()) all.push_back(std::move(each));
  return all;
}

}  // namespace haichi::measure
