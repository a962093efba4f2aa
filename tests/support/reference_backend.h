// A naive implementation of autograd::Backend: every element is found by its own index arithmetic, results are computed
// apart and stored at the end. It shares the kernel bodies and the conversions with the real backends and nothing else,
// no binder and no engine, so it is the oracle for binding, views and graphs. It also proves that the framework needs
// no other array library.
//
// It has the devices cpu:0 to cpu:7 and cuda:0 to cuda:7, all of them host memory, and refuses to mix them: what a
// program does about devices can be tested without any.
#pragma once

#include <catena/autograd/backend/backend.h>

namespace test {

autograd::Backend& reference_backend();

}  // namespace test
