#include <catena/training/multi_node/batch_normalization.h>

#include <utility>
#include <vector>

#include <catena/autograd/function_node.h>
#include <catena/autograd/functions/array.h>
#include <catena/autograd/functions/math.h>
#include <catena/autograd/functions/reduction.h>
#include <catena/autograd/variable_node.h>
#include <catena/kernels/base/error.h>
#include <catena/kernels/registry/families.h>
#include <catena/nn/functions/batch_layout.h>
#include <catena/training/communicators/communicator_state.h>
#include <catena/training/multi_node/functions.h>

namespace training {

using autograd::Arrays;
using autograd::Dtype;
using autograd::FunctionNode;
using autograd::Shape;
using autograd::Targets;
using autograd::Variable;
using autograd::Variables;
using autograd::internal::constant_variable;
using nn::internal::BatchLayout;

namespace {

constexpr const char* kMultiNodeNormalization = "MultiNodeBatchNormalization";

// Of all ranks, in float64: mean and variance in the shape of the parameters, and the number of elements of each, a 0-d
// array that stays on its device.
struct Statistics {
  Array mean, variance, count;
};

// Splits a vector of two halves of this shape and whatever follows.
std::pair<Array, Array> halves(const Array& flat, const Shape& shape) {
  const std::int64_t n = catena::size_of(shape);
  return {autograd::reshape(autograd::slice(flat, 0, 0, n), shape),
          autograd::reshape(autograd::slice(flat, 0, n, 2 * n), shape)};
}
Array flat(const Array& a) { return autograd::reshape(a, {a.size()}); }
Array at_least(const Array& a, double low) { return autograd::apply(catena::kernels::maximum, {a, low}); }

// One all-reduce of the sums, the sums of squares and the number of elements. The sums of this rank are computed about
// its own mean, and moved to 0 in float64, so that a mean that is large beside the deviation costs no digits.
Statistics statistics_of(const Communicator& comm, const Array& x, const BatchLayout& l) {
  Array sum = autograd::arrays::zeros(l.params, Dtype::float64, x.device()), squares = sum;
  if (l.count > 0) {
    const auto param = [&](const Array& a) { return autograd::astype(autograd::reshape(a, l.params), Dtype::float64); };
    const Array near = autograd::mean(x, l.axes, true), centred = x - near;
    const Array about = param(near), rest = param(autograd::sum(centred, l.axes, true));
    sum = about * l.count + rest;
    squares = param(autograd::sum(centred * centred, l.axes, true)) + about * (rest * 2.0 + about * l.count);
  }
  const Array all = comm.allreduce(autograd::concatenate(
      std::vector<Array>{flat(sum), flat(squares), autograd::arrays::full({1}, l.count, Dtype::float64, x.device())}));
  const auto [sums, sums_of_squares] = halves(all, l.params);
  const Array count = autograd::reshape(autograd::slice(all, 0, all.size() - 1, all.size()), {});
  const Array divisor = at_least(count, 1);
  const Array mean = sums / divisor;
  return {mean, at_least(sums_of_squares / divisor - mean * mean, 0), count};
}

class MultiNodeNormalization final : public FunctionNode {
 public:
  MultiNodeNormalization(AnyCommunicator comm, const nn::BatchNormalizationOptions& o)
      : comm_(std::move(comm)), options_(o) {}
  std::string label() const override { return "MultiNodeBatchNormalizationFunction"; }
  std::string_view input_names() const override { return "x gamma beta"; }
  void check_type_forward(const autograd::type_check::TypeInfoTuple& in_types) const override {
    internal::CommunicatorAccess::check_arguments(
        *comm_, [&] { nn::internal::check_batch_parameters(in_types, 3, options_.axis); }, true,
        kMultiNodeNormalization);
  }

