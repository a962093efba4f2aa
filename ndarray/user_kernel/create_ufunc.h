// Universal functions and reductions that are created at run time from loop strings and texts.
//
//   const nd::ufunc squared_diff = nd::create_ufunc("squared_diff", {"ee->e", "ff->f", "dd->d"},
//                                                   "out0 = (in0 - in1) * (in0 - in1)");
//   nd::Array z = squared_diff(x, y);                        // int32 arrays take the loop "dd->d"
//   squared_diff(x, 2, {.out = z, .dtype = nd::float32});
//   const auto sum_of_squares = nd::create_reduction_func(
//       "sum_of_squares", {"l->l", {"e->e", {.reduce_type = "float"}}, "f->f", "d->d"},
//       {"in0 * in0", "a + b", "out0 = a"}, 0);
//   nd::Array s = sum_of_squares(x, {.axis = 1});
//
// A loop string has one of NumPy's characters per operand ('E' is bfloat16): "ff->f" has two float32 inputs and one
// float32 output. The loop of a call is chosen as for the functions of routines/math.h: the first one that has the
// dtypes of the inputs, else the first one that holds them without loss; host scalars do not promote arrays of their
// kind.
//
// The text is the text of an ElementwiseKernel or a ReductionKernel (compilers, cache, functions: elementwise_kernel.h,
// reduction_kernel.h). A loop may have its own text.
//
// Thread safety: the results are immutable and may be called from any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <catena/ndarray/engine/ufunc.h>

namespace nd {

// A loop of a function: its dtypes, and its text if it has its own.
struct UfuncOp {
  std::string types;
  std::string routine = {};  // empty: the text of the function

  UfuncOp(const char* loop) : types(loop) {}
  UfuncOp(std::string loop, std::string text = {}) : types(std::move(loop)), routine(std::move(text)) {}
};

// `routine` is the body of a function of the elements in0, in1... that assigns out0, out1...; the elements have the
// dtypes of the loop, with the type names in0_type, out0_type... Elements of arrays of other dtypes are converted
// (kernels/convert.h) when they are read and written. `preamble` precedes the kernel; doc() returns `doc`. At most 8
// inputs and 4 outputs.
//
// ValueError for a name that is no identifier, no loops, a loop string of unknown characters or with another number of
// operands than the first, and a loop without text. Calls: the errors of functions (routines/math.h), CompileError.
CATENA_EXPORT ufunc create_ufunc(std::string_view name, const std::vector<UfuncOp>& ops, std::string_view routine = {},
                                 std::string_view preamble = {}, std::string_view doc = {});

// The texts of a reduction. `map` is an expression on the element in0, `reduce` one on two partial results a and b,
// `post_map` a statement that assigns out0 from the result a. Partial results have the C++ type `reduce_type`, by
// default the loop's output type. In these texts type_in0_raw is the element type of the array whose values in0 has,
// and type_out0_raw the loop's output type.
struct ReductionRoutine {
  std::string map = {}, reduce = {}, post_map = {}, reduce_type = {};
};
struct ReductionOp {
  std::string types;              // "f->f"
  ReductionRoutine routine = {};  // empty texts are taken from the function

  ReductionOp(const char* loop) : types(loop) {}
  ReductionOp(std::string loop, ReductionRoutine texts = {}) : types(std::move(loop)), routine(std::move(texts)) {}
};

// The neutral element of a reduction: C++ text or a number; none by default.
class ReductionIdentity {
 public:
  ReductionIdentity() = default;
  ReductionIdentity(std::nullopt_t) {}
  ReductionIdentity(const char* text) : text_(text) {}
  ReductionIdentity(std::string text) : text_(std::move(text)) {}
  template <class T, class = std::enable_if_t<std::is_arithmetic_v<T>>>
  ReductionIdentity(T value) : text_(text_of(Scalar(value))) {}
  const std::optional<std::string>& text() const noexcept { return text_; }

 private:
  CATENA_EXPORT static std::string text_of(const Scalar& value);

  std::optional<std::string> text_;
};

// A reduction as an object.
class CATENA_EXPORT simple_reduction_function {
 public:
  std::string_view name() const noexcept;
  int nin() const noexcept { return 1; }
  int nout() const noexcept { return 1; }
  std::vector<std::string> types() const;  // loop strings in search order

  // options.dtype chooses the loop by its output dtype: the first one whose input holds the elements without loss, else
  // the first one; TypeError if there is none. options.out must have the shape of the result and may have any dtype.
  // ValueError for axes that are out of range or repeated, and for a reduction of no elements without an identity.
  Array operator()(const Array& a, const ReduceOptions& options = {}) const;
  template <class O = ReduceOptions> Array operator()(const Array& a, const Axes& axis, const O& more = {}) const {
    return (*this)(a, internal::at_axis<ReduceOptions>(axis, more));
  }

 private:
  struct Data;
  explicit simple_reduction_function(const Data& data) : data_(&data) {}
  friend CATENA_EXPORT simple_reduction_function create_reduction_func(std::string_view name,
                                                                       const std::vector<ReductionOp>& ops,
                                                                       const ReductionRoutine& routine,
                                                                       const ReductionIdentity& identity,
                                                                       std::string_view preamble);

  const Data* data_;
};

// ValueError as for create_ufunc: loops have one input and one output, and every loop needs map, reduce and post_map.
CATENA_EXPORT simple_reduction_function create_reduction_func(std::string_view name,
                                                              const std::vector<ReductionOp>& ops,
                                                              const ReductionRoutine& routine = {},
                                                              const ReductionIdentity& identity = {},
                                                              std::string_view preamble = {});

}  // namespace nd
