// Updates of 16-bit parameters in float32: a copy of each parameter in that dtype, its gradients and its states.
#include <algorithm>
#include <array>
#include <utility>

#include <catena/autograd/array_backend.h>
#include <catena/autograd/capture.h>
#include <catena/kernels/base/error.h>
#include <catena/training/optimizer.h>
#include <catena/training/optimizer_parts.h>

namespace training {

using autograd::Dtype;

namespace {

bool is_16_bit(Dtype dtype) { return dtype == Dtype::float16 || dtype == Dtype::bfloat16; }

const catena::Storage* storage_of(const Array& a) { return a->base != nullptr ? a->base->storage : a->storage; }

std::uint64_t number_of_writes(const Array& a) {
  const catena::Storage* const storage = storage_of(a);
  return storage == nullptr ? 0 : storage->version.load(catena::MemoryOrder::acquire);
}

// A launch of the kernel that converts tensors of one pair of dtypes on one device.
struct Conversion {
  std::array<Dtype, 2> types;
  autograd::Backend* backend;
  autograd::Device device;
  std::vector<catena::ArrayHeader*> operands = {};
  bool takes(const Array& from, const Array& to) const {
    return types[0] == from.dtype() && types[1] == to.dtype() && backend == &to.backend() && device == to.device();
  }
};

int conversion_loop(const catena::KernelDef& kernel, const std::array<Dtype, 2>& types) {
  for (int i = 0; i < int(kernel.num_loops); ++i)
    if (kernel.loop_table[i].type[0] == types[0] && kernel.loop_table[i].type[1] == types[1]) return i;
  catena::fail<catena::TypeError>("use_fp32_update", "gradients of ", types[0], " do not become ", types[1]);
}

}  // namespace

// Neighbours mostly belong to one launch.
void internal::convert_tensors(std::span<const std::pair<Array, Array>> from_to) {
  std::vector<Conversion> launches;
  for (const auto& [from, to] : from_to) {
    if (from.size() == 0) continue;
    if (!from.is_c_contiguous() || !to.is_c_contiguous()) {
      autograd::assign(to, from);
      continue;
    }
    auto at = std::find_if(launches.begin(), launches.end(),
                           [&, f = from, t = to](const Conversion& c) { return c.takes(f, t); });
    if (at == launches.end()) at = launches.insert(at, {{from.dtype(), to.dtype()}, &to.backend(), to.device()});
    at->operands.push_back(from.get());
    at->operands.push_back(to.get());
  }
  const catena::KernelDef& kernel = catena::kernels::convert_tensors;
  const catena::Hyper none{};
  for (const Conversion& c : launches)
    c.backend->execute(catena::call::MultiTensor{
        &kernel, conversion_loop(kernel, c.types), c.operands, {&none, 1}, {}, nullptr, nullptr});
}

bool Optimizer::is_in_fp32(const Slot& s) const {
  return fp32_update_ && s.param.param.data() && is_16_bit(s.param.param.dtype());
}

Dtype Optimizer::update_dtype(const Slot& s) const { return is_in_fp32(s) ? Dtype::float32 : s.param.param.dtype(); }

void Optimizer::use_fp32_update(bool use) {
  if (use == fp32_update_) return;
  fp32_update_ = use;
  for (Slot& s : slots_) {
    s.fp32_param = s.fp32_source = {};
    if (rule_.kernel == nullptr || s.states.empty() || !is_16_bit(s.param.param.dtype())) continue;
    for (Array& state : s.states) state = autograd::astype(state, update_dtype(s));
  }
  ++changes_;
}

// Makes the copy, or takes over the elements of the parameter that something else than the update has written: those
// that the copy does not round to. Captured work, whose replays cannot compare numbers of writes, always looks.
void Optimizer::refresh_fp32_param(Slot& s) {
  const Array& p = s.param.param.data();
  if (!s.fp32_param || s.fp32_param.shape() != p.shape() || s.fp32_param->owner != p->owner) {
    s.fp32_param = autograd::copy(autograd::astype(p, Dtype::float32));
    return;
  }
  if (!(s.fp32_param.device() == p.device())) s.fp32_param = autograd::to_device(s.fp32_param, p.device());
  if (!autograd::is_capturing() && s.fp32_source && s.fp32_source.get() == p.get() && p.backend().counts_writes(p) &&
      s.fp32_writes == number_of_writes(p))
    return;
  const Array rounded = autograd::astype(s.fp32_param, p.dtype());
  const Array same = autograd::apply(catena::kernels::equal, {rounded, p});
  autograd::assign(s.fp32_param, autograd::where(same, s.fp32_param, autograd::astype(p, Dtype::float32)));
}

void Optimizer::round_fp32_params() {
  std::vector<std::pair<Array, Array>> rounded;
  for (const Slot& s : slots_)
    if (is_in_fp32(s) && s.is_updated()) rounded.emplace_back(s.fp32_param, s.param.param.data());
  if (rounded.empty()) return;
  internal::convert_tensors(rounded);
  for (Slot& s : slots_) {
    if (!is_in_fp32(s) || !s.is_updated()) continue;
    s.fp32_source = s.param.param.data();
    s.fp32_writes = number_of_writes(s.fp32_source);
  }
}

void Optimizer::serialize_fp32_param(Serializer& s, Slot& slot) {
  if (!is_in_fp32(slot)) return;
  if (!s.is_writer() && !slot.fp32_param && s.contains("fp32_param")) {  // frozen, or updated by another rank
    refresh_fp32_param(slot);
    s.on_rollback([this, path = slot.param.path] {
      for (Slot& known : slots_)
        if (known.param.path == path) known.fp32_param = {};
    });
  }
  if (!slot.fp32_param) return;
  if (s.is_writer() || s.contains("fp32_param")) s("fp32_param", slot.fp32_param);
}

}  // namespace training