  Arrays forward(const Arrays& in) override {
    retain_inputs({0, 1});
    const BatchLayout l = layout(in[0], in[1].ndim());
    const Dtype t = catena::compute_dtype(in[0].dtype());
    const Array x = autograd::astype(in[0], t);
    const Statistics s = statistics_of(*comm_, x, l);
    if (l.count == 1 && x.device() == autograd::Device{} && autograd::item(s.count).to_double() == 1)
      nn::internal::warn_of_single_elements(x.shape());
    divisor_ = autograd::astype(at_least(s.count, 1), t);
    const auto kept = [&](const Array& a) { return autograd::astype(autograd::reshape(a, l.kept), t); };
    mean_ = kept(s.mean);
    inv_std_ = kept(1.0 / autograd::apply(catena::kernels::sqrt, {s.variance + options_.eps}));
    move(s);
    const Array y = (x - mean_) * (kept(in[1]) * inv_std_) + kept(in[2]);
    return {autograd::astype(y, in[0].dtype())};
  }

  Variables backward(const Targets& targets, const Variables& gy) override {
    const Variable x = retained_input(0), gamma = retained_input(1);
    const BatchLayout l = layout(x.data(), gamma.ndim());
    const Variables all = needs_double_backprop() ? rule(x, gamma, gy[0], l) : gradients(x, gamma, gy[0], l);
    Variables result;
    for (const int target : targets) result.push_back(all[static_cast<std::size_t>(target)]);
    return result;
  }

 private:
  BatchLayout layout(const Array& x, int rank) const {
    return nn::internal::batch_layout(x.shape(), options_.axis, rank);
  }
  // An empty batch of all ranks leaves the averages as they are.
  void move(const Statistics& s) const {
    if (!options_.running_mean) return;
    const Array is_known = autograd::apply(catena::kernels::greater, {s.count, 0.0});
    const auto moved = [&](const Array& average, const Array& statistic) {
      const Array share = autograd::reshape(statistic, average.shape()) * (1 - options_.decay);
      const Array before = autograd::astype(average, Dtype::float64);
      autograd::assign(average, autograd::where(is_known, before * options_.decay + share, before));
    };
    moved(options_.running_mean, s.mean);
    moved(options_.running_var, s.variance * (s.count / at_least(s.count - 1.0, 1)));
  }

  // On arrays, with the statistics of forward. The sums over the ranks have the gamma of each rank, of which nothing
  // requires that it is the same.
  Variables gradients(const Variable& x_given, const Variable& gamma_given, const Variable& gy_given,
                      const BatchLayout& l) const {
    const Dtype t = mean_.dtype(), of_params = gamma_given.dtype();
    const Array gy = autograd::astype(gy_given.data(), t);
    const Array xhat = (autograd::astype(x_given.data(), t) - mean_) * inv_std_;
    const Array gbeta = autograd::sum(gy, l.axes, true), ggamma = autograd::sum(gy * xhat, l.axes, true);
    const Array gamma = autograd::astype(autograd::reshape(gamma_given.data(), l.kept), t);
    const auto [first, second] = halves(
        comm_->allreduce(autograd::concatenate(std::vector<Array>{flat(gamma * gbeta), flat(gamma * ggamma)})), l.kept);
    const Array gx = inv_std_ * (gamma * gy - (xhat * second + first) / divisor_);
    const auto parameter = [&](const Array& g) {
      return constant_variable(autograd::astype(autograd::reshape(g, l.params), of_params));
    };
    return {constant_variable(autograd::astype(gx, x_given.dtype())), parameter(ggamma), parameter(gbeta)};
  }

