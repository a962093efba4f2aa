#include <catena/nn/functions/evaluation.h>

#include <algorithm>

#include <catena/autograd/function_node.h>
#include <catena/autograd/function_options.h>
#include <catena/autograd/indexed_access.h>
#include <catena/kernels/registry/families.h>
#include <catena/nn/functions/composed.h>
#include <catena/nn/functions/labels.h>

namespace nn {

using autograd::apply;
using autograd::Array;
using autograd::Arrays;
using autograd::Dtype;
using autograd::FunctionNode;
using autograd::Operand;
using autograd::Shape;
using autograd::Variables;
using autograd::type_check::TypeInfoTuple;
using internal::both;

namespace {

// Checks scores (N, C, d...) and labels (N, d...).
void expect_classes(const TypeInfoTuple& in_types) {
  using namespace autograd::type_check;
  expect(in_types.size() == 2, in_types[0].dtype.kind() == 'f');
  internal::expect_labels(in_types, 1);
  expect(in_types[0].ndim >= in_types[1].ndim, in_types[0].ndim >= 2, in_types[0].shape[0] == in_types[1].shape[0]);
  const int rank = in_types.shape(1).size();
  for (int a = 2; a < in_types.shape(0).size(); ++a) {
    if (a <= rank) expect(in_types[0].shape[a] == in_types[1].shape[a - 1]);
    else expect(in_types[0].shape[a] == 1);
  }
}

Array predicted_classes(const Array& y, const Shape& shape) {
  return autograd::reshape(autograd::reduce(catena::kernels::argmax, y, 1), shape);
}

class Accuracy final : public FunctionNode, public autograd::internal::HasOptions {
 public:
  explicit Accuracy(std::optional<int> ignore_label) : ignore_label_(ignore_label) {}
  std::string label() const override { return "Accuracy"; }
  void options(autograd::internal::FunctionOptions& o) const override {
    if (ignore_label_) o.integer("ignore_label", *ignore_label_);
  }
  std::string_view input_names() const override { return "y t"; }

  void check_type_forward(const TypeInfoTuple& in_types) const override { expect_classes(in_types); }

  Arrays forward(const Arrays& in) override {
    const Array &y = in[0], t = internal::labels_of(in[1]);
    internal::check_labels("accuracy", in[1], y.shape(1), ignore_label_, true);
    const Array predicted = predicted_classes(y, t.shape());
    const Array hit = apply(catena::kernels::equal, {predicted, t});
    // Counts may exceed the range of 16-bit floats.
    const Dtype counting = catena::compute_dtype(y.dtype());
    if (!ignore_label_) return {autograd::astype(autograd::mean(autograd::astype(hit, counting)), y.dtype())};
    const Array valid = apply(catena::kernels::not_equal, {t, *ignore_label_});
    const auto count = [&](const Array& a) {
      return autograd::astype(autograd::reduce(catena::kernels::count_nonzero, a), counting);
    };
    const Array hits = count(apply(catena::kernels::logical_and, {hit, valid}));
    return {autograd::astype(hits / apply(catena::kernels::maximum, {count(valid), 1.0}), y.dtype())};
  }

 private:
  std::optional<int> ignore_label_;
};

}  // namespace

Variable accuracy(const Variable& y, const Variable& t, std::optional<int> ignore_label) {
  return autograd::apply_node<Accuracy>({y, t}, ignore_label)[0];
}

namespace {

// A function without gradients: a check and a computation on arrays.
class Measure final : public FunctionNode {
 public:
  using Check = void (*)(const TypeInfoTuple& in_types);
  Measure(const char* label, const char* names, Check check, const catena::Function<Arrays(const Arrays&)>& compute)
      : label_(label), names_(names), check_(check), compute_(compute) {}
  std::string label() const override { return label_; }
  std::string_view input_names() const override { return names_; }
  void check_type_forward(const TypeInfoTuple& in_types) const override { check_(in_types); }
  Arrays forward(const Arrays& in) override { return compute_(in); }

