#include <catena/autograd/functions/einsum.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include <catena/autograd/function_node.h>
#include <catena/autograd/function_options.h>
#include <catena/autograd/functions/array.h>
#include <catena/autograd/functions/reduction.h>
#include <catena/autograd/input_types.h>
#include <catena/kernels/base/einsum_contraction.h>
#include <catena/kernels/base/einsum_path.h>

namespace autograd {

using catena::check;
using catena::ValueError;
using catena::einsum::Labels;
using catena::einsum::LabelSet;
using catena::einsum::set_of;
using Plan = catena::einsum::Contraction;

namespace {

// The axes in the order of other labels.
Dims order_of(const Labels& labels, const Labels& wanted) {
  Dims axes;
  for (const int label : wanted) axes.push_back(std::find(labels.begin(), labels.end(), label) - labels.begin());
  return axes;
}
bool in_order(const Dims& axes) {
  for (int i = 0; i < axes.size(); ++i)
    if (axes[i] != i) return false;
  return true;
}

Array arranged(const Array& a, const Plan::Operand& as) { return reshape(transpose(a, as.axes), as.shape); }
Array in_matrices(const Array& a) { return catena::einsum::matrices_lie_apart(*a.get()) ? copy(a) : a; }

Array contracted(const Plan& plan, const Array& first, const Array& second) {
  const Array left = arranged(plan.swapped ? second : first, plan.operands[0]),
              right = arranged(plan.swapped ? first : second, plan.operands[1]);
  if (plan.method == Plan::Method::multiply) return left * right;
  if (plan.method == Plan::Method::dots)
    return map_reduce(catena::kernels::sum, catena::kernels::multiply, {left, right}, plan.summed_axes);
  return reshape(matmul(in_matrices(left), in_matrices(right)), plan.shape);
}

// The contraction of two operands whose axes have different labels. An axis of one operand is one of the other or of
// the result, so the gradients are such contractions, too.
class Contraction final : public FunctionNode, public internal::HasOptions {
 public:
  Contraction(const Labels& first, const Labels& second, const Labels& result) : in_{first, second}, out_(result) {}
  std::string label() const override { return "einsum"; }
  void options(internal::FunctionOptions& o) const override {
    const auto list = [](const Labels& labels) { return std::vector<std::int64_t>(labels.begin(), labels.end()); };
    o.integers("first", list(in_[0]));
    o.integers("second", list(in_[1]));
    o.integers("result", list(out_));
  }
  Arrays forward(const Arrays& x) override {
    retain_inputs({0, 1});
    const Plan plan({x[0].get(), in_[0]}, {x[1].get(), in_[1]}, set_of(out_), out_);
    const Array y = contracted(plan, x[0], x[1]);
    const Dims axes = order_of(plan.labels, out_);
    return {in_order(axes) ? y : autograd::transpose(y, axes)};
  }
  Variables backward(const Targets& targets, const Variables& gy) override {
    Variables gx;
    for (const int t : targets)
      gx.push_back(apply_node<Contraction>({gy[0], retained_input(1 - t)}, out_, in_[1 - t], in_[t])[0]);
    return gx;
  }

