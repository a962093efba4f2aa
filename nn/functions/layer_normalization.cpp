// Normalization of rows: of layers, groups of channels, instances, and by the root of the mean square.
#include <algorithm>

#include <catena/autograd/function_node.h>
#include <catena/autograd/function_options.h>
#include <catena/autograd/functions/array.h>
#include <catena/autograd/functions/math.h>
#include <catena/autograd/functions/reduction.h>
#include <catena/autograd/group_normalization_extension.h>
#include <catena/autograd/variable_node.h>
#include <catena/kernels/registry/families.h>
#include <catena/nn/functions/composed.h>
#include <catena/nn/functions/normalization.h>

namespace nn {

using autograd::Arrays;
using autograd::Dims;
using autograd::Dtype;
using autograd::FunctionNode;
using autograd::GroupNormalizationExtension;
using autograd::Operand;
using autograd::Shape;
using autograd::Targets;
using autograd::Variables;
using autograd::internal::constant_variable;
using autograd::type_check::TypeInfoTuple;
using internal::narrowed;

namespace {

// The rows of x whose statistics are computed, and the position of the parameters in them.
struct RowLayout {
  Shape shape;        // x is reshaped to it
  Dims axes, others;  // axes of the statistics; axes over which the gradients of the parameters are summed
  Shape kept;         // the parameters are reshaped to it, for broadcasting
};

// The parameters have the shape of the last axes of x, over which the statistics are computed.
RowLayout last_axes(const Shape& x, const Shape& params) {
  RowLayout l{x, {}, {}, Shape::filled(x.size(), 1)};
  for (int a = 0; a < x.size(); ++a) {
    if (a < x.size() - params.size()) {
      l.others.push_back(a);
    } else {
      l.axes.push_back(a);
      l.kept[a] = x[a];
    }
  }
  return l;
}

// The statistics are computed over the channels of a group and all axes behind; the parameters belong to channels.
RowLayout channel_groups(const Shape& x, std::int64_t groups) {
  std::int64_t positions = 1;
  for (int a = 2; a < x.size(); ++a) positions *= x[a];
  const std::int64_t channels = x[1] / groups;
  return {{x[0], groups, channels, positions}, {2, 3}, {0, 3}, {1, groups, channels, 1}};
}

// Checks that x is floating and that the parameters, the other inputs, have one dtype: that of x, or float32 beside
// 16-bit floats.
void expect_parameter_dtypes(const TypeInfoTuple& in_types) {
  using namespace autograd::type_check;
  expect(in_types[0].dtype.kind() == 'f');
  const bool mixed = catena::itemsize(in_types.dtype(0)) == 2 && in_types.dtype(1) == Dtype::float32;
  for (int k = 1; k < int(in_types.count()); ++k)
    if (mixed) expect(in_types[k].dtype == in_types[1].dtype);
    else expect(in_types[k].dtype == in_types[0].dtype);
}

void expect_last_axes(const TypeInfoTuple& in_types) {
  using namespace autograd::type_check;
  expect_parameter_dtypes(in_types);
  expect(in_types[1].ndim >= 1, in_types[0].ndim >= in_types[1].ndim);
  const int first = in_types.shape(0).size() - in_types.shape(1).size();
  for (int k = 1; k < int(in_types.count()); ++k) {
    expect(in_types[k].ndim == in_types[1].ndim);
    for (int a = 0; a < in_types.shape(1).size(); ++a) expect(in_types[k].shape[a] == in_types[0].shape[first + a]);
  }
}

void expect_groups(const TypeInfoTuple& in_types, std::int64_t groups) {
  using namespace autograd::type_check;
  expect_parameter_dtypes(in_types);
  expect(in_types[0].ndim >= 2);
  for (int k = 1; k < 3; ++k) expect(in_types[k].ndim == 1, in_types[k].shape[0] == in_types[0].shape[1]);
  expect(in_types[0].shape[1] % variable(groups, "groups") == 0);
}

Variable reshaped(const Variable& x, const Shape& shape) { return x.shape() == shape ? x : reshape(x, shape); }

// Returns the gradients of the targets.
Variables selected(const Targets& targets, const Variables& all) {
  Variables gradients;
  for (const int target : targets) gradients.push_back(all[static_cast<std::size_t>(target)]);
  return gradients;
}
bool is_any_parameter(const Targets& targets) {
  return std::any_of(targets.begin(), targets.end(), [](int target) { return target > 0; });
}

// Layer normalization, or, with a number of groups, group normalization.
class RowNormalization final : public FunctionNode, public autograd::internal::HasOptions {
 public:
  RowNormalization(double inside, double outside, std::int64_t groups = 0)
      : inside_(inside), outside_(outside), groups_(groups) {}
  std::string label() const override { return groups_ > 0 ? "GroupNormalization" : "LayerNormalization"; }
  void options(autograd::internal::FunctionOptions& o) const override {
    o.number("inside", inside_);
    o.number("outside", outside_);
    o.integer("groups", groups_);
  }
  std::string_view input_names() const override { return "x gamma beta"; }
  void check_type_forward(const TypeInfoTuple& in_types) const override {
    autograd::type_check::expect(in_types.size() == 3);
    if (groups_ > 0) expect_groups(in_types, groups_);
    else expect_last_axes(in_types);
  }

