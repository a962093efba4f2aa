// Links without a backend: an exception thrown inside the library is caught here.
#include <cstdio>

#include <catena/kernels/base/error.h>
#include <catena/nn/chain_list.h>

int main() {
  try {
    static_cast<void>(nn::ChainList()[3]);
    return 1;
  } catch (const catena::IndexError& error) {
    std::printf("caught: %s\n", error.what());
  }
  return 0;
}
