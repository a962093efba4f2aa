// The cases: what is measured. One table serves Google Benchmark (google_main.cpp) and compare.sh (worker.cpp); shapes
// stand here only, the peers of compare.sh are told them. Inputs are hashes of their positions, so that every contender
// has the same ones and a result can be compared before a time is.
//
//   const Cases cases{{"overhead/sum", {{"n", 100}}, {}, [](const Parameters& p) {
//     return ready([a = uniform({p.at("n")}, 0)] { return a.sum(); });
//   }}};
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include <catena/benchmarks/contender.h>
#include <catena/catena.h>

namespace bench {

// A case made ready on the current device.
struct Ready {
  std::function<void(std::int64_t calls)> run;  // what is timed; does not wait for the device
  std::function<nd::Array()> result;            // what a contender must agree on; asked before the first run
};

struct Case {
  std::string name;       // topic/case
  Parameters full, tiny;  // tiny: what differs from full in a trial run
  Ready (*setup)(const Parameters& p);

  Parameters parameters(bool is_tiny) const;
};

// The cases of a file; linking the file is enough.
class Cases {
 public:
  Cases(std::initializer_list<Case> cases);
  static const std::vector<Case>& all();
};

// Sets CATENA_DEVICE from an argument --device cpu|cuda, which is removed. Before the first array is made.
void choose_device(int& argc, char** argv);

// uniform_values in C order: float32 on [low, high).
nd::Array uniform(const nd::Shape& shape, std::int64_t seed, double low = 0, double high = 1);
// int32 labels of [0, classes).
nd::Array labels(std::int64_t n, std::int64_t seed, std::int64_t classes);

// The result of the case is that of a call.
template <class F>
Ready ready(F f) {
  return {repeated(f), f};
}

// f(set) on one of p["sets"] inputs made by make(seed), the next one in each call: more of them than the last-level
// cache holds, where a case is about memory.
template <class Make, class F>
Ready rotating(const Parameters& p, Make make, F f) {
  std::vector<decltype(make(std::int64_t{}))> sets;
  for (std::int64_t seed = 0; seed < p.at("sets"); ++seed) sets.push_back(make(seed));
  return ready([sets = std::move(sets), f = std::move(f), at = std::size_t{0}]() mutable {
    const auto& set = sets[at];
    if (++at == sets.size()) at = 0;
    return f(set);
  });
}

}  // namespace bench