  Arrays forward(const Arrays& in) override {
    retain_inputs({0, 1});
    const RowLayout l = layout_of(in[0].shape(), in[1].shape());
    const Array x = autograd::reshape(in[0], l.shape);
    if (auto* const groups = whole_groups(x)) return {normalized_groups(*groups, x, in)};
    const Operand operands[] = {
        x, origin_of(x, l), autograd::reshape(in[1], l.kept), autograd::reshape(in[2], l.kept), inside_, outside_};
    Arrays result = autograd::row_wise(catena::kernels::layer_norm_fwd, operands, l.axes);
    center_ = result[1];
    scale_ = result[2];
    return {autograd::astype(autograd::reshape(result[0], in[0].shape()), in[0].dtype())};
  }

  Variables backward(const Targets& targets, const Variables& gy) override {
    const Variable x = retained_input(0), gamma = retained_input(1);
    const RowLayout l = layout_of(x.shape(), gamma.shape());
    return selected(targets, needs_double_backprop() && x.size() > 0 ? rule(x, gamma, gy[0], l)
                                                                     : fused(targets, x, gamma, gy[0], l));
  }

 private:
  RowLayout layout_of(const Shape& x, const Shape& params) const {
    return groups_ > 0 ? channel_groups(x, groups_) : last_axes(x, params);
  }
  static Array origin_of(const Array& x, const RowLayout& l) {
    Array first = x;
    for (const std::int64_t axis : l.axes) first = autograd::slice(first, int(axis), 0, 1);
    return first;
  }

  // The kernels for whole groups, null where rows are faster. x has the shape of its layout.
  GroupNormalizationExtension* whole_groups(const Array& x) const {
    if (groups_ == 0) return nullptr;
    auto* const kernels = x.backend().extension<GroupNormalizationExtension>(x.device());
    return kernels != nullptr && kernels->takes(x) ? kernels : nullptr;
  }
  // The parameter in the dtype of the computation.
  static Array for_groups(const Array& parameter, const Array& x) {
    return autograd::contiguous(autograd::astype(parameter, catena::compute_dtype(x.dtype())));
  }
  Array normalized_groups(GroupNormalizationExtension& kernels, const Array& x, const Arrays& in) {
    const Array rows = autograd::contiguous(x), y = autograd::empty_like(rows);
    center_ = x.backend().empty({x.shape(0), x.shape(1), 1, 1}, catena::compute_dtype(x.dtype()), x.device());
    scale_ = autograd::empty_like(center_);
    kernels.forward(rows, for_groups(in[1], x), for_groups(in[2], x), inside_, y, center_, scale_);
    return autograd::reshape(y, in[0].shape());
  }
  // The gradients of x, gamma and beta.
  Arrays group_gradients(GroupNormalizationExtension& kernels, const Array& x, const Array& gy,
                         const Array& gamma) const {
    const Array rows = autograd::contiguous(x), weights = for_groups(gamma, x), gx = autograd::empty_like(rows),
                ggamma = autograd::empty_like(weights), gbeta = autograd::empty_like(weights);
    kernels.backward(rows, autograd::contiguous(autograd::astype(gy, x.dtype())), weights, center_, scale_, gx, ggamma,
                     gbeta);
    return {gx, ggamma, gbeta};
  }

  // The axes over which the gradients of the parameters of groups are summed first. If a channel has few positions,
  // these are the images, because a loop over images has long rows: all channels of a group.
  static Dims first_sums(const RowLayout& l) {
    constexpr std::int64_t kFewPositions = 64;
    return l.shape[0] > 1 && l.shape[3] < kFewPositions ? Dims{0} : l.others;
  }

