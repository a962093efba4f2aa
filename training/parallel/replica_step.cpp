#include <catena/training/parallel/replica_step.h>

#include <numeric>

#include <catena/autograd/current_device.h>
#include <catena/autograd/debug.h>
#include <catena/autograd/random_state.h>
#include <catena/kernels/random.h>

namespace training::internal {

using autograd::internal::DefaultDeviceScope;

bool has_pending_params(const Link& model) {
  bool pending = false;
  model.for_each_param([&](std::string_view, const Variable& p) { pending = pending || !p.data(); });
  return pending;
}

Variable compute_gradients(Link& model, const ReplicaLoss& loss_func, const Example& batch,
                           std::optional<Device> device, double loss_scale) {
  const auto scope = device ? DefaultDeviceScope(autograd::default_backend(), *device) : DefaultDeviceScope();
  model.cleargrads();  // frees their memory for the forward pass
  Variable loss;
  {
    const nn::internal::CallScope call(model);
    const auto backprop = autograd::force_backprop_mode();
    const Variables args = to_variables(batch);
    loss = loss_func ? loss_func(model, args) : model.call(args);
  }
  model.cleargrads();  // for parameters that the forward pass has made
  loss.backward({.loss_scale = loss_scale});
  return loss;
}

std::vector<double> shares_of(const std::vector<std::int64_t>& examples) {
  const auto total = double(std::accumulate(examples.begin(), examples.end(), std::int64_t(0)));
  std::vector<double> shares;
  for (const std::int64_t n : examples) shares.push_back(total > 0 ? double(n) / total : 1 / double(examples.size()));
  return shares;
}

void scale_gradients(const Link& model, double by) {
  if (by == 1) return;
  // Backward may have given one array to several parameters, so each parameter gets a new one.
  for (Variable p : model.params())
    if (const Array g = p.grad()) p.set_grad(g * by);
}

std::vector<std::uint64_t> replica_seeds(std::size_t count) {
  std::vector<std::uint64_t> seeds;
  if (count == 0) return seeds;
  autograd::Generator& g = autograd::default_generator();
  const std::uint64_t offset = g.take(4);
  for (std::size_t k = 0; k < count; ++k)
    seeds.push_back(catena::random_bits64(g.seed + 0x9e3779b97f4a7c15u * (k + 1), offset, 0));
  return seeds;
}

CallerState::CallerState()
    : modes_(autograd::internal::modes()),
      cudnn_modes_(autograd::internal::cudnn_modes()),
      entries_{.dtype = autograd::config().dtype, .keep_graph_on_report = autograd::config().keep_graph_on_report},
      tells_of_losses_(autograd::OwnLossWarning::is_active()),
      reporter_(nn::find_current_reporter()) {}

void CallerState::run(std::uint64_t seed, nn::Observation& reported, const catena::Function<void()>& f) const {
  autograd::internal::modes() = modes_;
  autograd::internal::modes().train_is_chosen = true;  // the caller has chosen it
  autograd::internal::cudnn_modes() = cudnn_modes_;
  const auto entries = autograd::using_config(entries_);
  const autograd::RandomScope random(seed);
  std::optional<autograd::OwnLossWarning> told;
  if (tells_of_losses_) told.emplace();
  if (reporter_ == nullptr) return f();
  // A reporter has one target, so every thread has a copy with its own.
  nn::Reporter copy = *reporter_;
  const nn::Reporter::Scope scope = copy.scope(reported);
  f();
}

void CallerState::report(const nn::Observation& reported) const {
  if (reporter_ == nullptr) return;
  for (const auto& [key, value] : reported) reporter_->observation().set(key, value);
}

}  // namespace training::internal
