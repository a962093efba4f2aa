#include <catena/nn/functions/normalization.h>

#include <algorithm>

#include <catena/autograd/function_node.h>
#include <catena/autograd/function_options.h>
#include <catena/autograd/functions/array.h>
#include <catena/autograd/functions/math.h>
#include <catena/autograd/functions/reduction.h>
#include <catena/autograd/nn_extension.h>
#include <catena/autograd/variable_node.h>
#include <catena/kernels/registry/families.h>
#include <catena/nn/functions/batch_layout.h>
#include <catena/nn/functions/composed.h>

namespace nn {

using autograd::Arrays;
using autograd::Dtype;
using autograd::FunctionNode;
using autograd::nn_extension;
using autograd::Operand;
using autograd::Targets;
using autograd::Variables;
using autograd::internal::constant_variable;
using autograd::type_check::TypeInfoTuple;

namespace {

// 16-bit floats: statistics are computed in float32.
Dtype statistics_dtype(Dtype t) { return catena::compute_dtype(t); }

class BatchNormalization final : public FunctionNode, public autograd::internal::HasOptions {
 public:
  // The running averages of the options are left alone, replaced by new arrays, or updated in place.
  enum class Averages : unsigned char { unused, in_new_arrays, in_place };

  explicit BatchNormalization(const BatchNormalizationOptions& o, Averages averages = Averages::unused)
      : options_(o), averages_(averages) {}
  std::string label() const override { return "BatchNormalizationFunction"; }
  void options(autograd::internal::FunctionOptions& o) const override {
    o.function("BatchNormalization");
    o.number("eps", options_.eps);
    if (options_.axis.given()) o.integers("axes", options_.axis.values());
  }
  std::string_view input_names() const override { return "x gamma beta"; }
  void check_type_forward(const TypeInfoTuple& in_types) const override {
    internal::check_batch_parameters(in_types, 3, options_.axis);
  }

  Arrays forward(const Arrays& in) override {
    retain_inputs({0, 1});
    const internal::BatchLayout l = layout(in[0], in[1]);
    if (l.count == 1 && in[0].size() > 0) internal::warn_of_single_elements(in[0].shape());
    set_averages(in[1]);
    const bool moves = running_mean_ && l.count > 0;  // an empty batch says nothing of the data
    const bool at_once = moves && is_average(running_mean_, in) && is_average(running_var_, in);
    autograd::BatchStatistics statistics;
    statistics.variance = moves && !at_once;
    if (at_once) {
      statistics.decay = options_.decay;
      statistics.moving_mean = running_mean_;
      statistics.moving_variance = running_var_;
    }
    const Arrays result = nn_extension(in[0], options_.use_cudnn)
                              .batch_normalization(in[0], autograd::reshape(in[1], l.kept),
                                                   autograd::reshape(in[2], l.kept), options_.eps, l.axes, statistics);
    mean_ = result[1];
    inv_std_ = result[3];
    if (result.size() > 4) reserve_ = result[4];
    if (moves && !at_once) {
      move(running_mean_, mean_, 1.0);
      move(running_var_, result[2], l.count / std::max(l.count - 1, 1.0));
    }
    return {result[0]};
  }

  const Array& running_mean() const { return running_mean_; }
  const Array& running_var() const { return running_var_; }

  Variables backward(const Targets& targets, const Variables& gy) override {
    const Variable x = retained_input(0), gamma = retained_input(1);
    const internal::BatchLayout l = layout(x.data(), gamma.data());
    const Variables all = needs_double_backprop() ? rule(x, gamma, gy[0], l) : fused(x, gamma, gy[0], l);
    Variables gradients;
    for (const int target : targets) gradients.push_back(all[static_cast<std::size_t>(target)]);
    return gradients;
  }

 private:
  internal::BatchLayout layout(const Array& x, const Array& gamma) const {
    return internal::batch_layout(x.shape(), options_.axis, gamma.ndim());
  }
  void set_averages(const Array& gamma) {
    if (averages_ == Averages::unused) return;
    const auto average = [&](const Array& given) {
      if (!given) return autograd::zeros_like(gamma);
      return averages_ == Averages::in_place ? given : autograd::copy(given);
    };
    running_mean_ = average(options_.running_mean);
    running_var_ = average(options_.running_var);
  }
  // True if the extension can move the average itself.
  static bool is_average(const Array& a, const Arrays& in) {
    return a.is_c_contiguous() && a.size() == in[1].size() && a.dtype() == statistics_dtype(in[0].dtype()) &&
           a.device() == in[0].device();
  }
  void move(const Array& average, const Array& statistic, double scale) const {
    const Array share = autograd::reshape(statistic, average.shape()) * ((1 - options_.decay) * scale);
    autograd::assign(average, average * options_.decay + share);
  }

