// The snippet of README.md on captured steps, with what it takes for granted. It is compiled and linked: it needs a GPU.
#include <catena/catena.h>

int main() {
  nn::Linear model(2, 1);
  training::SGD optimizer;
  optimizer.setup(model);
  const autograd::Variable x(autograd::Array(nd::ones({1, 2}, nd::float32))), t = x;
  const autograd::Array next_batch(nd::zeros({1, 2}, nd::float32));
#include "capture.body"
}