  Variables fused(const Targets& targets, const Variable& x_given, const Variable& gamma, const Variable& gy_given,
                  const RowLayout& l) const {
    const Array x = autograd::reshape(x_given.data(), l.shape), gy = autograd::reshape(gy_given.data(), l.shape);
    const auto of_x = [&](const Array& a) {
      return constant_variable(autograd::astype(autograd::reshape(a, x_given.shape()), x_given.dtype()));
    };
    const auto of_parameter = [&](const Array& a) {
      return constant_variable(autograd::reshape(autograd::astype(a, gamma.dtype()), gamma.shape()));
    };
    if (auto* const groups = whole_groups(x)) {
      const Arrays g = group_gradients(*groups, x, gy, gamma.data());
      return {of_x(g[0]), of_parameter(g[1]), of_parameter(g[2])};
    }
    const Array origin = origin_of(x, l);
    const Operand operands[] = {x, gy, origin, autograd::reshape(gamma.data(), l.kept), center_, scale_, outside_};
    if (groups_ == 0 && is_any_parameter(targets)) {
      const Operand of_gamma[] = {x, gy, origin, center_, scale_}, of_beta[] = {gy};
      const autograd::SumOverRows sums[] = {{&catena::kernels::layer_norm_ggamma, of_gamma}, {nullptr, of_beta}};
      const Arrays g = autograd::row_wise_and_sums(catena::kernels::layer_norm_bwd, operands, l.axes, sums);
      return {of_x(g[0]), of_parameter(g[1]), of_parameter(g[2])};
    }
    const Variable gx = of_x(autograd::row_wise(catena::kernels::layer_norm_bwd, operands, l.axes)[0]);
    if (!is_any_parameter(targets)) return {gx, {}, {}};
    const Dims over = first_sums(l);
    const Array ggamma = autograd::map_reduce(catena::kernels::sum, catena::kernels::layer_norm_ggamma,
                                              {x, gy, origin, center_, scale_}, over, true);
    const Array gbeta = autograd::reduce(catena::kernels::sum, gy, over, true, catena::compute_dtype(gy.dtype()));
    const auto total = [&](const Array& sums) { return over == l.others ? sums : autograd::sum(sums, l.others, true); };
    return {gx, of_parameter(total(ggamma)), of_parameter(total(gbeta))};
  }

  // The same on Variables. Recomputes the statistics, so that they are differentiated, too. The result does not depend
  // on the origin.
  Variables rule(const Variable& x_given, const Variable& gamma_given, const Variable& gy_given,
                 const RowLayout& l) const {
    const Dtype t = catena::compute_dtype(x_given.dtype());
    const Variable gy = reshaped(cast(gy_given, t), l.shape), gamma = reshape(cast(gamma_given, t), l.kept);
    const Array origin = origin_of(autograd::reshape(x_given.data(), l.shape), l);
    const Variable x = reshaped(cast(x_given, t), l.shape) - autograd::astype(origin, t);
    const Variable centred = x - mean(x, l.axes, true);
    const Variable sigma = sqrt(mean(square(centred), l.axes, true) + inside_);
    const Variable xhat = centred / (sigma + outside_), h = gamma * gy;
    const Variable slope = mean(h * xhat, l.axes, true) * (outside_ / sigma + 1);
    const Variable gx = (h - mean(h, l.axes, true) - xhat * slope) / (sigma + outside_);
    const auto parameter = [&](const Variable& g) {
      return cast(reshaped(sum(g, l.others), gamma_given.shape()), gamma_given.dtype());
    };
    return {cast(reshaped(gx, x_given.shape()), x_given.dtype()), parameter(gy * xhat), parameter(gy)};
  }

  double inside_, outside_;
  std::int64_t groups_;
  Array center_, scale_;
};

class RMSNormalization final : public FunctionNode, public autograd::internal::HasOptions {
 public:
  explicit RMSNormalization(double eps) : eps_(eps) {}
  std::string label() const override { return "RMSNormalization"; }
  void options(autograd::internal::FunctionOptions& o) const override { o.number("eps", eps_); }
  std::string_view input_names() const override { return "x gamma"; }
  void check_type_forward(const TypeInfoTuple& in_types) const override { expect_last_axes(in_types); }

  Arrays forward(const Arrays& in) override {
    retain_inputs({0, 1});
    const RowLayout l = last_axes(in[0].shape(), in[1].shape());
    const Operand operands[] = {in[0], autograd::reshape(in[1], l.kept), eps_};
    Arrays result = autograd::row_wise(catena::kernels::rms_norm_fwd, operands, l.axes);
    scale_ = result[1];
    return {autograd::astype(result[0], in[0].dtype())};
  }

