// Ends with status 0 if the arrays of the package work.
#include <catena/ndarray/ndarray.h>

int main() {
  const nd::Array a = nd::arange(12).reshape({3, 4});
  return double((a(1) * 2).sum()) == 44 ? 0 : 1;
}
