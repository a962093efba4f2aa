#include <catena/training/extensions/profile_report.h>

#include <catena/autograd/array_backend.h>
#include <catena/autograd/hooks.h>
#include <catena/kernels/base/clock.h>

namespace training {

// Notes the borders between the parts of an update.
class ProfileReport::Clock final : public autograd::FunctionHook {
 public:
  explicit Clock(bool synchronize) : synchronize_(synchronize), scope_(*this) {}

  std::string name() const override { return "ProfileReport"; }
  void forward_preprocess(const autograd::FunctionNode&, const autograd::Arrays& in_data) override {
    if (runs_ && !forward_) forward_ = now(in_data);
  }
  void backward_preprocess(const autograd::FunctionNode&, const autograd::Arrays&,
                           const autograd::Arrays& out_grad) override {
    if (runs_ && !backward_) backward_ = now(out_grad);
  }
  // Only a function at the start of the graph may be the last one, so a device need not be waited for at each.
  void backward_postprocess(const autograd::FunctionNode& function, const autograd::Arrays&,
                            const autograd::Arrays&) override {
    if (runs_ && function.rank() == 0) backward_end_ = now();
  }

  void start() {
    forward_.reset();
    backward_.reset();
    backward_end_.reset();
    start_ = now();
    runs_ = true;
  }
  void stop() {
    end_ = now();
    runs_ = false;
  }
  bool runs() const { return runs_; }

  double start_ = 0, end_ = 0;
  std::optional<double> forward_, backward_, backward_end_;

 private:
  // The device is the one on which the last update has computed.
  double now(const autograd::Arrays& arrays = {}) {
    for (const autograd::Array& a : arrays)
      if (a) device_ = a.device();
    if (synchronize_ && device_.kind != autograd::Device::Kind::cpu) autograd::default_backend().synchronize(device_);
    return catena::internal::steady_seconds();
  }

  const bool synchronize_;
  autograd::Device device_;
  bool runs_ = false;
  autograd::HookScope scope_;
};

ProfileReport::ProfileReport(Options options) : options_(std::move(options)) {
  priority = PRIORITY_WRITER + 100;  // right after the update
}

void ProfileReport::initialize(Trainer&) { clock_ = catena::Shared<Clock>::make(options_.synchronize); }

void ProfileReport::before_update(Trainer&) {
  if (clock_->runs()) ended_.reset();  // the trigger of this extension left out the update before
  clock_->start();
}

void ProfileReport::operator()(Trainer& trainer) {
  clock_->stop();
  const Clock& c = *clock_;
  const auto report = [&](const char* part, double seconds) {
    trainer.observation().set(options_.prefix + "/" + part, seconds);
  };
  if (c.forward_ && c.backward_ && c.backward_end_) {
    report("data", *c.forward_ - c.start_);
    report("forward", *c.backward_ - *c.forward_);
    report("backward", *c.backward_end_ - *c.backward_);
    report("update", c.end_ - *c.backward_end_);
  }
  if (ended_) report("extensions", c.start_ - *ended_);
  report("iteration", c.end_ - ended_.value_or(c.start_));
  ended_ = c.end_;
}

void ProfileReport::finalize() { clock_ = {}; }

}  // namespace training
