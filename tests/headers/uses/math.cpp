#include <catena/ndarray/routines/math.h>
#include <catena/tests/headers/uses/uses.h>

void use_math() {
  REQUIRE(nd::exp(0.0).item<double>() == 1);
  REQUIRE(nd::add(1, 2).item<int>() == 3);
  const auto [quotient, remainder] = nd::divmod(7, 2);
  REQUIRE(quotient.item<int>() == 3 && remainder.item<int>() == 1);
}