  Variables fused(const Variable& x, const Variable& gamma, const Variable& gy, const internal::BatchLayout& l) const {
    const Arrays g = nn_extension(x.data(), options_.use_cudnn)
                         .batch_normalization_backward(x.data(), gy.data(), autograd::reshape(gamma.data(), l.kept),
                                                       mean_, inv_std_, l.axes, reserve_);
    const auto parameter = [&](const Array& a) {
      return constant_variable(autograd::astype(autograd::reshape(a, l.params), gamma.dtype()));
    };
    return {constant_variable(g[0]), parameter(g[1]), parameter(g[2])};
  }

  // The same on Variables. Recomputes the statistics, so that they are differentiated, too.
  Variables rule(const Variable& x_given, const Variable& gamma_given, const Variable& gy_given,
                 const internal::BatchLayout& l) const {
    const Dtype t = statistics_dtype(x_given.dtype());
    const Variable x = cast(x_given, t), gy = cast(gy_given, t), gamma = reshape(cast(gamma_given, t), l.kept);
    const Variable centred = x - mean(x, l.axes, true);
    const Variable inv_std = rsqrt(mean(square(centred), l.axes, true) + options_.eps);
    const Variable xhat = centred * inv_std;
    const Variable gbeta = sum(gy, l.axes, true), ggamma = sum(gy * xhat, l.axes, true);
    const Variable gx = gamma * inv_std * (gy - (xhat * ggamma + gbeta) / l.count);
    return {cast(gx, x_given.dtype()), cast(reshape(ggamma, l.params), gamma_given.dtype()),
            cast(reshape(gbeta, l.params), gamma_given.dtype())};
  }

  BatchNormalizationOptions options_;
  Averages averages_;
  Array running_mean_, running_var_;  // null: unused
  Array mean_, inv_std_, reserve_;
};

class FixedBatchNormalization final : public FunctionNode, public autograd::internal::HasOptions {
 public:
  explicit FixedBatchNormalization(const FixedBatchNormalizationOptions& o) : options_(o) {}
  std::string label() const override { return "BatchNormalizationFunction"; }
  void options(autograd::internal::FunctionOptions& o) const override {
    o.function("FixedBatchNormalization");
    o.number("eps", options_.eps);
    if (options_.axis.given()) o.integers("axes", options_.axis.values());
  }
  std::string_view input_names() const override { return "x gamma beta mean var"; }
  void check_type_forward(const TypeInfoTuple& in_types) const override {
    internal::check_batch_parameters(in_types, 5, options_.axis);
  }

  Arrays forward(const Arrays& in) override {
    retain_inputs({0, 1, 3, 4});
    const internal::BatchLayout l = internal::batch_layout(in[0].shape(), options_.axis, in[1].ndim());
    const auto p = [&](std::size_t k) { return autograd::reshape(in[k], l.kept); };
    return {
        nn_extension(in[0], options_.use_cudnn).fixed_batch_normalization(in[0], p(1), p(2), p(3), p(4), options_.eps)};
  }

  Variables backward(const Targets& targets, const Variables& gy_given) override {
    const Variable x_given = retained_input(0);
    const Dtype given = x_given.dtype(), t = statistics_dtype(given);
    const internal::BatchLayout l = internal::batch_layout(x_given.shape(), options_.axis, input_shape(1).size());
    const auto p = [&](int k) { return reshape(cast(retained_input(k), t), l.kept); };
    const Variable x = cast(x_given, t), gy = cast(gy_given[0], t), gamma = p(1), inv_std = rsqrt(p(4) + options_.eps);
    const Variable xhat = (x - p(3)) * inv_std;
    const Variable gbeta = sum(gy, l.axes, true), ggamma = sum(gy * xhat, l.axes, true);
    const auto parameter = [&](const Variable& g) { return cast(reshape(g, l.params), input_dtype(1)); };
    Variables gradients;
    for (const int target : targets) {
      switch (target) {
        case 0: gradients.push_back(cast(gamma * inv_std * gy, given)); break;
        case 1: gradients.push_back(parameter(ggamma)); break;
        case 2: gradients.push_back(parameter(gbeta)); break;
        case 3: gradients.push_back(parameter(-(gamma * inv_std * gbeta))); break;
        default: gradients.push_back(parameter(gamma * square(inv_std) * ggamma * -0.5)); break;
      }
    }
    return gradients;
  }

