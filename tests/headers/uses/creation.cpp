#include <catena/ndarray/routines/creation.h>
#include <catena/tests/headers/uses/uses.h>

void use_creation() {
  const nd::Array a = nd::array({{1, 2}, {3, 4}});
  const nd::Array b = a * 2 + nd::ones({2, 2}, nd::int64);
  REQUIRE(b.to_vector<int>() == std::vector<int>{3, 5, 7, 9});
  REQUIRE(nd::arange(5)(nd::Slice(1, 3)).sum().item<int>() == 3);
}
