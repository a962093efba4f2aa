#include <catena/autograd/ndarray_backend/sparse.h>

#include <catena/autograd/function_node.h>
#include <catena/autograd/functions/array.h>
#include <catena/autograd/functions/reduction.h>
#include <catena/autograd/ndarray_backend/convert.h>

namespace autograd {
namespace {

// The product of the matrix, or of the transposed one, and x.
class SparseMatmul final : public FunctionNode {
 public:
  SparseMatmul(const nd::sparse::csr_matrix& places, bool transposed) : places_(places), transposed_(transposed) {}
  std::string label() const override { return "SparseMatmul"; }
  std::string_view input_names() const override { return "values x"; }
  void check_type_forward(const type_check::TypeInfoTuple& in_types) const override {
    using namespace type_check;
    const auto values = in_types[0], x = in_types[1];
    expect(values.dtype == x.dtype, x.ndim >= 1, x.ndim <= 2);
    const bool wide = in_types.dtype(0) == Dtype::float32 || in_types.dtype(0) == Dtype::float64;
    if (!wide)
      throw catena::InvalidType("in_types[0].dtype is float32 or float64", std::string(name_of(in_types.dtype(0))));
    expect(values.ndim == 1, values.shape[0] == variable(places_.nnz(), "nnz"));
    expect(x.shape[0] == variable(places_.shape(transposed_ ? 0 : 1), "a.shape[1]"));
  }
  Arrays forward(const Arrays& in) override {
    retain_inputs({0, 1});
    const nd::sparse::csr_matrix a = places_.with_data(in[0]);
    return {(transposed_ ? a.T() : a).dot(nd::Array(in[1]))};
  }
  Variables backward(const Targets& targets, const Variables& gy) override {
    Variables g;
    for (const int t : targets) {
      if (t == 1) g.push_back(apply_node<SparseMatmul>({retained_input(0), gy[0]}, places_, !transposed_)[0]);
      else g.push_back(transposed_ ? at_places(retained_input(1), gy[0]) : at_places(gy[0], retained_input(1)));
    }
    return g;
  }

 private:
  // The elements of rows columns^T at the places of the matrix.
  Variable at_places(const Variable& rows, const Variable& columns) const {
    const nd::sparse::coo_matrix list = places_.tocoo();
    const Variable products =
        get_item(rows, {IndexItem(Array(list.row()))}) * get_item(columns, {IndexItem(Array(list.col()))});
    return products.ndim() == 1 ? products : sum(products, 1);
  }

  nd::sparse::csr_matrix places_;
  bool transposed_;
};

}  // namespace

Variable sparse_matmul(const nd::sparse::csr_matrix& a, const Variable& values, const Variable& x) {
  return apply_node<SparseMatmul>({values, x}, a, false)[0];
}

Variable sparse_matmul(const nd::sparse::csr_matrix& a, const Variable& x) {
  return sparse_matmul(a, Variable(a.data()), x);
}

}  // namespace autograd