 private:
  Labels in_[2], out_;
};

// An operand, or the result of contractions of several ones.
struct Term {
  Variable v;
  Labels labels;
};

// Takes the diagonals of repeated axes, and drops axes of length 1 that broadcast.
Term term_of(const Variable& operand, const Labels& labels, const std::vector<std::int64_t>& lengths) {
  Term t{operand, labels};
  for (std::size_t i = 0; i < t.labels.size();) {
    const int label = t.labels[i];
    const auto next = t.labels.begin() + static_cast<std::ptrdiff_t>(i) + 1;
    const auto again = std::find(next, t.labels.end(), label);
    if (again == t.labels.end()) {
      ++i;
      continue;
    }
    t.v = diagonal(t.v, 0, static_cast<int>(i), static_cast<int>(again - t.labels.begin()));
    t.labels.erase(again);
    t.labels.erase(t.labels.begin() + static_cast<std::ptrdiff_t>(i));
    t.labels.push_back(label);
  }
  Dims dropped;
  Labels rest;
  for (std::size_t i = 0; i < t.labels.size(); ++i) {
    if (t.v.shape(static_cast<int>(i)) == 1 && lengths[static_cast<std::size_t>(t.labels[i])] != 1)
      dropped.push_back(i);
    else rest.push_back(t.labels[i]);
  }
  return dropped.empty() ? t : Term{squeeze(t.v, dropped), rest};
}

void sum_all_but(Term& t, const LabelSet& kept) {
  Dims axes;
  Labels rest;
  for (std::size_t i = 0; i < t.labels.size(); ++i) {
    if (kept[static_cast<std::size_t>(t.labels[i])]) rest.push_back(t.labels[i]);
    else axes.push_back(i);
  }
  if (!axes.empty()) t = {sum(t.v, axes), rest};
}

// The axes that a contraction keeps: those of `output` if that has them all, in its order, so that it costs no
// transposition later.
Labels kept_labels(const Term& x, const Term& y, const LabelSet& kept, const Labels* output) {
  if (output != nullptr) return *output;
  const Plan plan({x.v.data().get(), x.labels}, {y.v.data().get(), y.labels}, kept, {});
  return plan.labels;
}

Term contraction(Term x, Term y, const LabelSet& kept, const Labels* output) {
  sum_all_but(x, kept | set_of(y.labels));
  sum_all_but(y, kept | set_of(x.labels));
  const Labels labels = kept_labels(x, y, kept, output);
  return {apply_node<Contraction>({x.v, y.v}, x.labels, y.labels, labels)[0], labels};
}

Variable contract_all(std::vector<Term> terms, const catena::einsum::Path& path, const Labels& output) {
  for (const Dims& pair : path) {
    if (pair.size() < 2) continue;
    const auto first = terms.begin() + std::min(pair[0], pair[1]), second = terms.begin() + std::max(pair[0], pair[1]);
    const Term x = *first, y = *second;
    terms.erase(second);
    terms.erase(first);
    LabelSet kept = set_of(output);
    for (const Term& t : terms) kept |= set_of(t.labels);
    terms.push_back(contraction(x, y, kept, terms.empty() ? &output : nullptr));
  }
  Term& last = terms[0];
  sum_all_but(last, set_of(output));
  const Dims axes = order_of(last.labels, output);
  return in_order(axes) ? last.v : transpose(last.v, axes);
}

void check_operands(const Variables& operands) {
  check<ValueError>(!operands.empty(), "einsum", "there are no operands");
  internal::check_input_types("einsum", operands, [](const type_check::TypeInfoTuple& in_types) {
    using namespace type_check;
    expect(in_types[0].dtype.kind() == 'f');
    for (int i = 1; i < static_cast<int>(in_types.count()); ++i) expect(in_types[i].dtype == in_types[0].dtype);
  });
}

}  // namespace

Variable einsum(std::string_view text, const Variables& operands) {
  check_operands(operands);
  std::vector<Shape> shapes;
  for (const Variable& v : operands) shapes.push_back(v.shape());
  const catena::einsum::Subscripts subscripts = catena::einsum::read(text, shapes);
  const Dtype dtype = operands[0].dtype(), computed = operands.size() > 2 ? catena::compute_dtype(dtype) : dtype;
  std::vector<Term> terms;
  for (std::size_t i = 0; i < operands.size(); ++i)
    terms.push_back(term_of(cast(operands[i], computed), subscripts.operands[i], subscripts.lengths));
  return cast(contract_all(std::move(terms), catena::einsum::automatic(subscripts), subscripts.output), dtype);
}

// ---- tensordot ------------------------------------------------------------------------------------

Variable tensordot(const Variable& a, const Variable& b, int n) {
  check<ValueError>(n >= 0 && n <= a.ndim() && n <= b.ndim(), "tensordot", n, " axes of arrays of shapes ", a.shape(),
                    " and ", b.shape(), " cannot be summed over");
  std::pair<Dims, Dims> axes;
  for (int i = 0; i < n; ++i) {
    axes.first.push_back(a.ndim() - n + i);
    axes.second.push_back(i);
  }
  return tensordot(a, b, axes);
}

Variable tensordot(const Variable& a, const Variable& b, const std::pair<Dims, Dims>& axes) {
  check_operands({a, b});
  const auto& [of_a, of_b] = axes;
  check<ValueError>(of_a.size() == of_b.size(), "tensordot", "the lists of axes ", of_a, " and ", of_b,
                    " have different lengths");
  catena::normalize_axes("tensordot", of_a, a.ndim());
  catena::normalize_axes("tensordot", of_b, b.ndim());
  Labels first, second, output;
  for (int i = 0; i < a.ndim(); ++i) first.push_back(i);
  for (int i = 0; i < b.ndim(); ++i) second.push_back(a.ndim() + i);
  for (int k = 0; k < of_a.size(); ++k) {
    const int i = catena::normalize_axis("tensordot", of_a[k], a.ndim()),
              j = catena::normalize_axis("tensordot", of_b[k], b.ndim());
    check<ValueError>(a.shape(i) == b.shape(j), "tensordot", "axis ", i, " of shape ", a.shape(), " and axis ", j,
                      " of shape ", b.shape(), " have different lengths");
    second[static_cast<std::size_t>(j)] = i;
  }
  const LabelSet in_first = set_of(first), in_second = set_of(second);
  for (const int label : first)
    if (!in_second[static_cast<std::size_t>(label)]) output.push_back(label);
  for (const int label : second)
    if (!in_first[static_cast<std::size_t>(label)]) output.push_back(label);
  return apply_node<Contraction>({a, b}, first, second, output)[0];
}

}  // namespace autograd