  // The same on Variables. Recomputes the statistics about the mean of forward, so that they are differentiated, too.
  Variables rule(const Variable& x_given, const Variable& gamma_given, const Variable& gy_given,
                 const BatchLayout& l) const {
    const Dtype t = mean_.dtype();
    const Variable n = constant_variable(divisor_);
    const Variable x = cast(x_given, t), gy = cast(gy_given, t), gamma = reshape(cast(gamma_given, t), l.kept);
    const Variable from_mean = x - constant_variable(mean_);
    const auto [first, second] = over_ranks(sum(from_mean, l.axes, true), sum(square(from_mean), l.axes, true));
    const Variable shift = first / n;
    const Variable inv_std = rsqrt(second / n - square(shift) + options_.eps);
    const Variable xhat = (from_mean - shift) * inv_std;
    const Variable gbeta = sum(gy, l.axes, true), ggamma = sum(gy * xhat, l.axes, true);
    const auto [all_gbeta, all_ggamma] = over_ranks(gamma * gbeta, gamma * ggamma);
    const Variable gx = inv_std * (gamma * gy - (xhat * all_ggamma + all_gbeta) / n);
    return {cast(gx, x_given.dtype()), cast(reshape(ggamma, l.params), gamma_given.dtype()),
            cast(reshape(gbeta, l.params), gamma_given.dtype())};
  }
  // The sums of both over the ranks, in one all-reduce.
  std::pair<Variable, Variable> over_ranks(const Variable& a, const Variable& b) const {
    const std::int64_t n = a.size();
    const Variable all = functions::allreduce(comm_, autograd::concat(Variables{reshape(a, {n}), reshape(b, {n})}, 0));
    const Variables parts = split_axis(all, 2, 0);
    return {reshape(parts[0], a.shape()), reshape(parts[1], b.shape())};
  }

  AnyCommunicator comm_;
  nn::BatchNormalizationOptions options_;
  // In the compute dtype: in the shape of x with length 1 along the axes of the statistics; and the number of elements,
  // at least 1.
  Array mean_, inv_std_, divisor_;
};

class OverRanks final : public nn::internal::BatchFunctionHook {
 public:
  explicit OverRanks(AnyCommunicator comm) : comm_(std::move(comm)) {}
  std::string name() const override { return kMultiNodeNormalization; }
  Variable normalize(const Variable& x, const Variable& gamma, const Variable& beta,
                     const nn::BatchNormalizationOptions& options) const override {
    return multi_node_batch_normalization(x, gamma, beta, comm_, options);
  }

 private:
  AnyCommunicator comm_;
};

}  // namespace

Variable multi_node_batch_normalization(const Variable& x, const Variable& gamma, const Variable& beta,
                                        AnyCommunicator comm, const nn::BatchNormalizationOptions& options) {
  internal::checked(kMultiNodeNormalization, comm);
  internal::CommunicatorAccess::check_arguments(
      *comm,
      [&] {
        for (const Variable* v : {&x, &gamma, &beta}) {
          const char* const name = v == &x ? "x" : v == &gamma ? "gamma" : "beta";
          catena::check<catena::TypeError>(*v && v->data(), kMultiNodeNormalization, name, " is null");
          catena::check<catena::ValueError>(v->device() == x.device(), kMultiNodeNormalization, "x is on ", x.device(),
                                            ", ", name, " on ", v->device());
        }
      },
      true);
  return autograd::apply_node<MultiNodeNormalization>({x, gamma, beta}, comm, options)[0];
}

void internal::normalize_over_ranks(nn::BatchNormalization& link, const AnyCommunicator& comm) {
  checked(kMultiNodeNormalization, comm);
  if (nn::internal::batch_function_of(link) != nullptr) link.delete_hook(kMultiNodeNormalization);
  link.add_hook(OverRanks(comm));
}

void internal::convert_to_multi_node(nn::Link& model, const AnyCommunicator& comm) {
  checked("create_mnbn_model", comm);
  for (nn::Link* link : model.links()) {
    auto* const found = dynamic_cast<nn::BatchNormalization*>(link);
    if (found != nullptr && dynamic_cast<nn::BatchRenormalization*>(link) == nullptr)
      normalize_over_ranks(*found, comm);
  }
}

}  // namespace training
