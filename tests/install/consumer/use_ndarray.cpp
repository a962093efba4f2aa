// Arrays alone: something is computed, and an exception thrown inside the library is caught here.
#include <cstdio>
#include <sstream>

#include <catena/ndarray/ndarray.h>

int main() {
  const nd::Array x = nd::arange(12).reshape({3, 4});
  std::ostringstream text;
  text << x(nd::Slice(1, 3), 0);
  if (nd::sum(x * x + 1).item<double>() != 518 || text.str() != "[4 8]") return 1;
  try {
    static_cast<void>(x.flags()["NOSUCH"]);
    return 2;
  } catch (const catena::KeyError& error) {
    std::printf("caught: %s\n", error.what());
  }
  return 0;
}
