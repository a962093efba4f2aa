// The training loop's parts without a backend: an exception thrown inside the library is caught here, and an optimizer
// and an extension are written outside of it.
#include <cstdio>

#include <catena/kernels/base/error.h>
#include <catena/training/optimizer.h>
#include <catena/training/trainer.h>
#include <catena/training/trigger.h>

class Signum : public training::Optimizer {
 public:
  explicit Signum(double lr) : Optimizer({.name = "Signum", .hyper = {{"lr", lr}}, .states = {{"m"}}}) {}

 protected:
  void init_state(const autograd::Variable& param, std::span<autograd::Array> states) override {
    states[0] = autograd::zeros_like(param.data());
  }
  void update_one(autograd::Variable& param, std::span<autograd::Array> states) override {
    states[0] += (param.grad() - states[0]) * 0.1;
    autograd::assign(param.data(), param.data() - autograd::apply(catena::kernels::sign, {states[0]}) * lr());
  }
};

class Counter : public training::Extension {
 public:
  void operator()(training::Trainer&) override { ++calls_; }
  std::string default_name() const override { return "Counter"; }
  void serialize(nn::Serializer& s) override { s("calls", calls_); }

 private:
  std::int64_t calls_ = 0;
};

int main() {
  Signum optimizer(0.5);
  optimizer.set_hyper("lr", 0.25);
  if (optimizer.lr() != 0.25 || Counter().default_name() != "Counter") return 1;
  try {
    static_cast<void>(training::IntervalTrigger(-1, training::epoch));
    return 1;
  } catch (const catena::ValueError& error) {
    std::printf("caught: %s\n", error.what());
  }
  return 0;
}
