// Connectionist temporal classification (Graves et al. 2006), on logarithms of probabilities. All sequences of the
// batch are computed together; nothing is read back to the host.
//
// A label sequence with blanks around and between its labels has S = 2 L + 1 states. alpha_t(s) is the probability of
// all alignments that are in state s at time t. beta, the same from the end, is computed as alpha of the reversed
// scores and labels, and then reversed.
//
// The sequences of the batch are innermost: (T, S, B). Arrays of preceding states are then as contiguous as the states.
#include <algorithm>

#include <catena/autograd/function_node.h>
#include <catena/autograd/functions/array.h>
#include <catena/autograd/functions/elementwise.h>
#include <catena/autograd/functions/math.h>
#include <catena/autograd/functions/reduction.h>
#include <catena/autograd/indexed_access.h>
#include <catena/autograd/variable_node.h>
#include <catena/kernels/registry/families.h>
#include <catena/nn/functions/activation.h>
#include <catena/nn/functions/composed.h>
#include <catena/nn/functions/labels.h>
#include <catena/nn/functions/loss.h>

namespace nn {

using autograd::apply;
using autograd::Arrays;
using autograd::Dims;
using autograd::Dtype;
using autograd::FunctionNode;
using autograd::IndexItem;
using autograd::Operand;
using autograd::Slice;
using autograd::Targets;
using autograd::internal::constant_variable;
using autograd::type_check::TypeInfoTuple;
using catena::AssertionError;
using catena::check;
using internal::both;
using internal::narrowed;

namespace {

constexpr const char* kOp = "connectionist_temporal_classification";
// Stands for the logarithm of 0. It is finite, so that differences are finite.
constexpr double kNever = -1e10;

Array positions(std::int64_t n, const Shape& shape, const Array& like) {
  return autograd::reshape(autograd::arrays::arange(n, Dtype::int64, like.device()), shape);
}

// Arrays of int64 derived from the labels and lengths.
struct Alignment {
  std::int64_t times, batch, states;
  Array labels;       // (S, B)
  Array length, end;  // (1, B): the times and the states of each sequence
  Array sequence;     // (1, B): 0, 1, ...
  // Null where all sequences and labels have full length:
  Array mirror;        // (T, S, B): positions of the elements of the reversed sequences; time 0 is after the end
  Array mirror_label;  // (S, B): the same for the labels
  Array used;          // (T, B, 1): bool, before the sequence's end
  Array inside;        // (T, S, B): bool, within the lengths of the sequence and of its labels

