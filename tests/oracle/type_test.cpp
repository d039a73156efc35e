// The typemaps of the model, held against the examples that the MPI standard prints (MPI 4.1,
// chapter 5) and against typemaps worked out by hand.
#include "oracle/type.h"

#include <gmock/gmock.h>

namespace oracle {
namespace {

using testing::ElementsAre;

std::vector<int64_t> places(const TypePtr& type) {
  std::vector<int64_t> out;
  for (const Basic& basic : type->map.basics) out.push_back(basic.at);
  return out;
}

TypePtr ints() { return named(Named::integer); }
TypePtr doubles() { return named(Named::double_real); }
TypePtr chars() { return named(Named::character); }

// "Assume that Type = {(double, 0), (char, 8)} ... the extent of this datatype is 16".
TypePtr double_char() { return structure({1, 1}, {0, 8}, {doubles(), chars()}); }

TEST(Type, StructIsPaddedToItsAlignment) {
  EXPECT_EQ(double_char()->map.extent(), 16);
  EXPECT_EQ(double_char()->map.size(), 9);
  EXPECT_EQ(double_char()->map.true_upper(), 9);
}

TEST(Type, Contiguous) {
  // "{(double, 0), (char, 8), (double, 16), (char, 24), (double, 32), (char, 40)}"
  EXPECT_THAT(places(contiguous(3, double_char())), ElementsAre(0, 8, 16, 24, 32, 40));
}

TEST(Type, Vector) {
  // MPI_TYPE_VECTOR(2, 3, 4, oldtype): "{(double, 0), ..., (double, 64), (char, 72), ...}"
  EXPECT_THAT(places(vector(2, 3, 4, double_char())),
              ElementsAre(0, 8, 16, 24, 32, 40, 64, 72, 80, 88, 96, 104));
}

TEST(Type, VectorOfNegativeStride) {
  // MPI_TYPE_VECTOR(3, 1, -2, oldtype): "{(double, 0), (char, 8), (double, -32), (char, -24),
  // (double, -64), (char, -56)}"
  EXPECT_THAT(places(vector(3, 1, -2, double_char())), ElementsAre(0, 8, -32, -24, -64, -56));
}

TEST(Type, HvectorCountsItsStrideInBytes) {
  EXPECT_THAT(places(hvector(2, 2, 10, ints())), ElementsAre(0, 4, 10, 14));
}

TEST(Type, Indexed) {
  // B = (3, 1), D = (4, 0): "{(double, 64), (char, 72), (double, 80), (char, 88), (double, 96),
  // (char, 104), (double, 0), (char, 8)}"
  const auto type = indexed({3, 1}, {4, 0}, double_char());
  EXPECT_THAT(places(type), ElementsAre(64, 72, 80, 88, 96, 104, 0, 8));
  EXPECT_EQ(type->map.lower(), 0);
  EXPECT_EQ(type->map.extent(), 112);
}

TEST(Type, HindexedAndBlocksCountInBytesAndExtents) {
  EXPECT_THAT(places(hindexed({2, 1}, {5, -3}, ints())), ElementsAre(5, 9, -3));
  EXPECT_THAT(places(indexed_block(2, {3, 0}, ints())), ElementsAre(12, 16, 0, 4));
  EXPECT_THAT(places(hindexed_block(2, {3, 20}, ints())), ElementsAre(3, 7, 20, 24));
}

TEST(Type, Struct) {
  // B = (2, 1, 3), D = (0, 16, 26), T = (MPI_FLOAT, type1, MPI_CHAR): "{(float, 0), (float, 4),
  // (double, 16), (char, 24), (char, 26), (char, 27), (char, 28)}"
  const auto type =
      structure({2, 1, 3}, {0, 16, 26}, {named(Named::float_real), double_char(), chars()});
  EXPECT_THAT(places(type), ElementsAre(0, 4, 16, 24, 26, 27, 28));
}

TEST(Type, ResizedGivesBoundsThatLast) {
  // "type1 = {(lb_marker, -3), (int, 0), (ub_marker, 6)}", then "MPI_TYPE_CONTIGUOUS(2, type1)
  // ... {(lb_marker, -3), (int, 0), (int, 9), (ub_marker, 15)}"
  const auto one = resized(-3, 9, ints());
  const auto two = contiguous(2, one);
  EXPECT_THAT(places(two), ElementsAre(0, 9));
  EXPECT_EQ(two->map.lower(), -3);
  EXPECT_EQ(two->map.upper(), 15);
}

TEST(Type, AMarkedPartDecidesTheBoundsOfAStruct) {
  // "lb(Typemap) = min_j {disp_j such that type_j = lb_marker}" if there is one.
  const auto type = structure({1, 1}, {8, 0}, {resized(0, 4, ints()), chars()});
  EXPECT_EQ(type->map.lower(), 8);
  EXPECT_EQ(type->map.upper(), 12);
  EXPECT_FALSE(type->map.bounds_agreed()) << "MPICH gives 0 and 12";
}

TEST(Type, SubarrayOfOneDimensionThatIsDistributed) {
  // A 100 x 100 array of doubles split over four processes by columns, Fortran order:
  // sizes (100, 100), subsizes (100, 25), starts (0, rank * 25).
  const auto type = subarray({100, 100}, {100, 25}, {0, 50}, true, doubles());
  ASSERT_EQ(type->map.basics.size(), 2500u);
  EXPECT_EQ(type->map.basics.front().at, 50 * 100 * 8);
  EXPECT_EQ(type->map.basics.back().at, (75 * 100 - 1) * 8);
  EXPECT_EQ(type->map.lower(), 0);
  EXPECT_EQ(type->map.extent(), 100 * 100 * 8);
}

TEST(Type, SubarrayOrders) {
  EXPECT_THAT(places(subarray({3, 4}, {2, 2}, {1, 1}, false, chars())), ElementsAre(5, 6, 9, 10));
  EXPECT_THAT(places(subarray({3, 4}, {2, 2}, {1, 1}, true, chars())), ElementsAre(4, 5, 7, 8));
}

TEST(Type, SubarrayForgetsTheBoundsOfItsElements) {
  const auto type = subarray({3}, {1}, {1}, false, resized(-2, 10, ints()));
  EXPECT_THAT(places(type), ElementsAre(10));
  EXPECT_EQ(type->map.lower(), 0);
  EXPECT_EQ(type->map.upper(), 30);
}

TEST(Type, DarrayOfThreeDimensions) {
  // HPF: FILEARRAY(100, 200, 300), CYCLIC(10), *, BLOCK on a 2 x 1 x 3 process grid.
  using enum Distribution;
  const std::vector<int64_t> sizes = {100, 200, 300},
                             arguments = {10, kDefaultArgument, kDefaultArgument};
  // Rank 4 is at position (1, 0, 1).
  const auto type = darray(6, 4, sizes, {cyclic, none, block}, arguments, {2, 1, 3}, true, chars());
  ASSERT_EQ(type->map.basics.size(), size_t(50 * 200 * 100));
  EXPECT_EQ(type->map.basics.front().at, 100 * 200 * 100 + 10);
  EXPECT_EQ(type->map.basics[10].at, 100 * 200 * 100 + 30);
  EXPECT_EQ(type->map.extent(), 100 * 200 * 300);
}

TEST(Type, DarraysOfAllRanksCoverTheArrayOnce) {
  using enum Distribution;
  for (bool fortran : {false, true}) {
    std::vector<int> seen(7 * 5 * 9);
    for (int64_t rank = 0; rank < 6; ++rank)
      for (int64_t at :
           places(darray(6, rank, {7, 5, 9}, {cyclic, none, block},
                         {2, kDefaultArgument, kDefaultArgument}, {2, 1, 3}, fortran, chars())))
        ++seen[size_t(at)];
    EXPECT_THAT(seen, testing::Each(1));
  }
}

TEST(Type, DarrayLeavesTheRestToTheLastOnes) {
  using enum Distribution;
  const auto of = [](int64_t rank) {
    return places(darray(3, rank, {7}, {block}, {kDefaultArgument}, {3}, false, chars()));
  };
  EXPECT_THAT(of(0), ElementsAre(0, 1, 2));
  EXPECT_THAT(of(1), ElementsAre(3, 4, 5));
  EXPECT_THAT(of(2), ElementsAre(6));
  const auto dealt = [](int64_t rank) {
    return places(darray(2, rank, {7}, {cyclic}, {2}, {2}, false, chars()));
  };
  EXPECT_THAT(dealt(0), ElementsAre(0, 1, 4, 5));
  EXPECT_THAT(dealt(1), ElementsAre(2, 3, 6));
}

TEST(Type, DarrayGridIsRowMajorForBothOrders) {
  using enum Distribution;
  const auto of = [](bool fortran) {
    return places(darray(6, 1, {2, 3}, {block, block}, {kDefaultArgument, kDefaultArgument}, {2, 3},
                         fortran, chars()));
  };
  EXPECT_THAT(of(false), ElementsAre(1));  // row 0, column 1 of rows of 3
  EXPECT_THAT(of(true), ElementsAre(2));   // row 0, column 1 of columns of 2
}

TEST(Type, PairsHaveTheLayoutOfTheirStructure) {
  const auto pair = named(Named::pair_double_int);
  EXPECT_THAT(places(pair), ElementsAre(0, 8));
  EXPECT_EQ(pair->map.size(), 12);
  EXPECT_EQ(pair->map.extent(), 16);
  const auto short_int = named(Named::pair_short_int);
  EXPECT_THAT(places(short_int), ElementsAre(0, 4));
  EXPECT_EQ(short_int->map.size(), 6);
  EXPECT_EQ(short_int->map.extent(), 8);
  EXPECT_THAT(places(contiguous(2, short_int)), ElementsAre(0, 4, 8, 12));
}

TEST(Type, F90TypesHaveTheSizeThatHoldsTheirRange) {
  EXPECT_EQ(f90_real(6, 30)->map.size(), 4);
  EXPECT_EQ(f90_real(15, 300)->map.size(), 8);
  EXPECT_EQ(f90_complex(15, 300)->map.size(), 16);
  EXPECT_EQ(f90_integer(9)->map.size(), 4);
  EXPECT_EQ(f90_integer(18)->map.size(), 8);
}

TEST(Type, NothingHasNoBounds) {
  const auto type = vector(3, 0, 5, ints());
  EXPECT_EQ(type->map.size(), 0);
  EXPECT_EQ(type->map.lower(), 0);
  EXPECT_EQ(type->map.extent(), 0);
}

TEST(Type, BlocksOfNothingCountForNothing) {
  const auto type = indexed({0, 2}, {-5, 3}, ints());
  EXPECT_EQ(type->map.lower(), 12);
  EXPECT_EQ(type->map.extent(), 8);
}

TEST(Type, ReadsAsTheCallsThatMakeIt) {
  EXPECT_EQ(to_text(*resized(-4, 16, vector(2, 1, 3, dup(named(Named::pair_2int))))),
            "resized(-4,16, vector(2,1,3, dup(2INT)))");
}

}  // namespace
}  // namespace oracle
