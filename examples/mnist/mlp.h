// The perceptron of the MNIST examples.
#pragma once

#include <catena/catena.h>

// A multi-layer perceptron: two hidden layers of n_units and an output layer of n_out units.
struct MLP : nn::Chain {
  nn::Linear l1, l2, l3;  // the sizes of the inputs are found at the first call
  MLP(int n_units, int n_out) : l1(n_units), l2(n_units), l3(n_out) {}
  NN_MEMBERS(l1, l2, l3)

  autograd::Variable operator()(const autograd::Variable& x) {
    const autograd::Variable h1 = nn::relu(l1(x));
    const autograd::Variable h2 = nn::relu(l2(h1));
    return l3(h2);
  }
};
