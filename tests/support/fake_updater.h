// An updater without training: it counts iterations and derives epochs from them.
#pragma once

#include <cmath>
#include <functional>

#include <catena/training/trainer.h>

namespace test {

class FakeUpdater : public training::Updater {
 public:
  explicit FakeUpdater(double iterations_per_epoch, std::function<void(std::int64_t iteration)> on_update = {})
      : per_epoch_(iterations_per_epoch), on_update_(std::move(on_update)) {}

  training::Optimizer& get_optimizer(const std::string& name) override {
    catena::fail<catena::KeyError>("FakeUpdater", name);
  }
  std::vector<std::pair<std::string, training::Optimizer*>> get_all_optimizers() override { return {}; }
  void update() override {
    ++iteration_;
    if (on_update_) on_update_(iteration_);
  }
  void finalize() override { ++finalized; }
  void serialize(nn::Serializer& s) override { s("iteration", iteration_); }
  std::int64_t iteration() const override { return iteration_; }
  std::int64_t epoch() const override { return std::int64_t(std::floor(epoch_detail() + 1e-9)); }
  double epoch_detail() const override { return double(iteration_) / per_epoch_; }
  std::optional<double> previous_epoch_detail() const override {
    return iteration_ == 0 ? std::nullopt : std::optional<double>(double(iteration_ - 1) / per_epoch_);
  }
  bool is_new_epoch() const override {
    return iteration_ > 0 && std::floor(epoch_detail()) > std::floor(*previous_epoch_detail());
  }

  int finalized = 0;

 private:
  double per_epoch_;
  std::function<void(std::int64_t)> on_update_;
  std::int64_t iteration_ = 0;
};

}  // namespace test