  bool is_full() const { return !mirror; }
  // Returns (S, B): positions of the labels' scores among the scores of one time.
  Array picks(std::int64_t classes) const { return sequence * classes + labels; }
};

Alignment align(std::int64_t times, std::int64_t classes, const Array& t, int blank, const CTCOptions& o) {
  Alignment a;
  a.times = times;
  a.batch = t.shape(0);
  a.states = 2 * t.shape(1) + 1;
  const auto lengths = [&](const Array& given, std::int64_t full) {
    if (!given) return autograd::arrays::full({1, a.batch}, full, Dtype::int64, t.device());
    return autograd::expand_dims(autograd::astype(autograd::to_device(given, t.device()), Dtype::int64), 0);
  };
  a.length = lengths(o.input_length, times);
  const Array labels = lengths(o.label_length, t.shape(1));
  a.end = labels * 2 + 1;
  a.labels = autograd::arrays::full({a.states, a.batch}, blank, Dtype::int64, t.device());
  if (t.shape(1) > 0)
    autograd::assign(
        autograd::slice(a.labels, 0, 1, a.states, 2),
        autograd::where(internal::less(positions(t.shape(1), {t.shape(1), 1}, t), labels),
                        autograd::astype(autograd::transpose(t, {1, 0}), Dtype::int64), std::int64_t(blank)));
  internal::check_labels(kOp, a.labels, classes, std::nullopt);
  a.sequence = positions(a.batch, {1, a.batch}, t);
  if (!o.input_length && !o.label_length) return a;
  const Array time = positions(times, {times, 1, 1}, t), state = positions(a.states, {a.states, 1}, t);
  a.mirror_label = apply(catena::kernels::maximum, {a.end - 1 - state, 0}) * a.batch + a.sequence;
  a.mirror = apply(catena::kernels::maximum, {a.length - 1 - time, 0}) * (a.states * a.batch) + a.mirror_label;
  const Array used = internal::less(time, a.length);
  a.used = autograd::reshape(used, {times, a.batch, 1});
  a.inside = both(used, internal::less(state, a.end));
  return a;
}

// Returns 0 where a state may be reached from two states before, kNever elsewhere.
Array penalties(const Array& labels, int blank, Dtype dtype) {
  const Array penalty = autograd::arrays::full(labels.shape(), kNever, dtype, labels.device());
  const std::int64_t states = labels.shape(0);
  if (states < 3) return penalty;
  const Array here = autograd::slice(labels, 0, 2, states), before = autograd::slice(labels, 0, 0, states - 2);
  const Array allowed = both(internal::not_equal(here, blank), internal::not_equal(here, before));
  autograd::assign(autograd::slice(penalty, 0, 2, states), autograd::where(allowed, 0.0, kNever));
  return penalty;
}

// Return alpha (T, S, B) for the emissions (T, S, B), step by step: with one kernel per step, or with differentiable
// functions.
Array fused_alpha(const Array& emission, const Array& penalty) {
  const std::int64_t times = emission.shape(0), states = emission.shape(1), batch = emission.shape(2);
  // Two unreachable states are added in front.
  const Array alpha = autograd::arrays::full({times, states + 2, batch}, kNever, emission.dtype(), emission.device());
  const auto from = [&](std::int64_t k) { return autograd::slice(alpha, 1, k, k + states); };
  const auto before = [&](const Array& a) { return autograd::slice(a, 0, 0, times - 1); };
  const auto now = [&](const Array& a) { return autograd::slice(a, 0, 1, times); };
  const auto begin = [](const Array& a) { return autograd::slice(autograd::slice(a, 0, 0, 1), 1, 0, 2); };
  const Array own = from(2), later = now(own);
  autograd::assign(begin(own), begin(emission));
  const Operand operands[] = {before(own), before(from(1)), before(from(0)), penalty, now(emission)};
  autograd::apply_in_order(catena::kernels::ctc_step, operands, {&later, 1});
  return own;
}
Variable composed_alpha(const Variable& emission, const Array& penalty) {
  const std::int64_t times = emission.shape(0), states = emission.shape(1), batch = emission.shape(2);
  const auto never = [&](std::int64_t n) {
    return constant_variable(autograd::arrays::full({n, batch}, kNever, emission.dtype(), emission.device()));
  };
  const auto at = [&](std::int64_t t) { return get_item(emission, {t}); };
  Variables alpha{autograd::concat({get_item(at(0), {Slice(0, 2)}), never(std::max<std::int64_t>(states - 2, 0))}, 0)};
  for (std::int64_t t = 1; t < times; ++t) {
    const Variable before = autograd::concat({never(2), alpha.back()}, 0);
    const auto from = [&](std::int64_t k) { return get_item(before, {Slice(k, k + states)}); };
    alpha.push_back(at(t) + internal::log_add_exp(internal::log_add_exp(from(2), from(1)), from(0) + penalty));
  }
  return reshape(autograd::concat(alpha, 0), {times, states, batch});
}
// Reverses the times and states of each sequence of x (T, S, B), which has labels (S, B).
Variable mirrored(const Variable& x, const Alignment& a) {
  if (a.is_full()) return flip(x, {0, 1});
  return get_item(reshape(x, {x.size()}), {IndexItem(a.mirror)});
}
Array mirrored_labels(const Alignment& a) {
  if (a.is_full()) return autograd::copy(flip(constant_variable(a.labels), 0).data());
  return autograd::take(autograd::reshape(a.labels, {a.labels.size()}), a.mirror_label, 0);
}

// Returns the log-probability of each sequence (B).
Variable log_probability(const Variable& alpha, const Alignment& a) {
  const auto state = [&](const Array& s) {
    const Variable last = get_item(alpha, {IndexItem(a.length - 1), IndexItem(s), IndexItem(a.sequence)});
    return reshape(last, {a.batch});
  };
  const Variable end = state(a.end - 1);
  if (a.states == 1) return end;
  // Without labels there is only one final state.
  const Array label = a.end - 2;
  const Array penalty = autograd::astype(autograd::where(internal::less(label, 0), kNever, 0.0), alpha.dtype());
  return internal::log_add_exp(
      end, state(apply(catena::kernels::maximum, {label, 0})) + autograd::reshape(penalty, {a.batch}));
}

// The adjoint of selection by labels: sums p (T, S, B) by label into (T, B, V).
class SumByLabel final : public FunctionNode {
 public:
  SumByLabel(const Alignment& a, std::int64_t classes) : a_(a), classes_(classes) {}
  std::string label() const override { return "SumByLabel"; }
  Arrays forward(const Arrays& p) override {
    const Array y = autograd::arrays::full({a_.times, a_.batch, classes_}, 0, p[0].dtype(), p[0].device());
    const Array rows = autograd::reshape(y, {a_.times, a_.batch * classes_}), picks = a_.picks(classes_);
    autograd::internal::scatter_sums({rows, {&picks, 1}, {1}, p[0].shape(), {0, -1, -1}, kOp, nullptr, true}, p[0]);
    return {y};
  }
  Variables backward(const Targets&, const Variables& gy) override {
    return {get_item(reshape(gy[0], {a_.times, a_.batch * classes_}), {Slice(), IndexItem(a_.picks(classes_))})};
  }

