// What folding a stream of events into loops takes of each: of a program that repeats itself, and
// of one that never does. 100 ns are the bound of issue 23's recorder.
#include <benchmark/benchmark.h>

#include <random>
#include <vector>

#include "record/fold.h"

namespace haichi::record {
namespace {

EventKey key_of(int number) {
  EventKey key;
  key.peer = number;
  key.bytes = 8;
  return key;
}

void run(benchmark::State& state, const std::vector<int>& numbers) {
  Folder folder;  // of the memory that it has by default
  size_t i = 0;
  for (auto _ : state) {
    folder.add(key_of(numbers[i]), 100, 10);
    if (++i == numbers.size()) i = 0;
  }
  state.SetItemsProcessed(state.iterations());
  state.counters["cut"] = folder.cut();
  state.counters["bytes"] = double(folder.bytes());
}

// 24 exchanges of so many messages each, then another event, over and over.
void fold_nested_loops(benchmark::State& state) {
  std::vector<int> numbers;
  for (int exchange = 0; exchange < 24; ++exchange)
    for (int i = 0; i < state.range(0); ++i) numbers.push_back(i);
  numbers.push_back(-1);
  run(state, numbers);
}
BENCHMARK(fold_nested_loops)->Arg(1)->Arg(6)->Arg(52);

// A body of so many events of ten kinds in disorder, over and over.
void fold_a_long_body(benchmark::State& state) {
  std::mt19937 random(1);
  std::vector<int> numbers(size_t(state.range(0)));
  for (int& number : numbers) number = int(random() % 10);
  run(state, numbers);
}
BENCHMARK(fold_a_long_body)->Arg(100)->Arg(10'000);

// No loop anywhere: the stack grows until it is full, so no more are added than fit.
void fold_disorder(benchmark::State& state) {
  std::mt19937 random(1);
  std::vector<int> numbers(40'000);
  for (int& number : numbers) number = int(random() % unsigned(state.range(0)));
  run(state, numbers);
}
BENCHMARK(fold_disorder)
    ->Arg(10)
    ->Arg(1000)
    ->Iterations(40'000)
    ->Repetitions(5)
    ->ReportAggregatesOnly();

}  // namespace
}  // namespace haichi::record
