// Products of matrices and of stacks of matrices.
#include <catena/autograd/function_node.h>
#include <catena/autograd/function_options.h>
#include <catena/autograd/functions/array.h>
#include <catena/autograd/functions/basic_math.h>
#include <catena/autograd/functions/linalg.h>
#include <catena/autograd/functions/linalg/structure.h>
#include <catena/autograd/functions/reduction.h>
#include <catena/autograd/input_types.h>

namespace autograd {

using type_check::TypeInfoTuple;

namespace {

// The meaning of the operands' axes: matrices and vectors (rank 2 and 1), or stacks of matrices (rank 2 and above).
enum class Operands : bool { matrices, stacks };

class MatMul final : public FunctionNode, public internal::HasOptions {
 public:
  MatMul(bool transa, bool transb, const char* label, Operands operands = Operands::matrices)
      : transa_(transa), transb_(transb), label_(label), operands_(operands) {}
  std::string label() const override { return label_; }
  void options(internal::FunctionOptions& o) const override {
    o.function("MatMul");
    o.integer("transa", transa_);
    o.integer("transb", transb_);
  }
  std::string_view input_names() const override { return "a b"; }
  void check_type_forward(const TypeInfoTuple& in_types) const override {
    using namespace type_check;
    expect(in_types.size() == 2);
    const auto a = in_types[0], b = in_types[1];
    expect(a.dtype.kind() == 'f', a.dtype == b.dtype);
    if (operands_ == Operands::stacks) return check_stacks(in_types);
    expect(a.ndim >= 1, a.ndim <= 2, b.ndim >= 1, b.ndim <= 2);
    // The summed axis of each operand. A vector is a column, so its second length is 1.
    const bool a_rows = transa_, b_rows = !transb_;
    const bool a_is_one = !a_rows && in_types.shape(0).size() == 1, b_is_one = !b_rows && in_types.shape(1).size() == 1;
    const auto one = variable(1, "1");
    if (a_is_one && !b_is_one) expect(one == b.shape[b_rows ? 0 : 1]);
    else if (!a_is_one && b_is_one) expect(a.shape[a_rows ? 0 : 1] == one);
    else if (!a_is_one) expect(a.shape[a_rows ? 0 : 1] == b.shape[b_rows ? 0 : 1]);
  }
  Arrays forward(const Arrays& x) override {
    retain_inputs({0, 1});
    return {autograd::matmul(as_matrix(x[0]), as_matrix(x[1]), transa_, transb_)};
  }
  Variables backward(const Targets& targets, const Variables& gy) override {
    Variables gx;
    for (const int t : targets) {
      const Variable other = retained_input(1 - t);
      Variable g;
      if (t == 0) g = transa_ ? product(other, gy[0], transb_, true) : product(gy[0], other, false, !transb_);
      else g = transb_ ? product(gy[0], other, true, transa_) : product(other, gy[0], !transa_, false);
      gx.push_back(operands_ == Operands::stacks ? sum_to(g, input_shape(t)) : reshape(g, input_shape(t)));
    }
    return gx;
  }

 private:
  void check_stacks(const TypeInfoTuple& in_types) const {
    using namespace type_check;
    expect(in_types[0].ndim >= 2, in_types[1].ndim >= 2);
    expect(in_types[0].shape[transa_ ? -2 : -1] == in_types[1].shape[transb_ ? -1 : -2]);
    autograd::internal::expect_leading_axes(in_types);
  }
  static Array as_matrix(const Array& a) { return a.ndim() == 1 ? expand_dims(a, 1) : a; }
  Variable product(const Variable& a, const Variable& b, bool ta, bool tb) const {
    return apply_node<MatMul>({a, b}, ta, tb, label_, operands_)[0];
  }

  bool transa_, transb_;
  const char* label_;
  Operands operands_;
};

Variable stacks(const Variable& a, const Variable& b, bool transa, bool transb, const char* label) {
  return apply_node<MatMul>({a, b}, transa, transb, label, Operands::stacks)[0];
}

// A vector operand is a row or a column; the result does not have its axis.
Variable stacks_and_vectors(const Variable& a, const Variable& b, const MatmulOptions& o) {
  const bool row = a.ndim() == 1, column = b.ndim() == 1;
  const Variable y = stacks(row ? expand_dims(a, 0) : a, column ? expand_dims(b, 1) : b, !row && o.transa,
                            !column && o.transb, "MatMul");
  return row ? squeeze(y, -2) : column ? squeeze(y, -1) : y;
}

}  // namespace

namespace internal {

Variable matmul(const Variable& a, const Variable& b, bool transa, bool transb, const char* label) {
  return apply_node<MatMul>({a, b}, transa, transb, label)[0];
}
Variable stack_product(const Variable& a, const Variable& b, bool transa, bool transb) {
  return stacks(a, b, transa, transb, "MatMul");
}

}  // namespace internal

Variable matmul(const Variable& a, const Variable& b, const MatmulOptions& o) {
  const bool vectors = a && b && (a.ndim() > 2 || b.ndim() > 2) && a.ndim() > 0 && b.ndim() > 0;
  return vectors ? stacks_and_vectors(a, b, o) : internal::matmul(a, b, o.transa, o.transb, "MatMul");
}

Variable batch_matmul(const Variable& a, const Variable& b, const MatmulOptions& o) {
  constexpr const char* label = "BatchMatMul";
  internal::check_input_types(
      label, {a, b},
      [](const TypeInfoTuple& in_types) {
        using namespace type_check;
        const auto a = in_types[0], b = in_types[1];
        expect(a.dtype.kind() == 'f', a.dtype == b.dtype, a.ndim >= 2, a.ndim <= 3, b.ndim >= 2, b.ndim <= 3,
               a.shape[0] == b.shape[0]);
      },
      "a b");
  const auto matrices = [](const Variable& v) { return v.ndim() == 2 ? expand_dims(v, 2) : v; };
  return stacks(matrices(a), matrices(b), o.transa, o.transb, label);
}

}  // namespace autograd