 private:
  Alignment a_;
  std::int64_t classes_;
};

// Inputs: the scores of all times (T B, V), and the labels.
class CTC final : public FunctionNode {
 public:
  CTC(std::int64_t times, int blank, const CTCOptions& o) : times_(times), blank_(blank), options_(o) {}
  std::string label() const override { return "ConnectionistTemporalClassification"; }
  std::string_view input_names() const override { return "x t"; }

  Arrays forward(const Arrays& in) override {
    retain_inputs({0});
    a_ = align(times_, in[0].shape(1), in[1], blank_, options_);
    const auto no_graph = autograd::no_backprop_mode();
    kept_ = parts(Variable(in[0]), false);
    const Array loss = -kept_.log_p.data();
    if (!options_.zero_infinity) return {loss};
    return {autograd::where(ignored(kept_.log_p), 0, loss)};
  }

  Variables backward(const Targets& targets, const Variables& gy) override {
    Variables gradients;
    for (const int target : targets) gradients.push_back(target == 0 && gy[0] ? gradient(gy[0]) : Variable());
    return gradients;
  }

 private:
  struct Parts {
    Variable log_y;     // the logarithms of the probabilities (T, B, V)
    Variable emission;  // log_y of the label of each state (T, S, B)
    Variable alpha;     // log_y of the label of each state (T, S, B)
    Variable log_p;     // (B)
  };
  Parts parts(const Variable& x, bool composed) const {
    Parts p;
    const Variable log_y = log_softmax(x, 1);
    p.log_y = reshape(log_y, {times_, a_.batch, x.shape(1)});
    p.emission = get_item(reshape(log_y, {times_, a_.batch * x.shape(1)}), {Slice(), IndexItem(a_.picks(x.shape(1)))});
    p.alpha = alpha_of(p.emission, a_.labels, composed);
    p.log_p = log_probability(p.alpha, a_);
    return p;
  }
  Variable alpha_of(const Variable& emission, const Array& labels, bool composed) const {
    const Array penalty = penalties(labels, blank_, emission.dtype());
    return composed ? composed_alpha(emission, penalty) : constant_variable(fused_alpha(emission.data(), penalty));
  }
  // True for sequences whose loss is 0 with zero_infinity.
  static Array ignored(const Variable& log_p) { return internal::less(log_p.data(), 0.1 * kNever); }

