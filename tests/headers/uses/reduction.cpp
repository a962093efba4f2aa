#include <catena/ndarray/routines/reduction.h>
#include <catena/tests/headers/uses/uses.h>

void use_reduction() {
  int values[] = {5, 6, 7, 8};
  const nd::Array x = nd::wrap(values, {2, 2});
  REQUIRE(nd::sum(x, {.axis = 1}).to_vector<int>() == std::vector<int>{11, 15});
  REQUIRE(nd::argmax(x).item<int>() == 3);
}
