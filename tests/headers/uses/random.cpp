#include <catena/ndarray/routines/random.h>
#include <catena/tests/headers/uses/uses.h>

void use_random() {
  nd::random::RandomState g(7);
  const nd::random::RandomState copy = g;
  const nd::Array x = g.uniform(0, 1, {100}, {.dtype = nd::float32});
  REQUIRE(x.shape() == nd::Shape{100} && copy.offset() == 0 && g.offset() == 25);
  REQUIRE((nd::random::RandomState(copy).uniform(0, 1, {100}, {.dtype = nd::float32}) == x).all().item<bool>());
}
