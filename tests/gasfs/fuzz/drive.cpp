// Drives a fuzz target without libFuzzer: inputs of a corpus and the target's own, changed at
// random by a seed, so that each run can be had again. What it ends at is kept as a file.
//
// usage: PROGRAM [--runs N] [--seconds S] [--seed N] [--keep FOLDER] [CORPUS...]
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>

#include "target.h"

namespace {

constexpr size_t kLongest = 8192;
Input current;  // for when it ends in the middle

void keep(const std::filesystem::path& path, const Input& input) {
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(input.data()), static_cast<long>(input.size()));
}

void on_abort(int) {
  keep("fuzz-crash", current);
  std::fputs("the input is in fuzz-crash\n", stderr);
  std::signal(SIGABRT, SIG_DFL);
  std::abort();
}

Input changed(const std::vector<Input>& corpus, std::mt19937_64& random) {
  Input made = corpus[random() % corpus.size()];
  for (uint64_t n = 1 + random() % 6; n > 0; --n) {
    if (made.empty()) made.push_back(0);
    const size_t at = random() % made.size();
    switch (random() % 7) {
      case 0:
        made[at] ^= static_cast<uint8_t>(1 << random() % 8);
        break;
      case 1:
        made[at] = static_cast<uint8_t>(random());
        break;
      case 2: {  // a number that is at an edge
        const uint64_t edges[] = {0,        1,          4096,      1u << 16,
                                  1u << 24, UINT32_MAX, INT64_MAX, UINT64_MAX};
        const uint64_t edge = edges[random() % 8];
        std::memcpy(made.data() + at, &edge, std::min(sizeof edge, made.size() - at));
        break;
      }
      case 3:
        made.resize(at);
        break;
      case 4:
        made.insert(made.begin() + static_cast<long>(at), 1 + random() % 16,
                    static_cast<uint8_t>(random()));
        break;
      case 5:
        made.erase(made.begin() + static_cast<long>(at),
                   made.begin() + static_cast<long>(std::min(made.size(), at + 1 + random() % 16)));
        break;
      default: {  // goes on as another one does
        const Input& other = corpus[random() % corpus.size()];
        made.resize(at);
        if (!other.empty())
          made.insert(made.end(), other.begin() + long(random() % other.size()), other.end());
      }
    }
    if (made.size() > kLongest) made.resize(kLongest);
  }
  return made;
}

Input read(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

int main(int argc, char** argv) {
  uint64_t runs = 100'000, seed = 1;
  double seconds = 1e9;
  std::vector<Input> corpus = seeds();
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const char* value = i + 1 < argc ? argv[i + 1] : "";
    if (word == "--runs") {
      runs = std::strtoull(value, nullptr, 10), ++i;
    } else if (word == "--seed") {
      seed = std::strtoull(value, nullptr, 10), ++i;
    } else if (word == "--seconds") {
      seconds = std::strtod(value, nullptr), ++i;
    } else if (word == "--keep") {
      for (size_t n = 0; n < corpus.size(); ++n)
        keep(std::filesystem::path(value) / ("seed-" + std::to_string(n)), corpus[n]);
      return 0;
    } else {
      for (const auto& file : std::filesystem::directory_iterator(word))
        corpus.push_back(read(file.path()));
    }
  }
  std::signal(SIGABRT, &on_abort);
  std::mt19937_64 random(seed);
  const time_t ends = std::time(nullptr) + static_cast<time_t>(seconds);
  uint64_t done = 0;
  for (const Input& input : corpus) {
    current = input;
    LLVMFuzzerTestOneInput(current.data(), current.size());
  }
  for (; done < runs && (done % 256 != 0 || std::time(nullptr) < ends); ++done) {
    current = changed(corpus, random);
    LLVMFuzzerTestOneInput(current.data(), current.size());
  }
  std::printf("%llu inputs of seed %llu, from %zu\n", static_cast<unsigned long long>(done),
              static_cast<unsigned long long>(seed), corpus.size());
  return 0;
}
