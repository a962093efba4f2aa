// Linear-chain conditional random fields.
#include <limits>

#include <catena/autograd/function_node.h>
#include <catena/autograd/functions/elementwise.h>
#include <catena/autograd/functions/math.h>
#include <catena/autograd/functions/reduction.h>
#include <catena/nn/functions/composed.h>
#include <catena/nn/functions/labels.h>
#include <catena/nn/functions/loss.h>

namespace nn {

using autograd::Dtype;
using autograd::IndexItem;
using autograd::Slice;
using autograd::type_check::TypeInfoTuple;
using internal::wide;

namespace {

// Checks cost (K, K), one (B_t, K) per time with B_t not increasing, and, if given, labels (B_t).
void expect_chain(const TypeInfoTuple& in_types, int times) {
  using namespace autograd::type_check;
  internal::expect_floats(in_types, 0, times);
  expect(in_types[0].ndim == 2, in_types[0].shape[0] == in_types[0].shape[1]);
  for (int k = 1; k <= times; ++k) {
    expect(in_types[k].ndim == 2, in_types[k].shape[1] == in_types[1].shape[1]);
    if (k > 1) expect(in_types[k].shape[0] <= in_types[k - 1].shape[0]);
  }
  for (int k = times + 1; k < int(in_types.count()); ++k) {
    internal::expect_labels(in_types, k);
    expect(in_types[k].ndim == 1, in_types[k].shape[0] == in_types[k - times].shape[0]);
  }
}

void check_chain(const char* op, const char* label, const Variable& cost, const Variables& xs, const Variables& ys) {
  catena::check<catena::ValueError>(!xs.empty(), op, "there are no scores");
  Variables inputs{cost};
  for (const Variable& x : xs) inputs.push_back(x);
  for (const Variable& y : ys) inputs.push_back(y);
  internal::check_inputs(label, "cost", inputs,
                         [&](const TypeInfoTuple& in_types) { expect_chain(in_types, int(xs.size())); });
  catena::check<catena::AssertionError>(xs[0].shape(1) == cost.shape(0), op, "the scores are those of ", xs[0].shape(1),
                                        " labels, cost is that of ", cost.shape(0));
}

Variable head(const Variable& x, std::int64_t n) { return n == x.shape(0) ? x : get_item(x, {Slice(0, n)}); }

// One value per sequence, carried from time to time. Ended sequences keep their last value.
class Carried {
 public:
  explicit Carried(const Variable& first) : now_(first) {}
  // Returns the values of the first n sequences; the others have ended.
  Variable going_on(std::int64_t n) {
    if (n < now_.shape(0)) ended_.push_back(get_item(now_, {Slice(n, {})}));
    return head(now_, n);
  }
  void set(const Variable& v) { now_ = v; }
  // Returns the values of all sequences in the order of the batch: the sequences that end last come first.
  Variable all() const {
    if (ended_.empty()) return now_;
    Variables parts{now_};
    for (std::size_t k = ended_.size(); k-- > 0;) parts.push_back(ended_[k]);
    return autograd::concat(parts, 0);
  }

