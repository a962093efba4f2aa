// The parts that the iterative functions of ndarray/sparse/linalg.h have in common. Internal to ndarray/sparse.
#pragma once

#include <complex>
#include <string_view>

#include <catena/ndarray/sparse/linalg.h>

namespace nd::sparse::linalg {

// |v|, as a number of the host.
double length_of(const Array& v);
// The sum of conj(a) b.
std::complex<double> inner_product(const Array& a, const Array& b);
// A number in the dtype of a vector, which it multiplies.
Operand factor(std::complex<double> number, Dtype dtype);

// The dtype in which a system is solved.
Dtype system_dtype(Dtype a, Dtype b);
// b or x0 as a vector of that dtype; a copy. ValueError for another length than n.
Array system_vector(std::string_view op, std::string_view name, const Array& v, std::int64_t n, Dtype dtype);

// A square system: A, b and the first x as vectors of one dtype, M, and the norm that the residual has to reach.
struct System {
  System(std::string_view op, const LinearOperator& A, const Array& b, const Array& x0, const LinearOperator& M,
         double rtol, double atol);
  Array residual() const { return b - A.matvec(x); }
  Array precondition(const Array& r) const { return M.is_null() ? r : M.matvec(r); }
  Array result() const { return x.reshape(shape); }

  const LinearOperator &A, &M;
  std::int64_t n;
  Shape shape;  // of the result
  Dtype dtype;
  Array b, x;
  double b_norm, tolerance;
};

}  // namespace nd::sparse::linalg