  // Returns g (y - the share of the alignments with each label), 0 after the end of a sequence. If the result will be
  // differentiated, the values kept from forward are computed again as Variables.
  Variable gradient(const Variable& gy) const {
    const bool composed = needs_double_backprop();
    const Variable x = retained_input(0);
    const Parts p = composed ? parts(x, true) : kept_;
    Variable shares = share(p, composed);
    if (!a_.is_full()) shares = autograd::masked(shares, a_.inside);
    const Variable occupied = autograd::apply_node<SumByLabel>({shares}, a_, x.shape(1))[0];
    const Variable g =
        options_.zero_infinity ? autograd::masked(gy, apply(catena::kernels::logical_not, {ignored(p.log_p)})) : gy;
    Variable gx = (exp(p.log_y) - occupied) * reshape(g, {1, a_.batch, 1});
    if (!a_.is_full()) gx = autograd::masked(gx, autograd::broadcast_to(a_.used, gx.shape()));
    return reshape(gx, x.shape());
  }
  Variable share(const Parts& p, bool composed) const {
    const Variable beta = mirrored(alpha_of(mirrored(p.emission, a_), mirrored_labels(a_), composed), a_);
    const Variable log_p = reshape(p.log_p, {1, 1, a_.batch});
    const Array share =
        apply(catena::kernels::ctc_share, {p.alpha.data(), beta.data(), p.emission.data(), log_p.data()});
    if (!composed) return constant_variable(share);
    const Array possible = internal::greater(share, 0);
    return autograd::masked(exp(autograd::masked(p.alpha + beta - p.emission - log_p, possible)), possible);
  }

