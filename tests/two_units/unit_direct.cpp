#include <catena/tests/two_units/unit.h>

std::string direct() {
  const nd::Array a = nd::ones({2});
  const autograd::Array b = a;
  const autograd::Variable x(a), y(b), named(a, {.name = "a"}), braces{b};
  return flag_of(x) + flag_of(y) + flag_of(named) + flag_of(braces);
}
