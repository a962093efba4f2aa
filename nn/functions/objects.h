// The functions as objects, with the names and the constructors of Chainer's function classes:
//
//   namespace F = nn::functions;
//   auto y = F::ReLU()(x);                      y = relu(x)
//   auto parts = F::SplitAxis({1, 4}, 0)(x);    a list
//   auto [c, h] = F::LSTM()(c_prev, x);
//   F::MaxPooling2D pool(2, 2);
//   y = pool(x);  z = F::Upsampling2D(pool.indexes(), 2, 2)(y);
//
// A call takes the inputs one by one or as a list (arrays as well). It calls the function whose place the class takes,
// with the arguments of the constructor: values, gradients of any order and errors are those of the function. Arguments
// are checked in the call. InvalidType for another number of inputs; null inputs at the end are absent. In a graph, a
// call is one node, even if the function calls others; its label is the name of the class, or Chainer's label ("exp",
// "_ + _"). An object may be called any number of times; every call makes a node.
//
// use_cudnn = false is that of the functions (autograd/cudnn_options.h); true leaves the choice to the thread's
// configuration. Average pooling in two dimensions ignores cover_all.
//
// Classes that draw random numbers (Dropout, Gaussian, SimplifiedDropconnect, Zoneout, NegativeSamplingFunction) draw
// in the first call of an object. Later calls repeat these numbers, so that a gradient can be checked by many calls.
// Inputs of another shape are then a ValueError; use a new object to draw again.
//
// Accessors, such as indexes() or mask(), return arrays of the last call (null before the first). An object with
// accessors belongs to one thread at a time; others may be called by several threads.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <catena/autograd/function.h>
#include <catena/nn/functions/activation.h>
#include <catena/nn/functions/array.h>
#include <catena/nn/functions/evaluation.h>
#include <catena/nn/functions/lengths.h>
#include <catena/nn/functions/loss.h>
#include <catena/nn/functions/modules.h>
#include <catena/nn/functions/objects_table.h>
#include <catena/nn/functions/pooling.h>

namespace nn::functions {

// A stride or a size that may be omitted: {} or std::nullopt is Chainer's None.
template <class T> struct OrNone : std::optional<T> {
  OrNone() = default;
  OrNone(std::nullopt_t) {}
  OrNone(const T& value) : std::optional<T>(value) {}
  template <std::convertible_to<catena::Integer>... I>
  requires(sizeof...(I) > 0) OrNone(I... lengths) : std::optional<T>(T(lengths...)) {}
};

// The dropout of recurrent functions, as a ratio: NStepLSTM(2, 0.5).
struct DropoutStates {
  double ratio;
  DropoutStates(double dropout) : ratio(dropout) {}
};

// The base of all classes here.
class CATENA_EXPORT FunctionObject {
 public:
  // The label in graphs.
  const std::string& label() const noexcept { return label_; }

  // Whether a class is one function node or composed of others.
  enum class Kind : std::uint8_t { node, composed };
  using Body = catena::Function<Variables(const Variables& x, autograd::Arrays& kept)>;

 protected:
  FunctionObject(std::string label, std::size_t fewest, std::size_t most, Kind kind, Body body)
      : label_(std::move(label)), fewest_(fewest), most_(most), kind_(kind), body_(std::move(body)) {}
  Variables call(Variables x) const;
  const Array& kept(std::size_t i) const;

 private:
  std::string label_;
  std::size_t fewest_, most_;
  Kind kind_;
  Body body_;
  mutable autograd::Arrays kept_;
};

// A call returns a Variable, a list, or a struct of Variables.
template <class Result> class FunctionObjectOf : public FunctionObject {
 public:
  Result operator()(const Variables& inputs) const {
    const Variables y = call(inputs);
    if constexpr (std::is_same_v<Result, Variable>) return y[0];
    else if constexpr (std::is_constructible_v<Result, Variables>) return y;
    else return [&y]<std::size_t... I>(std::index_sequence<I...>) {
        return Result{y[I]...};
      }
    (std::make_index_sequence<sizeof(Result) / sizeof(Variable)>());
  }
  template <std::convertible_to<Variable>... X>
  requires(sizeof...(X) != 1 || (sizeof...(X) == 1 && !(... || std::derived_from<X, Variables>))) Result operator()(
      const X&... inputs) const {
    return (*this)(Variables{Variable(inputs)...});
  }

 protected:
  using FunctionObject::FunctionObject;
};

// These templates replace copy constructors, which would make MaxPooling2D({3, 2}) ambiguous: the argument could be a
// pair, or an object made from two arguments.
#define CATENA_UNUSED
#define CATENA_DEFAULT(...) = __VA_ARGS__
#define CATENA_KEPT(name, i) \
  const Array& name() const { return kept(i); }
#define CATENA_DECLARE(Name, label, Result, fewest, most, kind, parameters, body, ...) \
  class CATENA_EXPORT Name : public FunctionObjectOf<Result> {                         \
   public:                                                                             \
    explicit Name parameters;                                                          \
    Name(Name&) = default;                                                             \
    template <std::same_as<Name> T> Name(const T& o) : FunctionObjectOf<Result>(o) {}  \
    Name& operator=(const Name&) = default;                                            \
    __VA_ARGS__                                                                        \
  };
CATENA_FUNCTION_CLASSES(CATENA_DECLARE, CATENA_DEFAULT)
#undef CATENA_DECLARE
#undef CATENA_KEPT
#undef CATENA_DEFAULT
#undef CATENA_UNUSED

}  // namespace nn::functions