 private:
  const char *label_, *names_;
  Check check_;
  catena::Function<Arrays(const Arrays&)> compute_;
};

Variables measure(const char* label, const char* names, const Variables& inputs, Measure::Check check,
                  const catena::Function<Arrays(const Arrays&)>& compute) {
  return autograd::apply_node<Measure>(inputs, label, names, check, compute);
}

// Counts each of 0 .. n - 1 among the values where `counted` is true, by one scatter. All other values are counted in
// an additional element.
Array histogram(const Array& values, const Array& counted, std::int64_t n) {
  const Array inside = both(counted, both(internal::greater_equal(values, 0), internal::less(values, n)));
  const Array places = autograd::reshape(autograd::where(inside, autograd::astype(values, Dtype::int64), n), {-1});
  const Array counts = autograd::arrays::full({n + 1}, 0, Dtype::int64, values.device());
  autograd::internal::scatter(catena::ScatterMode::add,
                              {counts,
                               {&places, 1},
                               autograd::Dims{0},
                               places.shape(),
                               autograd::Dims{-1},
                               "classification_summary",
                               nullptr,
                               true},
                              catena::Input(catena::Scalar(std::int64_t(1))));
  return autograd::slice(counts, 0, 0, n);
}

std::int64_t number_of_classes(const Array& t, const ClassificationOptions& o) {
  constexpr const char* op = "classification_summary";
  std::int64_t n = 0;
  if (o.label_num) {
    n = *o.label_num;
    catena::check<catena::ValueError>(n > 0, op, "label_num is ", n, " and must be positive");
  } else {
    catena::check<catena::ValueError>(t.size() > 0, op, "there are no labels, so label_num must be given");
    n = std::max<std::int64_t>(autograd::item(autograd::amax(t)).to<std::int64_t>() + 1, 0);
  }
  if (autograd::is_debug() && t.size() > 0) {
    const std::int64_t most = autograd::item(autograd::amax(t)).to<std::int64_t>();
    catena::check<catena::AssertionError>(most < n, op, "the label ", most, " is not less than label_num, ", n);
  }
  return n;
}

}  // namespace

Variable binary_accuracy(const Variable& y, const Variable& t) {
  const auto check = [](const TypeInfoTuple& in_types) {
    using namespace autograd::type_check;
    expect(in_types.size() == 2, in_types[0].dtype.kind() == 'f');
    internal::expect_labels(in_types, 1);
    expect(in_types[0].shape == in_types[1].shape);
  };
  return measure("BinaryAccuracy", "y t", {y, t}, check, [](const Arrays& in) -> Arrays {
    const Array labels = internal::labels_of(in[1]), valid = internal::not_equal(labels, -1);
    const Array hit = internal::equal(autograd::astype(internal::greater_equal(in[0], 0), Dtype::int32), labels);
    const Dtype counting = catena::compute_dtype(in[0].dtype());
    const Array hits = autograd::astype(autograd::reduce(catena::kernels::count_nonzero, both(hit, valid)), counting);
    return {autograd::astype(hits / internal::count_of(valid, counting), in[0].dtype())};
  })[0];
}

ClassificationSummary classification_summary(const Variable& y, const Variable& t, const ClassificationOptions& o) {
  const Variables results =
      measure("ClassificationSummary", "y t", {y, t}, expect_classes, [&](const Arrays& in) -> Arrays {
        const Array labels = internal::labels_of(in[1]), valid = internal::not_equal(labels, o.ignore_label);
        const std::int64_t n = number_of_classes(labels, o);
        const Array predicted = predicted_classes(in[0], labels.shape());
        const Dtype counting = catena::compute_dtype(in[0].dtype());
        const auto count = [&](const Array& values, const Array& counted) {
          return autograd::astype(histogram(values, counted, n), counting);
        };
        const Array hits = count(labels, both(valid, internal::equal(predicted, labels)));
        const Array support = histogram(labels, valid, n);
        const Array precision = hits / count(predicted, valid), recall = hits / autograd::astype(support, counting);
        const double beta2 = o.beta * o.beta;
        const Array fbeta = precision * recall * (1 + beta2) / (precision * beta2 + recall);
        const Dtype dtype = in[0].dtype();
        return {autograd::astype(precision, dtype), autograd::astype(recall, dtype), autograd::astype(fbeta, dtype),
                support};
      });
  return {results[0], results[1], results[2], results[3]};
}

ClassScores precision(const Variable& y, const Variable& t, std::optional<int> label_num, int ignore_label) {
  const ClassificationSummary s = classification_summary(y, t, {label_num, 1, ignore_label});
  return {s.precision, s.support};
}
ClassScores recall(const Variable& y, const Variable& t, std::optional<int> label_num, int ignore_label) {
  const ClassificationSummary s = classification_summary(y, t, {label_num, 1, ignore_label});
  return {s.recall, s.support};
}
ClassScores fbeta_score(const Variable& y, const Variable& t, std::optional<int> label_num, double beta,
                        int ignore_label) {
  const ClassificationSummary s = classification_summary(y, t, {label_num, beta, ignore_label});
  return {s.fbeta, s.support};
}
ClassScores f1_score(const Variable& y, const Variable& t, std::optional<int> label_num, int ignore_label) {
  return fbeta_score(y, t, label_num, 1, ignore_label);
}

Variable r2_score(const Variable& pred, const Variable& truth, const R2Options& o) {
  catena::check<catena::ValueError>(o.multioutput == "uniform_average" || o.multioutput == "raw_values", "r2_score",
                                    "multioutput is \"", o.multioutput,
                                    "\"; it must be \"uniform_average\" or \"raw_values\"");
  catena::check<catena::NotImplementedError>(!o.sample_weight, "r2_score", "sample weights are not implemented");
  const auto check = [](const TypeInfoTuple& in_types) {
    using namespace autograd::type_check;
    internal::expect_alike(in_types);
    expect(in_types[0].ndim >= 1);
  };
  return measure("R2_score", "pred truth", {pred, truth}, check, [&](const Arrays& in) -> Arrays {
    const Dtype counting = catena::compute_dtype(in[0].dtype());
    const Array p = autograd::astype(in[0], counting), t = autograd::astype(in[1], counting);
    const auto squares = [](const Array& a) { return autograd::sum(a * a, 0); };
    const Array variance = squares(t - autograd::mean(t, 0, true)), error = squares(p - t);
    const Array varies = internal::not_equal(variance, 0);
    const Array scores = autograd::where(varies, 1 - error / autograd::where(varies, variance, 1), 0);
    return {autograd::astype(o.multioutput == "raw_values" ? scores : autograd::mean(scores), in[0].dtype())};
  })[0];
}

}  // namespace nn
