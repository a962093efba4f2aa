// Inverses and determinants.
#include <catena/autograd/flag.h>
#include <catena/autograd/function_node.h>
#include <catena/autograd/function_options.h>
#include <catena/autograd/functions/array.h>
#include <catena/autograd/functions/linalg.h>
#include <catena/autograd/linalg_extension.h>

namespace autograd {

using type_check::TypeInfoTuple;

namespace {

// The ranks that a function takes: any from 2 on, or 3 for those of batches.
enum class Rank { any, batch };

// Throws an InvalidType unless the input is floating and square matrices of such a rank.
void expect_square(const TypeInfoTuple& in_types, Rank rank) {
  using namespace type_check;
  expect(in_types.size() == 1, in_types[0].dtype.kind() == 'f');
  if (rank == Rank::any) expect(in_types[0].ndim >= 2);
  else expect(in_types[0].ndim == 3);
  expect(in_types[0].shape[-2] == in_types[0].shape[-1]);
}

class Inverse final : public FunctionNode {
 public:
  Inverse(const char* label, Rank rank, bool for_det = false) : label_(label), rank_(rank), for_det_(for_det) {}
  std::string label() const override { return label_; }
  std::string_view input_names() const override { return "a"; }
  void check_type_forward(const TypeInfoTuple& in_types) const override { expect_square(in_types, rank_); }
  Arrays forward(const Arrays& a) override {
    retain_outputs({0});
    const bool check = for_det_ || is_debug() || a[0].device().kind == Device::Kind::cpu;
    try {
      return {linalg_extension(a[0]).inv(a[0], check)};
    } catch (const catena::LinAlgError& e) {
      if (for_det_) catena::fail<catena::ValueError>("BatchDet", "Input has singular matrices. ", e.what());
      throw catena::ValueError(e.what());
    }
  }
  // Returns -y^T gy y^T, where y = A^-1.
  Variables backward(const Targets&, const Variables& gy) override {
    const Variable y = retained_output(0);
    return {-internal::stack_product(internal::stack_product(y, gy[0], true, false), y, false, true)};
  }

 private:
  const char* label_;
  Rank rank_;
  bool for_det_;
};

class Determinant final : public FunctionNode, public internal::HasOptions {
 public:
  Determinant(const char* label, Rank rank) : label_(label), rank_(rank) {}
  std::string label() const override { return label_; }
  void options(internal::FunctionOptions& o) const override { o.function("Det"); }
  std::string_view input_names() const override { return "a"; }
  void check_type_forward(const TypeInfoTuple& in_types) const override { expect_square(in_types, rank_); }
  Arrays forward(const Arrays& a) override {
    retain_inputs({0});
    retain_outputs({0});
    return {linalg_extension(a[0]).det(a[0])};
  }
  // Returns gy det(A) A^-T.
  Variables backward(const Targets&, const Variables& gy) override {
    const Variable inverse = apply_node<Inverse>({retained_input(0)}, "BatchInv", Rank::any, true)[0];
    return {expand_dims(expand_dims(gy[0] * retained_output(0), -1), -1) * swapaxes(inverse, -2, -1)};
  }

 private:
  const char* label_;
  Rank rank_;
};

}  // namespace

Variable inv(const Variable& a) { return apply_node<Inverse>({a}, "Inv", Rank::any)[0]; }
Variable batch_inv(const Variable& a) { return apply_node<Inverse>({a}, "BatchInv", Rank::batch)[0]; }
Variable det(const Variable& a) { return apply_node<Determinant>({a}, "Det", Rank::any)[0]; }
Variable batch_det(const Variable& a) { return apply_node<Determinant>({a}, "det", Rank::batch)[0]; }

}  // namespace autograd
