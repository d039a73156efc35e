#include "base/trust.h"

#include <gmock/gmock.h>

namespace haichi {
namespace {

using ::testing::HasSubstr;

struct stat facts(mode_t mode, uid_t owner) {
  struct stat result = {};
  result.st_mode = mode;
  result.st_uid = owner;
  return result;
}

TEST(Distrusted, OnlyTheCallersOwnFileIsObeyed) {
  const auto mine = facts(S_IFREG | 0644, 7), theirs = facts(S_IFREG | 0644, 8);
  const auto home = facts(S_IFDIR | 0755, 7), foreign = facts(S_IFDIR | 01777, 0);
  EXPECT_EQ(distrusted(home, mine, mine, 7), "");
  EXPECT_EQ(distrusted(foreign, mine, mine, 7), "");
  EXPECT_THAT(distrusted(home, theirs, theirs, 7), HasSubstr("another user"));
  // A link that somebody else made to the caller's file, and the other way round.
  EXPECT_THAT(distrusted(home, theirs, mine, 7), HasSubstr("another user"));
  EXPECT_THAT(distrusted(home, mine, theirs, 7), HasSubstr("another user"));
  for (const mode_t others : {0664, 0646, 0666}) {
    const auto open = facts(S_IFREG | others, 7);
    EXPECT_THAT(distrusted(home, open, open, 7), HasSubstr("chmod"));
  }
  const auto pipe = facts(S_IFIFO | 0600, 7);
  EXPECT_THAT(distrusted(home, pipe, pipe, 7), HasSubstr("regular"));
}

TEST(Distrusted, RootObeysNothingInAFolderThatIsNotItsOwn) {
  const auto file = facts(S_IFREG | 0644, 0);
  EXPECT_EQ(distrusted(facts(S_IFDIR | 0755, 0), file, file, 0), "");
  EXPECT_EQ(distrusted(facts(S_IFDIR | 01777, 0), file, file, 0), "");
  EXPECT_NE(distrusted(facts(S_IFDIR | 0777, 0), file, file, 0), "");
  EXPECT_NE(distrusted(facts(S_IFDIR | 0755, 7), file, file, 0), "");
}

}  // namespace
}  // namespace haichi
