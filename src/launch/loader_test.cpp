#include "launch/loader.h"

#include <gmock/gmock.h>
#include <string.h>

#include "launch/test_files.h"

namespace haichi::launch {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// A cache file as ldconfig writes it: 48 bytes of header, 24 for each entry, then the strings.
std::string cache_of(const std::vector<std::pair<std::string, std::string>>& libraries) {
  const auto number = [](uint32_t value) {
    return std::string(reinterpret_cast<const char*>(&value), sizeof value);
  };
  std::string entries, strings;
  const size_t strings_at = 48 + 24 * libraries.size();
  for (const auto& [name, file] : libraries) {
    entries += number(0x0303) + number(uint32_t(strings_at + strings.size()));
    strings += name + '\0';
    entries += number(uint32_t(strings_at + strings.size())) + number(0) + number(0) + number(0);
    strings += file + '\0';
  }
  return "glibc-ld.so.cache1.1" + number(uint32_t(libraries.size())) +
         number(uint32_t(strings.size())) + std::string(20, '\0') + entries + strings;
}

class LoaderTest : public TestFiles {
 protected:
  Loader loader(const std::string& library_path = "") const {
    Environment environment;
    if (!library_path.empty()) environment.set("LD_LIBRARY_PATH", library_path);
    return Loader(environment, {path("cache"), {path("default")}});
  }

