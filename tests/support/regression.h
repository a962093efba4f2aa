// A model that is its own loss, and four examples for it.
#pragma once

#include <catena/autograd/functions/reduction.h>
#include <catena/tests/support/training_fixtures.h>
#include <catena/training/dataset.h>

namespace test {

// The mean square of l(x) - t.
struct Regression : nn::Chain {
  nn::Linear l{3, 1};
  NN_MEMBERS(l)
  Variable operator()(const Variable& x, const Variable& t) {
    const Variable difference = l(x) - t;
    return autograd::mean(difference * difference);
  }
};

inline training::TupleDataset regression_data() {
  return training::TupleDataset(autograd::array<float>({1, 2, 3, -1, 0, 2, 0.5f, 1, -2, 3, -1, 1}, {4, 3}),
                                floats({1, -1, 2, 0.5f}, {4, 1}));
}

}  // namespace test