 private:
  FixedBatchNormalizationOptions options_;
};

}  // namespace

Variable batch_normalization(const Variable& x, const Variable& gamma, const Variable& beta,
                             const BatchNormalizationOptions& o) {
  return autograd::apply_node<BatchNormalization>({x, gamma, beta}, o)[0];
}

BatchNormalizationResult batch_normalization(const Variable& x, const Variable& gamma, const Variable& beta,
                                             const BatchNormalizationOptions& o, ReturnStatistics) {
  const auto node = autograd::make_node<BatchNormalization>(o, BatchNormalization::Averages::in_new_arrays);
  const Variable y = node->apply({x, gamma, beta})[0];
  return {y, node->running_mean(), node->running_var()};
}

Variable internal::moving_batch_normalization(const Variable& x, const Variable& gamma, const Variable& beta,
                                              const BatchNormalizationOptions& o) {
  return autograd::make_node<BatchNormalization>(o, BatchNormalization::Averages::in_place)->apply({x, gamma, beta})[0];
}

Variable fixed_batch_normalization(const Variable& x, const Variable& gamma, const Variable& beta, const Variable& mean,
                                   const Variable& var, const FixedBatchNormalizationOptions& o) {
  return autograd::apply_node<FixedBatchNormalization>({x, gamma, beta, mean, var}, o)[0];
}

Variable batch_renormalization(const Variable& x, const Variable& gamma, const Variable& beta, double rmax, double dmax,
                               const BatchRenormalizationOptions& o) {
  constexpr const char* op = "batch_renormalization";
  catena::check<catena::ValueError>(rmax >= 1 && dmax >= 0, op, "rmax is ", rmax, " and dmax ", dmax,
                                    "; rmax must be at least 1 and dmax at least 0");
  catena::check<catena::ValueError>(!o.update_statistics || (o.running_mean && o.running_var), op,
                                    "update_statistics needs running_mean and running_var");
  internal::check_inputs("BatchRenormalizationFunction", "x gamma beta", {x, gamma, beta},
                         [&](const TypeInfoTuple& in_types) { internal::check_batch_parameters(in_types, 3, o.axis); });
  const internal::BatchLayout l = internal::batch_layout(x.shape(), o.axis, gamma.ndim());
  const Dtype t = statistics_dtype(x.dtype());
  const auto average = [&](const Array& given, double otherwise) {
    if (!given) return autograd::arrays::full(l.params, otherwise, t, x.device());
    return autograd::astype(autograd::reshape(given, l.params), t);
  };
  const Array wide = autograd::astype(x.data(), t);
  const Array mean = autograd::mean(wide, l.axes, true);
  const Array centred = wide - mean;
  const Array batch_mean = autograd::reshape(mean, l.params),
              batch_var = autograd::reshape(autograd::mean(centred * centred, l.axes), l.params);
  const auto root = [&](const Array& var) { return autograd::apply(catena::kernels::sqrt, {var + o.eps}); };
  const Array sigma = root(average(o.running_var, 1));
  const auto within = [](const Array& a, double low, double high) {
    return autograd::apply(catena::kernels::clip, {a, low, high});
  };
  const Array r = within(root(batch_var) / sigma, 1 / rmax, rmax),
              d = within((batch_mean - average(o.running_mean, 0)) / sigma, -dmax, dmax);
  const Variable scale = cast(gamma, t);
  const Variable y =
      batch_normalization(x, cast(scale * r, gamma.dtype()), cast(cast(beta, t) + scale * d, gamma.dtype()),
                          {.eps = o.eps, .axis = o.axis});
  if (o.update_statistics && l.count > 0) {
    const auto move = [&](const Array& to, const Array& statistic, double factor) {
      autograd::assign(to, to * o.decay + autograd::reshape(statistic, to.shape()) * ((1 - o.decay) * factor));
    };
    move(o.running_mean, batch_mean, 1);
    move(o.running_var, batch_var, l.count / std::max(l.count - 1, 1.0));
  }
  return y;
}

}  // namespace nn
