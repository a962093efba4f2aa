// Two optimizers of one's own, one over arrays and one with a kernel given as text, and an extension that is a lambda.
// prints: over arrays: loss 13[.][0-9]+ -> 0[.]00
// prints: kernel given as text: loss 13[.][0-9]+ -> 0[.]00
// prints: W = ..[ ]*2[.]0[0-9]+ -3[.]0
#include <cstdio>
#include <iostream>

#include <catena/catena.h>

using autograd::Array;
using autograd::Variable;

// p <- p - lr sign(m), where m is the running mean of the gradients. Every line is an operation on the whole array.
class Signum : public training::Optimizer {
 public:
  explicit Signum(double lr, double beta = 0.9)
      : Optimizer({.name = "Signum", .hyper = {{"lr", lr}, {"beta", beta}}, .states = {{"m"}}}) {}

 protected:
  void update_one(Variable& param, std::span<Array> states) override {
    Array& m = states[0];
    m += (param.grad() - m) * (1 - get_hyper("beta"));
    param.data() -= lr() * nd::sign(m);
  }
};

// The same in one pass over the memory: the kernel is compiled at its first call, for the CPU or the GPU.
class FusedSignum : public training::Optimizer {
 public:
  explicit FusedSignum(double lr, double beta = 0.9)
      : Optimizer({.name = "FusedSignum", .hyper = {{"lr", lr}, {"beta", beta}}, .states = {{"m"}}}) {}

 protected:
  void update_one(Variable& param, std::span<Array> states) override {
    static const nd::ElementwiseKernel kernel("T g, T lr, T beta", "T p, T m",
                                              "m += (g - m) * (1 - beta); p -= lr * ((m > 0) - (m < 0))", "signum");
    kernel(param.grad(), lr(), get_hyper("beta"), param.data(), states[0]);
  }
};

// Fits y = 2 x1 - 3 x2 + 1.
template <class O> void fit(O optimizer, const char* name) {
  autograd::seed(0);
  nn::Linear model(2, 1);
  optimizer.setup(model);
  const nd::Array x = nd::random::normal(0, 1, {256, 2}, nd::float32);
  const nd::Array y = nd::matmul(x, nd::array({{2.f}, {-3.f}})) + 1;

  training::SerialIterator batches(training::TupleDataset(x, y), 32);
  training::Trainer trainer(training::StandardUpdater(batches, optimizer,
                                                      {.loss_func =
                                                           [&](const autograd::Variables& batch) {
                                                             const Variable loss =
                                                                 nn::mean_squared_error(model(batch[0]), batch[1]);
                                                             nn::report("loss", loss);
                                                             return loss;
                                                           }}),
                            {80, training::epoch});
  double first = 0, last = 0;
  trainer.extend(
      [&](training::Trainer& t) {
        last = t.observation().at("loss").value();
        if (t.updater().iteration() == 1) first = last;
      },
      {.name = "watch", .finalizer = [&] { std::printf("%s: loss %.4f -> %.4f\n", name, first, last); }});
  trainer.extend(training::FailOnNonNumber());
  trainer.run();
  std::cout << "  W = " << model.W.data() << "\n";
  catena::check<catena::RuntimeError>(last < 0.05, name, "the loss is ", last, " at the end");
}

int main() {
  fit(Signum(0.01), "over arrays");
  fit(FusedSignum(0.01), "kernel given as text");
}
