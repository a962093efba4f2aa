// First steps with arrays alone: creation, views, arithmetic, reductions, random numbers, files.
// writes: first_steps.npz
// prints: 104 105 106 107
// prints: column sums .112 115 118 121., mean 38[.]8333
// prints: A @ A.T has the shape .1000, 1000.
// prints: read back: 466
#include <iostream>

#include <catena/ndarray/ndarray.h>

int main() {
  // Arrays and NumPy's arithmetic: broadcasting, dtypes, views that write to the original array.
  nd::Array a = nd::arange(12).reshape({3, 4});
  nd::Array row = a(1);  // a view: no copy
  row += 100;
  std::cout << "a =\n" << a << "\n\n";
  std::cout << "every second column, rows reversed:\n" << a(nd::Slice({}, {}, -1), nd::Slice({}, {}, 2)) << "\n\n";

  nd::Array x = nd::linspace(0, 1, 5);
  std::cout << "exp(-x * x) / 2 + 1 = " << nd::exp(-x * x) / 2 + 1 << "\n";
  std::cout << "column sums " << nd::sum(a, {.axis = 0}) << ", mean " << a.mean().item<double>() << "\n";

  // Random numbers are counter-based: the same seed gives the same bits and uniform numbers on every device.
  nd::random::seed(0);
  nd::Array noise = nd::random::standard_normal({1000, 1000}, {.dtype = nd::float32});
  nd::Array centred = noise - noise.mean({.axis = 0});
  std::cout << "deviation of a million normal numbers: " << centred.std().item<double>() << "\n";
  std::cout << "A @ A^T has the shape " << nd::to_string(nd::matmul(centred, centred.T()).shape()) << "\n";

  nd::savez("first_steps.npz", {{"a", a}, {"noise", noise}});
  std::cout << "read back: " << nd::loadz("first_steps.npz").at("a").sum().item<long>() << "\n";
  std::cout << "memory in use: " << nd::memory_pool().used_bytes() << " bytes\n";
}
