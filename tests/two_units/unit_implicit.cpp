#include <iostream>

#include <catena/tests/two_units/unit.h>

std::string implicit() {
  const nd::Array a = nd::ones({2});
  const autograd::Array b = a;
  const autograd::Variable x = a, y = b, direct(a);  // both ways in one unit, too
  return flag_of(x) + flag_of(y) + flag_of(a) + flag_of(direct);
}

int main() {
  const std::string expected = "AUTO AUTO AUTO AUTO ";
  if (direct() == expected && implicit() == expected) return 0;
  std::cerr << "Variable x(a): " << direct() << "\nVariable x = a: " << implicit() << "\n";
  return 1;
}
