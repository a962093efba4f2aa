#include <catena/nn/functions/pooling.h>

#include <catena/autograd/function_node.h>
#include <catena/autograd/nn_extension.h>

namespace nn {

using autograd::apply_node;
using autograd::Array;
using autograd::Arrays;
using autograd::Dims;
using autograd::FunctionNode;
using autograd::nn_extension;
using autograd::PoolingSpec;
using autograd::Targets;
using autograd::Variables;

namespace {

class Pooling : public FunctionNode {
 public:
  explicit Pooling(const PoolingSpec& spec) : spec_(spec) {}
  void check_type_forward(const autograd::type_check::TypeInfoTuple& in_types) const override {
    using namespace autograd::type_check;
    expect(in_types.size() == 1, in_types[0].dtype.kind() == 'f', in_types[0].ndim == 4);
  }

 protected:
  PoolingSpec spec_;
};

Dims spatial_of(const autograd::Shape& s) { return {s[2], s[3]}; }

// The forward pass determines the maximum of each window. For fixed indexes, pooling (a gather) and its gradient (a
// scatter) are linear and adjoint to each other.
class MaxPoolingSpread final : public FunctionNode {
 public:
  MaxPoolingSpread(const PoolingSpec& spec, const Array& indexes, const Dims& spatial)
      : spec_(spec), indexes_(indexes), spatial_(spatial) {}
  std::string label() const override { return "MaxPooling2DGrad"; }
  Arrays forward(const Arrays& gy) override {
    return {nn_extension(gy[0]).max_pooling_backward(gy[0], indexes_, spatial_, spec_)};
  }
  Variables backward(const Targets&, const Variables& ggx) override;

 private:
  PoolingSpec spec_;
  Array indexes_;
  Dims spatial_;
};

class MaxPoolingPick final : public FunctionNode {
 public:
  MaxPoolingPick(const PoolingSpec& spec, const Array& indexes) : spec_(spec), indexes_(indexes) {}
  std::string label() const override { return "MaxPooling2DWithIndexes"; }
  Arrays forward(const Arrays& x) override { return {nn_extension(x[0]).max_pooling_by_index(x[0], indexes_, spec_)}; }
  Variables backward(const Targets&, const Variables& gy) override {
    return apply_node<MaxPoolingSpread>({gy[0]}, spec_, indexes_, spatial_of(input_shape(0)));
  }

 private:
  PoolingSpec spec_;
  Array indexes_;
};

Variables MaxPoolingSpread::backward(const Targets&, const Variables& ggx) {
  return apply_node<MaxPoolingPick>({ggx[0]}, spec_, indexes_);
}

class MaxPooling2D final : public Pooling {
 public:
  using Pooling::Pooling;
  std::string label() const override { return "MaxPooling2D"; }
  Arrays forward(const Arrays& x) override {
    const Arrays result = nn_extension(x[0]).max_pooling(x[0], spec_);
    indexes_ = result[1];
    return {result[0]};
  }
  const Array& indexes() const noexcept { return indexes_; }
  Variables backward(const Targets&, const Variables& gy) override {
    return apply_node<MaxPoolingSpread>({gy[0]}, spec_, indexes_, spatial_of(input_shape(0)));
  }

 private:
  Array indexes_;
};

class AveragePoolingSpread final : public FunctionNode {
 public:
  AveragePoolingSpread(const PoolingSpec& spec, const Dims& spatial) : spec_(spec), spatial_(spatial) {}
  std::string label() const override { return "AveragePooling2DGrad"; }
  Arrays forward(const Arrays& gy) override {
    return {nn_extension(gy[0]).average_pooling_backward(gy[0], spatial_, spec_)};
  }
  Variables backward(const Targets&, const Variables& ggx) override;

 private:
  PoolingSpec spec_;
  Dims spatial_;
};

class AveragePooling2D final : public Pooling {
 public:
  using Pooling::Pooling;
  std::string label() const override { return "AveragePooling2D"; }
  Arrays forward(const Arrays& x) override { return {nn_extension(x[0]).average_pooling(x[0], spec_)}; }
  Variables backward(const Targets&, const Variables& gy) override {
    return apply_node<AveragePoolingSpread>({gy[0]}, spec_, spatial_of(input_shape(0)));
  }
};

Variables AveragePoolingSpread::backward(const Targets&, const Variables& ggx) {
  return apply_node<AveragePooling2D>({ggx[0]}, spec_);
}

PoolingSpec spec_of(Pair ksize, const std::optional<Pair>& stride, Pair pad, bool cover_all) {
  const Pair step = stride.value_or(ksize);
  return {.size = {ksize.y, ksize.x}, .stride = {step.y, step.x}, .pad = {pad.y, pad.x}, .cover_all = cover_all};
}

}  // namespace

Variable max_pooling_2d(const Variable& x, Pair ksize, const MaxPoolingOptions& o) {
  return apply_node<MaxPooling2D>({x}, spec_of(ksize, o.stride, o.pad, o.cover_all))[0];
}

MaxPoolingResult max_pooling_2d(const Variable& x, Pair ksize, const MaxPoolingOptions& o, ReturnIndices) {
  const auto node = autograd::make_node<MaxPooling2D>(spec_of(ksize, o.stride, o.pad, o.cover_all));
  const Variable y = node->apply({x})[0];
  return {y, autograd::copy(node->indexes())};  // backward reads its own
}

Variable average_pooling_2d(const Variable& x, Pair ksize, const AveragePoolingOptions& o) {
  return apply_node<AveragePooling2D>({x}, spec_of(ksize, o.stride, o.pad, false))[0];
}

}  // namespace nn