  std::string find(const Loader& by, const std::string& name, const std::string& app) const {
    const auto file = ElfFile::open(app);
    EXPECT_TRUE(file);
    return by.find(name, {app, *file, nullptr});
  }
};

TEST_F(LoaderTest, LooksInRpathThenLibraryPathThenRunpathThenCacheThenDefaults) {
  const std::string in_rpath = library("rpath/liba.so", "liba.so");
  const std::string in_env = library("env/liba.so", "liba.so");
  const std::string in_runpath = library("runpath/liba.so", "liba.so");
  const std::string in_cache = library("cached/liba.so", "liba.so");
  const std::string in_default = library("default/liba.so", "liba.so");
  write("cache", cache_of({{"libz.so", "/nowhere"}, {"liba.so", in_cache}}));
  const std::string old = program("old", "-Wl,--disable-new-dtags -Wl,-rpath," + path("rpath"));
  const std::string app = program("app", "-Wl,--enable-new-dtags -Wl,-rpath," + path("runpath"));
  const std::string plain = program("plain");

  EXPECT_EQ(find(loader(path("env")), "liba.so", old), in_rpath);
  EXPECT_EQ(find(loader(path("env")), "liba.so", app), in_env);
  EXPECT_EQ(find(loader(), "liba.so", app), in_runpath);
  EXPECT_EQ(find(loader(), "liba.so", plain), in_cache);
  write("cache", "");
  EXPECT_EQ(find(loader(), "liba.so", plain), in_default);
  EXPECT_EQ(find(loader(), "libnone.so", plain), "");
}

TEST_F(LoaderTest, ExpandsOriginOfTheRealFile) {
  library("real/lib/liba.so", "liba.so");
  program("real/bin/app", "-Wl,-rpath,'$ORIGIN/../lib'");
  std::filesystem::create_symlink(path("real/bin/app"), path("link"));
  EXPECT_EQ(find(loader(), "liba.so", path("link")), path("real/bin") + "/../lib/liba.so");
  EXPECT_EQ(find(loader(), "${ORIGIN}/../lib/liba.so", path("link")),
            path("real/bin") + "/../lib/liba.so");
}

TEST_F(LoaderTest, PassesOverFilesOfAnotherMachine) {
  write("one/liba.so", "not a library");
  const std::string good = library("two/liba.so", "liba.so");
  EXPECT_EQ(find(loader(path("one") + ":" + path("two")), "liba.so", program("app")), good);
}

TEST_F(LoaderTest, RpathOfTheProgramCountsForItsLibrariesUnlessTheyHaveRunpath) {
  library("rpath/libb.so", "libb.so");
  const std::string b = path("rpath/libb.so");
  const std::string a =
      library("rpath/liba.so", "liba.so", "int f(void) { return 0; }", "-Wl,--no-as-needed " + b);
  const std::string app = program("app", "-Wl,--disable-new-dtags -Wl,-rpath," + path("rpath") +
                                             " -Wl,-rpath-link," + path("rpath") + " " + a);
  const auto file = ElfFile::open(app), library_a = ElfFile::open(a);
  ASSERT_TRUE(file && library_a);
  const LoadedObject root{app, *file, nullptr}, child{a, *library_a, &root};
  EXPECT_EQ(loader().find("libb.so", child), b);

  const std::string c = library("other/libc_.so", "libc_.so", "int g(void) { return 0; }",
                                "-Wl,--enable-new-dtags -Wl,-rpath,/nowhere");
  const auto library_c = ElfFile::open(c);
  ASSERT_TRUE(library_c);
  EXPECT_EQ(loader().find("libb.so", {c, *library_c, &root}), "");
}

TEST_F(LoaderTest, WalksBreadthFirstEachNameOnce) {
  const std::string c =
      library("default/libc_.so", "libc_.so", "int c(void) { return 0; }", "-nostdlib");
  const std::string a = library("default/liba.so", "liba.so", "int a(void) { return 0; }",
                                "-nostdlib -Wl,--no-as-needed " + c);
  const std::string b = library("default/libb.so", "libb.so", "int b(void) { return 0; }",
                                "-nostdlib -Wl,--no-as-needed " + c);
  const std::string app =
      program("app", "-nostdlib -Wl,-rpath-link," + path("default") + " " + a + " " + b,
              "void _start(void) {}");
  const auto file = ElfFile::open(app);
  ASSERT_TRUE(file);
  std::vector<std::string> seen;
  EXPECT_FALSE(loader().walk(app, *file, [&](std::string_view name, const LoadedObject& requester) {
    seen.push_back(std::string(name) + " of " +
                   std::filesystem::path(requester.path).filename().string());
    return false;
  }));
  EXPECT_THAT(seen, ElementsAre("liba.so of app", "libb.so of app", "libc_.so of liba.so"));
  EXPECT_TRUE(loader().walk(
      app, *file, [](std::string_view name, const LoadedObject&) { return name == "libb.so"; }));
}

TEST(CacheLookup, FindsAllEntriesOfANameBehindAnOlderTable) {
  const std::string cache =
      "ld.so-1.7.0 and its table" +
      cache_of({{"libm.so.6", "/a/libm.so.6"}, {"libx.so", "/x"}, {"libm.so.6", "/b/libm.so.6"}});
  EXPECT_THAT(cache_lookup(cache, "libm.so.6"), ElementsAre("/a/libm.so.6", "/b/libm.so.6"));
  EXPECT_THAT(cache_lookup(cache, "libm.so"), IsEmpty());
}

TEST(CacheLookup, TakesNothingFromADamagedFile) {
  const std::string good = cache_of({{"libm.so.6", "/a/libm.so.6"}});
  EXPECT_THAT(cache_lookup("", "libm.so.6"), IsEmpty());
  EXPECT_THAT(cache_lookup(good.substr(0, 60), "libm.so.6"), IsEmpty());
  std::string many = good;
  many.replace(20, 4, "\xff\xff\xff\x7f");
  EXPECT_THAT(cache_lookup(many, "libm.so.6"), IsEmpty());
}

TEST(CacheLookup, ReadsTheCacheOfThisMachine) {
  const Loader loader{Environment()};
  const auto self = ElfFile::open("/proc/self/exe");
  ASSERT_TRUE(self);
  const std::string libc = loader.find("libc.so.6", {"/proc/self/exe", *self, nullptr});
  const auto file = ElfFile::open(libc);
  ASSERT_TRUE(file) << libc;
  EXPECT_EQ(file->soname(), "libc.so.6");
}

}  // namespace
}  // namespace haichi::launch
