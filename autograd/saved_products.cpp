#include <catena/autograd/saved_products.h>

#include <algorithm>
#include <atomic>
#include <string>
#include <type_traits>

#include <catena/autograd/backend/backend.h>
#include <catena/autograd/backend/scoped_backend.h>
#include <catena/autograd/function_options.h>
#include <catena/autograd/nn_extension/convolution.h>
#include <catena/autograd/nn_extension/layout.h>
#include <catena/kernels/base/retained.h>

namespace autograd {

CheckpointPolicy::CheckpointPolicy(Kind kind) : kind_(kind) {}
CheckpointPolicy::CheckpointPolicy(Chooses chooses) : kind_(Kind::chosen), chooses_(std::move(chooses)) {
  catena::check<catena::ValueError>(bool(chooses_), "CheckpointPolicy", "the function is empty");
}

CheckpointPolicy checkpoint_policies::save_only_these_labels(std::initializer_list<std::string_view> labels) {
  const std::vector<std::string> list(labels.begin(), labels.end());
  return CheckpointPolicy(
      [list](std::string_view label) { return std::find(list.begin(), list.end(), label) != list.end(); });
}

namespace internal {
namespace {

// A copy in the memory order of `a`.
Array kept_copy(const Array& a) {
  const Array result = empty_in_order_of(a, a.dtype());
  assign(result, a);
  return result;
}

// True for functions whose forward is a product. Such a forward uses at most the NnExtension of a backend, the only
// extension that Memory has.
bool is_product(const FunctionNode& f, std::string_view label) {
  if (label == "LinearFunction" || label == "einsum") return true;
  const auto* const described = dynamic_cast<const HasOptions*>(&f);
  if (described == nullptr) return false;
  FunctionOptions o;
  described->options(o);
  return o.function() == "MatMul" || o.function() == "Convolution" || o.function() == "Deconvolution";
}

}  // namespace

// While one function runs: a backend that passes all calls on, except for products.
class SavedProducts::Memory final : public Backend, public NnExtension {
 public:
  Memory(std::vector<Product>& products, bool first, const Array& model)
      : products_(products), first_(first), outer_(scoped_backend()), inner_(model.backend()), here_(this) {}

  std::string_view name() const override { return inner_.name(); }
  Device default_device() override {
    return passed_on([&](Backend& b) { return b.default_device(); });
  }
  Device exchange_default_device(Device device) override {
    return passed_on([&](Backend& b) { return b.exchange_default_device(device); });
  }
  Array empty(const Shape& shape, Dtype dtype, Device device) override {
    return passed_on([&](Backend& b) { return b.empty(shape, dtype, device); });
  }
  Array from_host(const void* data, const Shape& shape, Dtype dtype, Device device) override {
    return passed_on([&](Backend& b) { return b.from_host(data, shape, dtype, device); });
  }
  void to_host(const Array& a, void* data) override {
    passed_on([&](Backend& b) { b.to_host(a, data); });
  }
  Array to_device(const Array& a, Device device) override {
    return passed_on([&](Backend& b) { return b.to_device(a, device); });
  }
  void synchronize(Device device) override {
    passed_on([&](Backend& b) { b.synchronize(device); });
  }
  bool owns_memory(const Array& a) override {
    return passed_on([&](Backend& b) { return b.owns_memory(a); });
  }
  bool counts_writes(const Array& a) override {
    return passed_on([&](Backend& b) { return b.counts_writes(a); });
  }
  Array view(const Array& a, const Shape& shape, const Strides& strides, std::int64_t offset_bytes) override {
    return passed_on([&](Backend& b) { return b.view(a, shape, strides, offset_bytes); });
  }
  void execute(const catena::Call& call) override {
    const catena::call::Matmul* product = nullptr;
    call.visit([&](const auto& one) {
      if constexpr (std::is_same_v<std::decay_t<decltype(one)>, catena::call::Matmul>) product = &one;
    });
    const ScopedBackend outside(outer_);
    if (product == nullptr) return inner_.execute(call);
    const Array out(catena::retained(*product->out));
    if (const Array* const known = find(false, out.shape(), out.dtype())) return assign(out, *known);
    inner_.execute(call);
    keep(false, out);
  }

 protected:
  void* find_extension(std::string_view name, Device) override {
    return name == NnExtension::kName ? static_cast<NnExtension*>(this) : nullptr;
  }
  Array do_convolution(const Convolution& c) override {
    const ScopedBackend outside(outer_);
    const Array& near = c.images();
    const Shape& shape = c.pass == Convolution::Pass::forward ? c.y_shape
                         : c.pass == Convolution::Pass::data  ? c.x_shape
                                                              : c.w_shape;
    if (const Array* const known = find(true, shape, near.dtype())) return kept_copy(*known);
    const Array y = computed(nn_extension(near), c);
    keep(true, y);
    return y;
  }

 private:
  template <class F> std::invoke_result_t<F&, Backend&> passed_on(F f) {
    const ScopedBackend outside(outer_);
    return f(inner_);
  }
  static Array computed(NnExtension& nn, const Convolution& c) {
    if (c.pass == Convolution::Pass::forward) return nn.convolution(c.x, c.w, c.b, c.spec);
    if (c.pass == Convolution::Pass::data) return nn.convolution_backward_data(c.w, c.y, spatial_of(c.x_shape), c.spec);
    return nn.convolution_backward_filter(c.x, c.y, spatial_of(c.w_shape), c.x.dtype(), c.spec);
  }
  // Returns the result of the next product of the first call; null if it was another one.
  const Array* find(bool convolution, const Shape& shape, Dtype dtype) {
    if (first_ || at_ >= products_.size()) return nullptr;
    const Product& p = products_[at_];
    if (p.convolution != convolution || !(p.value.shape() == shape) || p.value.dtype() != dtype) return nullptr;
    ++at_;
    return &p.value;
  }
  void keep(bool convolution, const Array& a) {
    if (first_) products_.push_back({convolution, kept_copy(a)});
  }

  std::vector<Product>& products_;
  const bool first_;
  std::size_t at_ = 0;
  Backend* const outer_;
  Backend& inner_;
  const ScopedBackend here_;
};

SavedProducts::SavedProducts(const CheckpointPolicy& policy)
    : policy_(policy), number_([] {
        static std::atomic<std::uint64_t> count{0};
        return count.fetch_add(1, std::memory_order_relaxed);
      }()) {}
SavedProducts::~SavedProducts() = default;

void SavedProducts::begin(bool first) {
  first_ = first;
  next_ = 0;
}

std::string SavedProducts::name() const { return catena::concat("autograd::checkpoint ", number_); }

void SavedProducts::forward_preprocess(const FunctionNode& function, const Arrays& in_data) {
  const std::string label = function.label();
  open_.emplace_back();
  if (std::any_of(open_.begin(), open_.end(), [](const auto& m) { return bool(m); })) return;
  if (!policy_.keeps(label) || !is_product(function, label)) return;
  if (first_) functions_.push_back({label, {}});
  const std::size_t at = next_++;
  if (at >= functions_.size() || functions_[at].label != label) return;
  open_.back() = catena::Owned<Memory>(new Memory(functions_[at].products, first_, in_data[0]));
}
void SavedProducts::forward_postprocess(const FunctionNode&, const Arrays&) { open_.pop_back(); }
void SavedProducts::failed(const FunctionNode&) noexcept { open_.pop_back(); }

}  // namespace internal
}  // namespace autograd
