// The base of the function classes (objects.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include <catena/autograd/function.h>
#include <catena/nn/functions/modules.h>

namespace nn::functions {

// The base of the classes of functions.
class CATENA_EXPORT FunctionObject {
 public:
  // The label in graphs.
  const std::string& label() const noexcept { return label_; }

  // Whether a class is one function node or composed of others.
  enum Kind : std::uint8_t { node, composed };

 protected:
  // The number of inputs, or the fewest and the most.
  struct Inputs {
    std::size_t fewest, most = fewest;
  };
  static constexpr std::size_t many = SIZE_MAX;

  // function(x) or function(x, kept) is what a call does with the inputs x: it returns a Variable or a list, and stores
  // the arrays for the accessors of the class in `kept`.
  template <class F>
  FunctionObject(std::string label, Inputs inputs, Kind kind, F function)
      : label_(std::move(label)),
        inputs_(inputs),
        kind_(kind),
        body_([f = std::move(function)](const Variables& x, [[maybe_unused]] autograd::Arrays& kept) -> Variables {
          if constexpr (std::invocable<const F&, const Variables&, autograd::Arrays&>) return {f(x, kept)};
          else return {f(x)};
        }) {}
  Variables call(Variables x) const;
  const autograd::Array& kept(std::size_t i) const;

 private:
  std::string label_;
  Inputs inputs_;
  Kind kind_;
  catena::Function<Variables(const Variables& x, autograd::Arrays& kept)> body_;
  mutable autograd::Arrays kept_;
};

// A call returns a Variable, a list, or a struct of Variables.
//
// A class whose first parameter may be a braced list has a template in place of its copy constructor, which would make
// MaxPooling2D({3, 2}) ambiguous: the argument could be the list, or an object made from its elements.
template <class Result> class FunctionObjectOf : public FunctionObject {
 public:
  Result operator()(const Variables& inputs) const {
    const Variables y = call(inputs);
    if constexpr (std::is_same_v<Result, Variable>) return y[0];
    else if constexpr (std::is_constructible_v<Result, Variables>) return y;
    else {
      const auto fields = [&y]<std::size_t... I>(std::index_sequence<I...>) { return Result{y[I]...}; };
      return fields(std::make_index_sequence<sizeof(Result) / sizeof(Variable)>());
    }
  }
  template <std::convertible_to<Variable>... X>
  Result operator()(const X&... inputs) const requires(sizeof...(X) == 0 || autograd::SeparateInputs<X...>) {
    return (*this)(Variables{Variable(inputs)...});
  }

 protected:
  using FunctionObject::FunctionObject;
};

// A class without arguments, whose call is f(x) or f(x0, x1).
template <std::size_t n> struct Label {
  char text[n];
  consteval Label(const char (&literal)[n]) {
    for (std::size_t i = 0; i < n; ++i) text[i] = literal[i];
  }
};
template <Label name, Variable (*f)(const Variable&), FunctionObject::Kind kind = FunctionObject::node>
struct UnaryObject : FunctionObjectOf<Variable> {
  explicit UnaryObject() : FunctionObjectOf(name.text, {1}, kind, [](const Variables& x) { return f(x[0]); }) {}
};
template <Label name, Variable (*f)(const Variable&, const Variable&), FunctionObject::Kind kind = FunctionObject::node>
struct BinaryObject : FunctionObjectOf<Variable> {
  explicit BinaryObject() : FunctionObjectOf(name.text, {2}, kind, [](const Variables& x) { return f(x[0], x[1]); }) {}
};
// A class whose argument is a constant, and whose call is f(x, constant) or f(constant, x).
template <Label before, Variable (*f)(const Variable&, const Constant&),
          FunctionObject::Kind kind = FunctionObject::node>
struct ConstantObject : FunctionObjectOf<Variable> {
  explicit ConstantObject(const Constant& value)
      : FunctionObjectOf(before.text + value.label(), {1}, kind, [=](const Variables& x) { return f(x[0], value); }) {}
  ConstantObject(ConstantObject&) = default;
  template <std::same_as<ConstantObject> T> ConstantObject(const T& other) : FunctionObjectOf(other) {}
};
template <Label before, Label after, Variable (*f)(const Constant&, const Variable&),
          FunctionObject::Kind kind = FunctionObject::node>
struct FromConstantObject : FunctionObjectOf<Variable> {
  explicit FromConstantObject(const Constant& value)
      : FunctionObjectOf(before.text + value.label() + after.text, {1}, kind,
                         [=](const Variables& x) { return f(value, x[0]); }) {}
  FromConstantObject(FromConstantObject&) = default;
  template <std::same_as<FromConstantObject> T> FromConstantObject(const T& other) : FunctionObjectOf(other) {}
};

// A stride or a size that may be omitted: {} or std::nullopt is Chainer's None.
template <class T> struct OrNone : std::optional<T> {
  OrNone() = default;
  OrNone(std::nullopt_t) {}
  OrNone(const T& value) : std::optional<T>(value) {}
  template <std::convertible_to<catena::Integer>... I>
  OrNone(I... lengths) requires(sizeof...(I) > 0) : std::optional<T>(T(lengths...)) {}
};

}  // namespace nn::functions