  std::int64_t times_;
  int blank_;
  CTCOptions options_;
  Alignment a_;
  Parts kept_;
};

void check_lengths(const Array& given, const char* name, std::int64_t batch, std::int64_t least, std::int64_t most) {
  if (!given) return;
  if (given.ndim() != 1 || given.shape(0) != batch || !catena::is_integer(given.dtype()))
    throw catena::InvalidType(catena::concat(name, " holds integers of the shape (", batch, ",)"),
                              catena::concat(given.dtype(), " of ", given.shape()));
  if (!autograd::is_debug()) return;
  for (const std::int64_t n : autograd::to_vector<std::int64_t>(given))
    check<AssertionError>(n >= least && n <= most, kOp, name, " has ", n, ", which does not lie between ", least,
                          " and ", most);
}

// Returns the number of labels of each sequence, at least 1.
autograd::Constant label_counts(const Array& label_length, const Variable& t, Dtype dtype) {
  if (!label_length) return double(std::max<std::int64_t>(t.shape(1), 1));
  const Array counts = autograd::astype(autograd::to_device(label_length, t.device()), dtype);
  return apply(catena::kernels::maximum, {counts, 1.0});
}

// Returns labels that are given one after the other as (B, L), where L is the greatest length.
Array one_per_row(const Array& t, const Array& label_length) {
  check<catena::ValueError>(bool(label_length), kOp, "labels of one axis need label_length");
  const std::vector<std::int64_t> lengths = autograd::to_vector<std::int64_t>(label_length);
  std::int64_t longest = 0, total = 0;
  for (const std::int64_t n : lengths) {
    check<catena::ValueError>(n >= 0, kOp, "label_length has ", n, " and must not be negative");
    longest = std::max(longest, n), total += n;
  }
  check<catena::ValueError>(total == t.size(), kOp, "label_length adds up to ", total, ", but there are ", t.size(),
                            " labels");
  if (total == 0) return autograd::arrays::empty({std::int64_t(lengths.size()), 0}, t.dtype(), t.device());
  std::vector<std::int64_t> positions;
  std::int64_t begin = 0;
  for (const std::int64_t n : lengths) {
    for (std::int64_t j = 0; j < longest; ++j) positions.push_back(j < n ? begin + j : 0);
    begin += n;
  }
  const Array at = autograd::array(positions, {std::int64_t(lengths.size()), longest});
  return autograd::take(t, autograd::to_device(at, t.device()), 0);
}

}  // namespace

Variable connectionist_temporal_classification(const Variables& given, const Variable& given_t, int blank,
                                               const CTCOptions& o) {
  internal::check_reduce(kOp, o.reduce, {"mean", "sum", "no"});
  const bool in_one = given.size() == 1 && given[0] && given[0].ndim() == 3;
  check<catena::ValueError>(in_one || !o.batch_first, kOp, "batch_first needs scores in one Variable (B, T, V)");
  const Variables xs = o.batch_first ? Variables{transpose(given[0], {1, 0, 2})} : given;
  const bool joined = given_t && given_t.ndim() == 1 && catena::is_integer(given_t.dtype());
  const Variable t = joined ? Variable(one_per_row(given_t.data(), o.label_length)) : given_t;
  check<catena::ValueError>(!xs.empty() && !(in_one && xs[0].shape(0) == 0), kOp, "there are no scores");
  Variables inputs = xs;
  inputs.push_back(t);
  internal::check_inputs("ConnectionistTemporalClassification", "x", inputs, [&](const TypeInfoTuple& in_types) {
    using namespace autograd::type_check;
    const int times = int(xs.size());
    internal::expect_floats(in_types, 0, times - 1);
    if (!in_one) expect(in_types[0].ndim == 2);
    for (int k = 1; k < times; ++k) expect(in_types[k].shape == in_types[0].shape);
    internal::expect_labels(in_types, times);
    expect(in_types[times].ndim == 2, in_types[times].shape[0] == in_types[0].shape[in_one ? 1 : 0]);
  });
  const std::int64_t batch = xs[0].shape(in_one ? 1 : 0), classes = xs[0].shape(in_one ? 2 : 1);
  const std::int64_t times = in_one ? xs[0].shape(0) : std::int64_t(xs.size());
  check<AssertionError>(blank >= 0 && blank < classes, kOp, "blank_symbol is ", blank, ", which is none of ", classes,
                        " classes");
  check_lengths(o.input_length, "input_length", batch, 1, times);
  check_lengths(o.label_length, "label_length", batch, 0, t.shape(1));
  const Variable scores = internal::wide(in_one ? reshape(xs[0], {times * batch, classes}) : autograd::concat(xs, 0));
  Variable losses = autograd::apply_node<CTC>({scores, t}, times, blank, o)[0];
  if (o.normalize) losses = losses / label_counts(o.label_length, t, losses.dtype());
  return internal::reduced(losses, o.reduce, double(batch), xs[0].dtype());
}

Variable connectionist_temporal_classification(const Variables& x, const Variable& t, int blank_symbol,
                                               const Array& input_length, const Array& label_length,
                                               const std::string& reduce) {
  return connectionist_temporal_classification(
      x, t, blank_symbol, CTCOptions{.input_length = input_length, .label_length = label_length, .reduce = reduce});
}

Variable ctc_loss(const Variable& log_probs, const Variable& t, const Array& input_lengths, const Array& target_lengths,
                  const CTCLossOptions& o) {
  // The logarithms of probabilities are also scores, because softmax of them gives the probabilities.
  return connectionist_temporal_classification(Variables{log_probs}, t, o.blank,
                                               CTCOptions{.input_length = input_lengths,
                                                          .label_length = target_lengths,
                                                          .reduce = internal::reduce_of("ctc_loss", o.reduction),
                                                          .zero_infinity = o.zero_infinity,
                                                          .normalize = o.reduction == "mean"});
}

}  // namespace nn
