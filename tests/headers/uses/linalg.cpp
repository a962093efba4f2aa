#include <catena/ndarray/routines/linalg.h>
#include <catena/tests/headers/uses/uses.h>

void use_linalg() {
  float values[] = {1, 2, 3, 4};
  const nd::Array x = nd::wrap(values, {2, 2});
  REQUIRE(nd::matmul(x, x).to_vector<float>() == std::vector<float>{7, 10, 15, 22});
}
