// Products of arrays. The result dtype is the promotion of the operand dtypes. float16 and bfloat16 accumulate in
// float32 and round once; integers are exact modulo 2^n; for bools a product is "and" and a sum is "or". An empty sum
// is 0. ValueError if the lengths that are summed over differ (the message names both shapes), and for arrays on
// different devices.
#pragma once

#include <cstdint>
#include <optional>

#include <catena/ndarray/core/array.h>

namespace nd {

struct DotOptions {
  Array out = {};  // C-contiguous, with the dtype and the number of elements of the result (ValueError otherwise); also
                   // returned
};
// The sum over the last axis of a and the second-to-last axis of b (the only axis of a 1-D b). Result axes: the other
// axes of a, then those of b. With a 0-d operand: the product with every element.
CATENA_EXPORT Array dot(const Array& a, const Array& b, const DotOptions& options = {});
// The sum of products of corresponding elements in C order, 0-d; ValueError if the sizes differ.
CATENA_EXPORT Array vdot(const Array& a, const Array& b);
// The sum over the last axes of both. Result axes: the other axes of a, then those of b. With a 0-d operand: the
// product with every element.
CATENA_EXPORT Array inner(const Array& a, const Array& b);

struct OuterOptions {
  Array out = {};  // a.size() * b.size() elements (ValueError), any strides; written in C order
};
// The products of every element of a with every element of b, both flattened: shape (a.size(), b.size()).
CATENA_EXPORT Array outer(const Array& a, const Array& b, const OuterOptions& options = {});

// The axes that tensordot sums over: the last n of a with the first n of b, or pairs of axes of a and b.
class TensordotAxes {
 public:
  TensordotAxes(int n) : n_(n) {}
  TensordotAxes(const Dims& a, const Dims& b) : a_(a), b_(b) {}
  TensordotAxes(int a, int b) : a_{a}, b_{b} {}

  const std::optional<int>& count() const noexcept { return n_; }
  const Dims& of_a() const noexcept { return a_; }
  const Dims& of_b() const noexcept { return b_; }

 private:
  std::optional<int> n_;
  Dims a_, b_;
};
// Result axes: those of a that are not summed over, then those of b. tensordot(a, b, 2), tensordot(a, b, {{0, 2}, {1,
// 0}}), tensordot(a, b, {1, 0}). ValueError for axes out of range or repeated, and for lists of different lengths.
CATENA_EXPORT Array tensordot(const Array& a, const Array& b, const TensordotAxes& axes = 2);

// The matrix product over the last two axes; leading axes are broadcast. A 1-D operand is a row on the left and a
// column on the right, and the result lacks that axis. ValueError for a 0-d operand.
CATENA_EXPORT Array matmul(const Array& a, const Array& b);

struct TraceOptions {
  std::optional<Dtype> dtype = {};  // as for sum
  Array out = {};
};
// The sum of diagonal(a, offset, axis1, axis2); dtype and errors as for sum and diagonal.
CATENA_EXPORT Array trace(const Array& a, std::int64_t offset = 0, int axis1 = 0, int axis2 = 1,
                          const TraceOptions& options = {});

}  // namespace nd
