// Hyperbolic functions and their inverses.
#pragma once

#include <catena/kernels/complex_functions.h>

namespace catena::k {

struct sinh {
  template <class T> ND_FN static void run(T x, T& y) { y = m::sinh(x); }
};
struct cosh {
  template <class T> ND_FN static void run(T x, T& y) { y = m::cosh(x); }
};
struct tanh {
  template <class T> ND_FN static void run(T x, T& y) { y = m::tanh(x); }
};
struct arcsinh {
  template <class T> ND_FN static void run(T x, T& y) { y = m::asinh(x); }
};
struct arccosh {
  template <class T> ND_FN static void run(T x, T& y) { y = m::acosh(x); }
};
struct arctanh {
  template <class T> ND_FN static void run(T x, T& y) { y = m::atanh(x); }
};

}  // namespace catena::k
