#include <catena/ndarray/user_kernel/fusion.h>
#include <catena/tests/headers/uses/uses.h>

void use_fusion() {
  double values[] = {1, 2, 3};
  const nd::Array x = nd::wrap(values, {3});
  const auto f = nd::fuse([](auto a, auto b) { return nd::exp(a - a) + b; });
  REQUIRE(f(x, 1.0).to_vector<double>() == std::vector<double>{2, 2, 2});
  const auto norm = nd::fuse([](auto a) { return a * a; },
                             {.reduce = nd::Reduction::sum, .post_map = [](auto s) { return nd::sqrt(s + 2); }});
  REQUIRE(norm(x).item<double>() == 4);
}