  Variables backward(const Targets& targets, const Variables& gy) override {
    const Variable x = retained_input(0), gamma = retained_input(1);
    const RowLayout l = last_axes(x.shape(), gamma.shape());
    return selected(targets, needs_double_backprop() && x.size() > 0 ? rule(x, gamma, gy[0], l)
                                                                     : fused(targets, x, gamma, gy[0], l));
  }

 private:
  Variables fused(const Targets& targets, const Variable& x, const Variable& gamma, const Variable& gy,
                  const RowLayout& l) const {
    const Operand operands[] = {x.data(), gy.data(), autograd::reshape(gamma.data(), l.kept), scale_};
    const auto of_x = [&](const Array& a) { return constant_variable(autograd::astype(a, x.dtype())); };
    if (!is_any_parameter(targets))
      return {of_x(autograd::row_wise(catena::kernels::rms_norm_bwd, operands, l.axes)[0]), {}};
    const Operand of_gamma[] = {x.data(), gy.data(), scale_};
    const autograd::SumOverRows sums[] = {{&catena::kernels::rms_norm_ggamma, of_gamma}};
    const Arrays g = autograd::row_wise_and_sums(catena::kernels::rms_norm_bwd, operands, l.axes, sums);
    return {of_x(g[0]), constant_variable(autograd::reshape(autograd::astype(g[1], gamma.dtype()), gamma.shape()))};
  }

  // The same on Variables, with the scale computed again, so that it is differentiated, too.
  Variables rule(const Variable& x_given, const Variable& gamma_given, const Variable& gy_given,
                 const RowLayout& l) const {
    const Dtype t = catena::compute_dtype(x_given.dtype());
    const Variable x = cast(x_given, t), gy = cast(gy_given, t), gamma = reshape(cast(gamma_given, t), l.kept);
    const Variable scale = rsqrt(mean(square(x), l.axes, true) + eps_), xhat = x * scale, h = gamma * gy;
    const Variable gx = scale * (h - xhat * mean(h * xhat, l.axes, true));
    return {cast(gx, x_given.dtype()), cast(sum(gy * xhat, l.others), gamma_given.dtype())};
  }

  double eps_;
  Array scale_;
};

// Returns the parameter, or a constant for one that is not given.
Variable or_constant(const Variable& parameter, double value, const Variable& x, const Shape& shape, Dtype dtype) {
  return parameter ? parameter : autograd::as_variable(autograd::arrays::full(shape, value, dtype, x.device()));
}

// Returns the shape of parameters that are not given: they lie along one axis of x.
Shape axis_of(const char* op, const Variable& x, int axis) {
  catena::check<catena::TypeError>(bool(x), op, "x is null");
  const int at = axis < 0 ? x.ndim() + axis : axis;
  if (at < 0 || at >= x.ndim())
    throw catena::InvalidType(catena::concat("x.ndim >= ", axis < 0 ? -axis : axis + 1),
                              catena::concat(x.ndim(), " < ", axis < 0 ? -axis : axis + 1));
  return {x.shape(at)};
}

}  // namespace

Variable layer_normalization(const Variable& x, const Variable& gamma, const Variable& beta, double eps,
                             EpsAddedTo where) {
  // Without an eps inside the root, the derivative at a row of equal elements would be infinite.
  constexpr double kTiny = 1e-37;  // a normal number in float32, far below any variance
  const bool inside = where == EpsAddedTo::variance;
  return autograd::apply_node<RowNormalization>({x, gamma, beta}, inside ? eps : kTiny, inside ? 0.0 : eps)[0];
}

Variable group_normalization(const Variable& x, int groups, const Variable& gamma, const Variable& beta, double eps) {
  constexpr const char* op = "group_normalization";
  catena::check<catena::ValueError>(groups >= 1, op, "there are ", groups, " groups; at least 1 is needed");
  const Shape channels = axis_of(op, x, 1);
  const Dtype t = gamma ? gamma.dtype() : beta ? beta.dtype() : x.dtype();
  return autograd::apply_node<RowNormalization>(
      {x, or_constant(gamma, 1, x, channels, t), or_constant(beta, 0, x, channels, t)}, eps, 0.0, groups)[0];
}

Variable instance_normalization(const Variable& x, const Variable& gamma, const Variable& beta, double eps) {
  const std::int64_t channels = axis_of("instance_normalization", x, 1)[0];
  return group_normalization(x, int(std::max<std::int64_t>(channels, 1)), gamma, beta, eps);
}

Variable rms_normalization(const Variable& x, const Variable& gamma, double eps) {
  return autograd::apply_node<RMSNormalization>(
      {x, or_constant(gamma, 1, x, axis_of("rms_normalization", x, -1), x.dtype())}, eps)[0];
}

}  // namespace nn
