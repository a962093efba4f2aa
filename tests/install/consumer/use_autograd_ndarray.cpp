// The two libraries joined: one array under both names, and an exception thrown inside the adapter is caught here.
#include <cstdio>

#include <catena/autograd/array.h>
#include <catena/autograd/backend/backend.h>
#include <catena/autograd/ndarray_backend/convert.h>
#include <catena/kernels/registry/families.h>
#include <catena/ndarray/ndarray.h>

int main() {
  nd::Array x = nd::zeros({2, 3}, nd::float32);
  const autograd::Array y(x);
  x += 2;
  if (autograd::item(autograd::sum(y)).to<double>() != 12) return 1;
  try {
    const catena::Input input(*y.get());
    const autograd::Array out(nd::zeros({7}, nd::float32));
    autograd::ndarray_backend().execute(catena::call::Reduce{&catena::kernels::sum, 0, {&input, 1}, {0}, out.get()});
    return 2;
  } catch (const catena::ValueError& error) {
    std::printf("caught: %s\n", error.what());
  }
  return 0;
}
