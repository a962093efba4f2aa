#include <catena/nn/functions/noise.h>

#include <catena/autograd/capture.h>
#include <catena/autograd/function_node.h>
#include <catena/kernels/rows/families.h>

namespace nn {

using autograd::Array;
using autograd::Arrays;
using autograd::FunctionNode;
using autograd::Targets;
using autograd::Variables;

namespace {

class Dropout final : public FunctionNode {
 public:
  Dropout(double ratio, std::uint64_t seed, const autograd::Operand& offset)
      : ratio_(ratio), seed_(seed), offset_(offset) {}
  std::string label() const override { return "Dropout"; }
  std::string_view input_names() const override { return "x"; }
  void check_type_forward(const autograd::type_check::TypeInfoTuple& in_types) const override {
    using namespace autograd::type_check;
    expect(in_types.size() == 1, in_types[0].dtype.kind() == 'f');
  }
  Arrays forward(const Arrays& x) override { return {masked(x[0])}; }
  Array mask(const Array& x) const { return masked(autograd::ones_like(x)); }
  // Multiplies by the same mask, recomputed from the seed.
  Variables backward(const Targets&, const Variables& gy) override {
    return autograd::apply_node<Dropout>({gy[0]}, ratio_, seed_, offset_);
  }

 private:
  Array masked(const Array& x) const {
    const Array y = autograd::empty_like(x);
    const autograd::Operand operands[] = {x, catena::Scalar(seed_), offset_, ratio_};
    autograd::apply_indexed(catena::rows::dropout, operands, {&y, 1});
    return y;
  }
  double ratio_;
  std::uint64_t seed_;
  autograd::Operand offset_;
};

// Null when x passes unchanged.
autograd::NodePtr<Dropout> node_of(const Variable& x, const DropoutOptions& o) {
  catena::check<catena::ValueError>(o.ratio >= 0 && o.ratio < 1, "dropout", "the ratio ", o.ratio,
                                    " does not lie in [0, 1)");
  if (!o.train.value_or(autograd::internal::modes().train)) return autograd::NodePtr<Dropout>(nullptr);
  autograd::Generator& g = autograd::default_generator();
  const autograd::Operand offset = autograd::live_scalar(
      x.device(), g.take(x.size()), [n = x.size()] { return autograd::default_generator().take(n); });
  return autograd::make_node<Dropout>(o.ratio, g.seed, offset);
}

}  // namespace

Variable internal::dropout(const Variable& x, const DropoutOptions& o) {
  const auto node = node_of(x, o);
  return node.get() == nullptr ? x : node->apply({x})[0];
}

DropoutResult dropout_with_mask(const Variable& x, const DropoutOptions& o) {
  const auto node = node_of(x, o);
  if (node.get() == nullptr) return {x, autograd::ones_like(x.data())};
  const Variable y = node->apply({x})[0];  // checks the dtype
  return {y, node->mask(x.data())};
}

}  // namespace nn
