// Ranges of numbers.
#pragma once

#include <catena/kernels/index.h>

namespace catena::k {

// Element i is first + i * step: for integers modulo 2^n, for floats the rounded product and then the rounded sum. For
// bools, the elements are `first` and then `step`: a range of bools has at most two.
struct arange {
  enum : bool { of_position = true };
  template <class I, class T> ND_FN static void run(const I& i, T first, T step, T& y) {
    if constexpr (is_same<T, bool>) y = i.linear() == 0 ? first : step;
    else if constexpr (is_int<T>) y = T(uint64_t(first) + uint64_t(i.linear()) * uint64_t(step));
    else y = first + T(i.linear()) * step;
  }
};

// Element i is start + i * step, and `stop` at position `last`; an integer is the floor of that number. If the step
// underflows to 0, which would make all elements equal, i * distance / count replaces i * step.
struct linspace {
  enum : bool { of_position = true };
  template <class I, class T>
  ND_FN static void run(const I& i, double start, double stop, double step, double distance, double count, int64_t last,
                        T& y) {
    const double k = double(i.linear());
    const double v = start + (step == 0 ? k * distance / count : k * step);
    const double element = i.linear() == last ? stop : v;
    if constexpr (is_int<T>) y = convert<T>(m::floor(element));
    else y = convert<T>(element);
  }
};

}  // namespace catena::k
