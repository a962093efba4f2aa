#include <catena/ndarray/routines/indexing.h>
#include <catena/tests/headers/uses/uses.h>

void use_indexing() {
  int values[] = {5, 6, 7};
  const nd::Array x = nd::wrap(values, {3});
  REQUIRE(x(0).item<int>() == 5);
  const nd::Array picked = x(std::vector<std::int64_t>{2, 0});
  REQUIRE(picked.to_vector<int>() == std::vector<int>{7, 5});
  x(std::vector<bool>{false, true, false}) = 9;
  REQUIRE(values[1] == 9);
}
