// Loss scaling. The scale and its counters are arrays on the device of the first parameter, so that captured work uses
// and changes them.
#include <map>
#include <tuple>

#include <catena/autograd/capture.h>
#include <catena/autograd/variable_node.h>
#include <catena/kernels/base/error.h>
#include <catena/kernels/registry/families.h>
#include <catena/training/optimizer.h>

namespace training {

using autograd::Device;
using autograd::Dtype;
using catena::check;
using catena::ValueError;
namespace kernels = catena::kernels;

struct Optimizer::LossScaling {
  std::int64_t interval;
  bool is_dynamic;
  // The values with which the arrays begin, once the device is known.
  double first_scale, first_clean = 0, first_skipped = 0;
  Array scale = {}, clean = {}, skipped = {};  // 0-d; the numbers of updates in a row without a skip, and of skips
  Array finite = {};                           // 0-d bool: whether the gradients of this update are finite

  static double value(const Array& a, double first) { return a ? autograd::item(a).to_double() : first; }
  void place(Device device) {
    if (scale && scale.device() == device) return;
    check<catena::RuntimeError>(!autograd::is_capturing(), "loss_scaling",
                                "the scale is made in work that is being captured (run the work once before)");
    const auto array = [&](const Array& a, double first) {
      return autograd::arrays::full({}, value(a, first), Dtype::float32, device);
    };
    scale = array(scale, first_scale);
    clean = array(clean, first_clean);
    skipped = array(skipped, first_skipped);
  }
  struct Numbers {
    double scale, clean, skipped;
  };
  Numbers numbers() const {
    return {value(scale, first_scale), value(clean, first_clean), value(skipped, first_skipped)};
  }
  void set(const Numbers& n) {
    first_scale = n.scale;
    first_clean = n.clean;
    first_skipped = n.skipped;
    if (!scale) return;
    autograd::fill(scale, n.scale);  // captured work has the arrays
    autograd::fill(clean, n.clean);
    autograd::fill(skipped, n.skipped);
  }
  // Changes the scale after an update, by `finite`.
  void adapt() {
    const auto apply = [](const catena::KernelDef& kernel, const autograd::Operand& a, const autograd::Operand& b) {
      return autograd::apply(kernel, {a, b});
    };
    const Array count = clean + 1;
    const Array grows = apply(kernels::greater_equal, count, double(interval));
    const Array larger = autograd::where(grows, apply(kernels::minimum, scale * 2, 0x1p120), scale);
    autograd::assign(scale, autograd::where(finite, larger, apply(kernels::maximum, scale * 0.5, 1)));
    autograd::assign(clean, autograd::where(finite, autograd::where(grows, 0.f, count), 0.f));
    autograd::assign(skipped, autograd::where(finite, skipped, skipped + 1));
  }
};

void Optimizer::loss_scaling(std::int64_t interval, std::optional<double> scale) {
  check<ValueError>(interval >= 1, "loss_scaling", "the interval is ", interval, "; it must be at least 1");
  check<ValueError>(scale.value_or(1) > 0, "loss_scaling", "the scale is ", scale.value_or(1), "; it must be positive");
  scaling_ = catena::Owned<LossScaling>(new LossScaling{interval, !scale, scale.value_or(0x1p16)});
  ++changes_;
}

double Optimizer::loss_scale() const {
  return scaling_ ? LossScaling::value(scaling_->scale, scaling_->first_scale) : 1;
}

std::int64_t Optimizer::skipped_updates() const {
  return scaling_ ? static_cast<std::int64_t>(LossScaling::value(scaling_->skipped, scaling_->first_skipped)) : 0;
}

void Optimizer::seed_scaled(const Variable& loss) {
  if (!loss || loss.creator() == nullptr || loss.grad() || loss.size() != 1) return;  // as without a scale
  scaling_->place(loss.device());
  Variable(loss).set_grad(autograd::reshape(autograd::astype(scaling_->scale, loss.dtype()), loss.shape()));
}

// Divides the gradients by the scale, and finds whether they are finite, with three kernels for all of a dtype and
// device, whose gradients become parts of one array. Returns false if the update is to be skipped.
bool Optimizer::unscale_gradients() {
  std::map<std::tuple<Dtype, Device::Kind, int>, std::vector<Slot*>> groups;
  for (Slot& s : slots_) {
    if (!s.takes_part() || !s.has_grad() || s.param.param.size() == 0) continue;
    const Array& p = s.param.param.data();
    groups[{p.dtype(), p.device().kind, p.device().id}].push_back(&s);
  }
  if (groups.empty()) return true;
  LossScaling& scaling = *scaling_;
  if (!scaling.scale) scaling.place(groups.begin()->second[0]->param.param.device());
  scaling.finite = {};
  for (const auto& [key, slots] : groups) {
    std::vector<Array> flat;
    for (const Slot* s : slots) flat.push_back(autograd::reshape(s->param.param.grad(), {s->param.param.size()}));
    const Array scaled = autograd::concatenate(flat);
    const Array scale = autograd::to_device(scaling.scale, scaled.device());
    if (scaling.is_dynamic) {
      const Array finite =
          autograd::to_device(autograd::map_reduce(kernels::all, kernels::isfinite, {scaled}), scaling.scale.device());
      scaling.finite = scaling.finite ? autograd::apply(kernels::logical_and, {scaling.finite, finite}) : finite;
    }
    const Array unscaled = autograd::astype(autograd::apply(kernels::true_divide, {scaled, scale}), scaled.dtype());
    std::int64_t at = 0;
    for (Slot* s : slots) {
      Variable& p = s->param.param;
      p.set_grad(autograd::reshape(autograd::slice(unscaled, 0, at, at + p.size()), p.shape()));
      at += p.size();
    }
  }
  if (!scaling.is_dynamic) return true;
  scaling.adapt();
  return autograd::is_capturing() || autograd::item(scaling.finite).to<bool>();
}

// In captured work, whose replays cannot skip the update.
void Optimizer::launch_if_finite() {
  std::vector<std::pair<Array, Array>> written;  // arrays that the update writes, and copies of them
  const auto keep = [&](const Array& a) { written.emplace_back(a, autograd::copy(a)); };
  if (scaling_->finite)
    for (const Slot& s : slots_) {
      if (!s.is_updated()) continue;
      keep(s.param.param.data());
      if (is_in_fp32(s)) keep(s.fp32_param);
      for (const Array& state : s.states) keep(state);
    }
  autograd::watch_array("the loss scale", [this] { return scaling_ ? scaling_->scale : Array(); });
  launch();
  for (const auto& [array, before] : written)
    autograd::assign(array, autograd::where(autograd::to_device(scaling_->finite, array.device()), array, before));
}

void Optimizer::serialize_scaling(Serializer& s) {
  const LossScaling::Numbers before = scaling_->numbers();
  LossScaling::Numbers stored = before;
  const auto number = [&](const char* key, double& value) {
    if (s.is_writer() || s.contains(key)) s(key, value);
  };
  number("loss_scale", stored.scale);
  number("loss_scale_updates", stored.clean);
  number("loss_scale_skipped", stored.skipped);
  if (s.is_writer()) return;
  s.on_rollback([this, before] { scaling_->set(before); });
  scaling_->set(stored);
}

}  // namespace training
