// The benchmark cases in one table, used by Google Benchmark (google_main.cpp) and by compare.sh (worker.cpp). Shapes
// are defined only here; the peers of compare.sh receive them. Inputs are hashes of the elements' positions, so that
// all contenders have equal inputs and results can be compared before times are measured.
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
#include <catena/benchmarks/draw.h>
#include <catena/catena.h>

namespace bench {

// A case that is set up on the current device.
struct Ready {
  std::function<void(std::int64_t calls)> run;  // the timed part; does not wait for the device
  std::function<nd::Array()> result;            // the result for the comparison; called before the first run
};

struct Case {
  std::string name;       // topic/case
  Parameters full, tiny;  // the parameters that differ from `full` in a trial run
  Ready (*setup)(const Parameters& p);
  Parameters (*draw)(Draw& draw) = nullptr;  // draws the parameters of a shape of a sweep; null: the case has no sweep

  Parameters parameters(bool is_tiny) const;
};

// Registers the cases of a file; linking the file is enough.
class Cases {
 public:
  Cases(std::initializer_list<Case> cases);
  static const std::vector<Case>& all();
};

// Sets CATENA_DEVICE from an argument --device cpu|cuda and removes the argument. To be called before the first array
// is created.
void choose_device(int& argc, char** argv);

// Returns uniform_values in C order: float32 on [low, high).
nd::Array uniform(const nd::Shape& shape, std::int64_t seed, double low = 0, double high = 1);
// Returns the operand of a case, with the dtype and the offset of p (default: float32 and 0). Values are on [low,
// high), but floor(100 u) for integers and u < 0.5 for bool, where u are the values on [0, 1).
nd::Array input(const Parameters& p, const nd::Shape& shape, std::int64_t seed, double low = 0, double high = 1);
// Returns p[name], or `otherwise` if p does not have it.
std::int64_t get(const Parameters& p, const char* name, std::int64_t otherwise);
// Returns int32 labels of [0, classes).
nd::Array labels(std::int64_t n, std::int64_t seed, std::int64_t classes);

// Concatenates all elements of arrays of one dtype, for a case with several results.
nd::Array joined(const std::vector<nd::Array>& arrays);

// Returns a case whose result is that of a call of f.
template <class F> Ready ready(F f) { return {repeated(f), f}; }

// Returns a case that calls f(set) on p["sets"] inputs made by make(seed), the next one in each call. For cases that
// measure memory bandwidth: together the inputs exceed the last-level cache.
template <class Make, class F> Ready rotating(const Parameters& p, Make make, F f) {
  std::vector<decltype(make(std::int64_t{}))> sets;
  for (std::int64_t seed = 0; seed < p.at("sets"); ++seed) sets.push_back(make(seed));
  return ready([sets = std::move(sets), f = std::move(f), at = std::size_t{0}]() mutable {
    const auto& set = sets[at];
    if (++at == sets.size()) at = 0;
    return f(set);
  });
}

}  // namespace bench
