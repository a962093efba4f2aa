#include <catena/kernels/base/einsum_contraction.h>

#include <algorithm>
#include <utility>

namespace catena::einsum {
namespace {

bool is_in(const LabelSet& set, int label) { return set[static_cast<std::size_t>(label)]; }

struct Term {
  const ArrayHeader* array;
  Labels labels;

  explicit Term(const Contraction::Term& t) : array(t.array), labels(t.labels) {}
  int axis_of(int label) const {
    const auto at = std::find(labels.begin(), labels.end(), label);
    return at == labels.end() ? -1 : static_cast<int>(at - labels.begin());
  }
  bool has(int label) const { return axis_of(label) >= 0; }
  std::int64_t length(int label) const { return array->shape[axis_of(label)]; }
  std::int64_t stride(int label) const { return array->strides[axis_of(label)]; }
  std::int64_t length_of(const Labels& of) const {
    std::int64_t n = 1;
    for (const int label : of) n *= length(label);
    return n;
  }
};

// True if the axes, in this order, can be merged to one without a copy.
bool merge(const Term& t, const Labels& labels) {
  std::int64_t step = 0;
  for (std::size_t i = labels.size(); i-- > 0;) {
    const std::int64_t length = t.length(labels[i]), stride = t.stride(labels[i]);
    if (length == 1) continue;
    if (step != 0 && stride != step) return false;
    step = stride * length;
  }
  return true;
}

// The labels in the order of the result if they merge so, or else in the order of the memory of `t`.
Labels merged_order(const Term& t, const Labels& labels, const Labels& result) {
  Labels order;
  for (const int label : result)
    if (std::find(labels.begin(), labels.end(), label) != labels.end()) order.push_back(label);
  if (order.size() != labels.size()) order = labels;
  if (merge(t, order)) return order;
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return t.stride(a) > t.stride(b); });
  return order;
}

// The position of a label, or that behind all others.
std::ptrdiff_t place_of(int label, const Labels& labels) {
  return std::find(labels.begin(), labels.end(), label) - labels.begin();
}

Labels joined(Labels a, const Labels& b, const Labels& c = {}) {
  a.insert(a.end(), b.begin(), b.end());
  a.insert(a.end(), c.begin(), c.end());
  return a;
}

// The axes of a contraction.
struct Roles {
  Labels stack, left, right, summed;

  Roles(const Term& x, const Term& y, const LabelSet& kept) {
    for (const int label : x.labels) {
      if (!y.has(label)) left.push_back(label);
      else (is_in(kept, label) ? stack : summed).push_back(label);
    }
    for (const int label : y.labels)
      if (!x.has(label)) right.push_back(label);
  }
  Labels all_kept() const { return joined(stack, left, right); }
};

// True if one of the axes has neighbouring elements.
bool runs_along(const Term& t, const Labels& labels) {
  const auto item = static_cast<std::int64_t>(itemsize(t.array->dtype));
  return std::any_of(labels.begin(), labels.end(), [&](int label) { return t.stride(label) == item; });
}

// Stacks of products of one row with one column, which are better multiplied and summed: short ones, for which a matrix
// product has to be started, and those along an axis whose elements lie apart. 16-bit floats would be rounded between.
bool are_loose_dots(const Roles& r, const Term& x, const Term& y) {
  constexpr std::int64_t kShort = 128;
  if (r.stack.empty() || x.length_of(r.left) * y.length_of(r.right) != 1) return false;
  if (compute_dtype(x.array->dtype) != x.array->dtype) return false;
  return x.length_of(r.summed) <= kShort || !runs_along(x, r.summed) || !runs_along(y, r.summed);
}

// The operand with the axes of these labels, of which those that it does not have get length 1.
Contraction::Operand spread(const Term& t, const Labels& labels) {
  Contraction::Operand o;
  for (const int label : labels) {
    if (t.has(label)) o.axes.push_back(t.axis_of(label));
    o.shape.push_back(t.has(label) ? t.length(label) : 1);
  }
  return o;
}

// The operand as a stack of matrices (stack..., rows, columns).
Contraction::Operand matrices(const Term& t, const Labels& stack, const Labels& rows, const Labels& columns) {
  Contraction::Operand o;
  for (const int label : joined(stack, rows, columns)) o.axes.push_back(t.axis_of(label));
  for (const int label : stack) o.shape.push_back(t.length(label));
  o.shape.push_back(t.length_of(rows));
  o.shape.push_back(t.length_of(columns));
  return o;
}

}  // namespace

Contraction::Contraction(Term first, Term second, const LabelSet& kept, const Labels& result) {
  einsum::Term x(first), y(second);
  // The last axis of the result is one of the columns.
  swapped = !result.empty() && x.has(result.back()) && !y.has(result.back());
  if (swapped) std::swap(x, y);
  Roles r(x, y, kept);
  labels = r.all_kept();
  if (r.summed.empty()) {
    if (result.size() == labels.size()) labels = result;
    operands[0] = spread(x, labels);
    operands[1] = spread(y, labels);
    return;
  }
  if (are_loose_dots(r, x, y)) {
    method = Method::dots;
    // With the axes in the order of the memory of `x`.
    Labels all = joined(labels, r.summed);
    std::stable_sort(all.begin(), all.end(),
                     [&](int a, int b) { return (x.has(a) ? x.stride(a) : 0) > (x.has(b) ? x.stride(b) : 0); });
    labels.clear();
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (std::find(r.summed.begin(), r.summed.end(), all[i]) == r.summed.end()) labels.push_back(all[i]);
      else summed_axes.push_back(static_cast<std::int64_t>(i));
    }
    operands[0] = spread(x, all);
    operands[1] = spread(y, all);
    return;
  }
  method = Method::matmul;
  std::stable_sort(r.stack.begin(), r.stack.end(),
                   [&](int a, int b) { return place_of(a, result) < place_of(b, result); });
  r.left = merged_order(x, r.left, result);
  r.right = merged_order(y, r.right, result);
  r.summed = x.array->size > y.array->size ? merged_order(x, r.summed, {}) : merged_order(y, r.summed, {});
  operands[0] = matrices(x, r.stack, r.left, r.summed);
  operands[1] = matrices(y, r.stack, r.summed, r.right);
  for (const int label : joined(r.stack, r.left)) shape.push_back(x.length(label));
  for (const int label : r.right) shape.push_back(y.length(label));
  labels = r.all_kept();
}

bool matrices_lie_apart(const ArrayHeader& stack) {
  const auto item = static_cast<std::int64_t>(itemsize(stack.dtype));
  const int last = stack.shape.size() - 1;
  const std::int64_t elements = stack.shape[last] * stack.shape[last - 1];
  return stack.strides[last] != item && stack.strides[last - 1] != item && elements > 1 && stack.size > elements;
}

}  // namespace catena::einsum
