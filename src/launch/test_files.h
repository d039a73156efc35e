// Files for the tests of this folder: a temporary directory, and ELF files made by the C compiler.
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

// CMake says which compiler the build uses.
#ifndef HAICHI_TEST_CC
#define HAICHI_TEST_CC "cc"
#endif

namespace haichi::launch {

class TestFiles : public ::testing::Test {
 protected:
  TestFiles() {
    char name[] = "/tmp/haichi-launch-XXXXXX";
    root_ = mkdtemp(name);
  }
  ~TestFiles() override { std::filesystem::remove_all(root_); }

  std::string path(std::string_view name) const { return root_ + "/" + std::string(name); }

  std::string write(std::string_view name, std::string_view text, int mode = 0644) const {
    const std::string file = path(name);
    std::filesystem::create_directories(std::filesystem::path(file).parent_path());
    std::ofstream(file, std::ios::binary) << text;
    chmod(file.c_str(), mode_t(mode));
    return file;
  }

  std::string read(const std::string& file) const {
    std::ifstream in(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }

  /// Compiles `source` with `flags` to the file `name`.
  std::string compile(std::string_view name, std::string_view source,
                      const std::string& flags) const {
    const std::string file = path(name);
    std::filesystem::create_directories(std::filesystem::path(file).parent_path());
    const std::string c = write(std::string(name) + ".c", source);
    const std::string command = std::string(HAICHI_TEST_CC) + " " + c + " -o " + file + " " + flags;
    EXPECT_EQ(system(command.c_str()), 0) << command;
    return file;
  }

  /// A shared library with a soname (unless empty), which defines the functions of `source`.
  std::string library(std::string_view name, std::string_view soname,
                      std::string_view source = "int MPI_Send_c(void) { return 0; }",
                      const std::string& flags = "") const {
    const std::string named = soname.empty() ? "" : "-Wl,-soname," + std::string(soname) + " ";
    return compile(name, source, "-shared -fPIC " + named + flags);
  }

  /// A program that asks for `libraries` (paths) whether it calls them or not.
  std::string program(std::string_view name, const std::string& libraries = "",
                      std::string_view source = "int main(void) { return 0; }") const {
    return compile(name, source, "-Wl,--no-as-needed -Wl,--allow-shlib-undefined " + libraries);
  }

 private:
  std::string root_;
};

}  // namespace haichi::launch
