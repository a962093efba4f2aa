// Options of the calculation methods of nd::Array and of the free functions of the same names.
#pragma once

#include <optional>

#include <catena/kernels/base/named.h>
#include <catena/ndarray/core/array.h>

namespace nd {

using catena::Named;
struct ReduceOptions {
  [[no_unique_address]] Named named = Named();
  Axes axis = {};                      // default: all axes
  std::optional<Dtype> dtype = {};     // dtype of the result and of the calculation
  Array out = {};                      // must have the shape of the result; any dtype
  bool keepdims = false;               // keep reduced axes with length 1
  std::optional<Scalar> initial = {};  // takes part in every result; TypeError from mean
  // A mask that broadcasts to the array (ValueError): elements where it is false do not take part. max and min need
  // `initial` with it. Reductions of create_reduction_func() take neither `initial` nor `where` (TypeError).
  Array where = {};
};
struct VarOptions {
  [[no_unique_address]] Named named = Named();
  Axes axis = {};
  std::optional<Dtype> dtype = {};
  Array out = {};
  int ddof = 0;  // the divisor is the number of elements minus ddof
  bool keepdims = false;
};
struct ArgReduceOptions {
  [[no_unique_address]] Named named = Named();
  Axes axis = {};
  std::optional<Dtype> dtype = {};  // an integer dtype; int64 by default
  Array out = {};
  bool keepdims = false;
};
struct TestOptions {
  [[no_unique_address]] Named named = Named();
  Axes axis = {};
  Array out = {};
  bool keepdims = false;
};

namespace internal {
// The members that catena::ArrayMembers forwards to.
struct ArrayBehind {
  using Array = nd::Array;
  using ReduceOptions = nd::ReduceOptions;
  using VarOptions = nd::VarOptions;
  using ArgReduceOptions = nd::ArgReduceOptions;
  using TestOptions = nd::TestOptions;
  using AstypeOptions = nd::AstypeOptions;
  using TakeOptions = nd::TakeOptions;
  using Order = nd::Order;
};

// Combines an axis with the argument that follows it in a call, which is an options object or a dtype.
template <class Options, class A> Options at_axis(const A& axis, const Options& more) {
  Options options = more;
  options.axis = axis;
  return options;
}
template <class Options, class A> Options at_axis(const A& axis, Dtype dtype) { return {.axis = axis, .dtype = dtype}; }
}  // namespace internal

#define CATENA_MEMBER(name, Options)                                            \
  inline Array Array::name() const { return name(Options{}); }                  \
  template <class O> Array Array::name(const Axes& axis, const O& more) const { \
    return name(internal::at_axis<Options>(axis, more));                        \
  }
#include <catena/kernels/lists/members.inc>
#undef CATENA_MEMBER

// The overload of a reduction that takes its axes by position.
#define ND_REDUCTION_OF_AXES(name, Options)                                                       \
  template <class O = Options> Array name(const Array& a, const Axes& axis, const O& more = {}) { \
    return name(a, internal::at_axis<Options>(axis, more));                                       \
  }

}  // namespace nd