 private:
  Variable now_;
  Variables ended_;
};

// Returns x[i, y[i]]. `rows` is 0, 1, ..., for all rows of x or more.
Variable picked(const Variable& x, const Array& y, const Array& rows) {
  return get_item(x, {IndexItem(autograd::slice(rows, 0, 0, y.size())), IndexItem(y)});
}
Array rows_of(const Variable& x) { return autograd::arrays::arange(x.shape(0), Dtype::int64, x.data().device()); }

// y[b, to] = logsumexp over `from` of alpha[b, from] + cost[from, to]. The sums (B, K, K), which are K times larger
// than alpha, are not kept from forward to backward.
class Transitions final : public autograd::FunctionNode {
 public:
  std::string label() const override { return "CRF1d"; }
  autograd::Arrays forward(const autograd::Arrays& in) override {
    retain_inputs({0, 1});
    retain_outputs({0});
    const Array sums = autograd::expand_dims(in[0], 2) + autograd::expand_dims(in[1], 0),
                greatest = autograd::amax(sums, 1, true);
    // As in logsumexp, infinite maxima are not subtracted.
    const Array shift = autograd::where(autograd::apply(catena::kernels::isfinite, {greatest}), greatest, 0);
    sums -= shift;
    const autograd::Operand exponents[] = {sums};
    autograd::apply_into(catena::kernels::exp, exponents, {&sums, 1});
    const Array y = autograd::apply(catena::kernels::log, {autograd::sum(sums, 1, true)}) + shift;
    return {autograd::reshape(y, in[0].shape())};
  }
  // Where y is -inf, the gradient is 0.
  Variables backward(const autograd::Targets& targets, const Variables& gy) override {
    const Variable y = retained_output(0);
    const std::int64_t batch = y.shape(0), labels = y.shape(1);
    const auto column = [&](const Variable& v) { return reshape(v, {batch, labels, 1}); };
    const auto row = [&](const Variable& v) { return reshape(v, {batch, 1, labels}); };
    const Array never = internal::equal(y.data(), -std::numeric_limits<double>::infinity());
    const Variable finite = autograd::masked(y, autograd::apply(catena::kernels::logical_not, {never}));
    const Variable shares =
        exp(column(retained_input(0)) + reshape(retained_input(1), {1, labels, labels}) - row(finite)) * row(gy[0]);
    Variables gradients;
    for (const int target : targets) gradients.push_back(target == 0 ? sum(shares, 2) : sum(shares, 0));
    return gradients;
  }
};

}  // namespace

Variable crf1d(const Variable& given_cost, const Variables& xs, const Variables& ys, const Averaged& o) {
  internal::check_reduce("crf1d", o.reduce, {"mean", "sum", "no"});
  catena::check<catena::ValueError>(xs.size() == ys.size(), "crf1d", "there are scores of ", xs.size(),
                                    " times and labels of ", ys.size());
  check_chain("crf1d", "CRF1d", given_cost, xs, ys);
  std::vector<Array> labels;
  for (const Variable& y : ys) {
    internal::check_labels("crf1d", y.data(), given_cost.shape(0), {});
    labels.push_back(internal::labels_of(y.data()));
  }
  const Variable cost = wide(given_cost), first = wide(xs[0]);
  const Array rows = rows_of(first);
  Carried alpha(first), score(picked(first, labels[0], rows));
  for (std::size_t k = 1; k < xs.size(); ++k) {
    const Variable x = wide(xs[k]);
    const std::int64_t n = x.shape(0);
    alpha.set(autograd::apply_node<Transitions>({alpha.going_on(n), cost})[0] + x);
    const Array before = autograd::slice(labels[k - 1], 0, 0, n);
    score.set(score.going_on(n) + picked(x, labels[k], rows) +
              get_item(cost, {IndexItem(before), IndexItem(labels[k])}));
  }
  const Variable losses = logsumexp(alpha.all(), 1) - score.all();
  return internal::reduced(losses, o.reduce, double(xs[0].shape(0)), xs[0].dtype());
}

Crf1dPath argmax_crf1d(const Variable& given_cost, const Variables& xs) {
  check_chain("argmax_crf1d", "ArgmaxCRF1d", given_cost, xs, {});
  const auto no_graph = autograd::no_backprop_mode();
  const auto best_label = [](const Array& a) {
    return autograd::astype(autograd::reduce(catena::kernels::argmax, a, 1), Dtype::int32);
  };
  const Array cost = wide(given_cost).data();
  const std::size_t times = xs.size();
  std::vector<Array> alphas{wide(xs[0]).data()}, origins(times);
  for (std::size_t k = 1; k < times; ++k) {
    const Array x = wide(xs[k]).data();
    const Array scores =
        autograd::expand_dims(autograd::slice(alphas[k - 1], 0, 0, x.shape(0)), 2) + autograd::expand_dims(cost, 0);
    origins[k] = best_label(scores);
    alphas.push_back(autograd::amax(scores, 1) + x);
  }
  // The sequences that end at time k are the last rows of its alphas, from the number of continuing sequences on.
  std::vector<Array> path(times), scores;
  const Array rows = rows_of(xs[0]);
  for (std::size_t k = times; k-- > 0;) {
    const std::int64_t going_on = k + 1 < times ? alphas[k + 1].shape(0) : 0;
    const Array ended = autograd::slice(alphas[k], 0, going_on, alphas[k].shape(0));
    if (ended.shape(0) > 0) scores.push_back(autograd::amax(ended, 1));
    Array labels = ended.shape(0) > 0 ? best_label(ended) : autograd::arrays::empty({0}, Dtype::int32, cost.device());
    if (going_on > 0) {
      const Array parts[] = {picked(Variable(origins[k + 1]), path[k + 1], rows).data(), labels};
      labels = autograd::concatenate(parts, 0);
    }
    path[k] = labels;
  }
  const Array score =
      scores.empty() ? autograd::arrays::empty({0}, cost.dtype(), cost.device()) : autograd::concatenate(scores, 0);
  return {Variable(autograd::astype(score, xs[0].dtype())), path};
}

}  // namespace nn
