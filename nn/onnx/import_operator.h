// The operators of ONNX: functions that compute the outputs of a node. Internal to this folder.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <catena/autograd/variable.h>
#include <catena/kernels/base/error.h>
#include <catena/nn/onnx/model.h>

namespace nn::onnx::importing {

using autograd::Array;
using autograd::Dtype;
using autograd::Shape;
using autograd::Variable;
using autograd::Variables;
using Integers = std::vector<std::int64_t>;

// A node with its inputs. Messages of errors need no name of the node: the caller adds it.
class OperatorCall {
 public:
  OperatorCall(const Node& node, std::int64_t opset, std::span<const Variable> inputs)
      : node_(node), opset_(opset), inputs_(inputs) {}

  const Node& node() const noexcept { return node_; }
  std::int64_t opset() const noexcept { return opset_; }  // version of the operators
  std::size_t n_inputs() const noexcept { return inputs_.size(); }
  std::size_t n_outputs() const noexcept { return node_.output.size(); }
  bool has_output(std::size_t i) const noexcept { return i < n_outputs() && !node_.output[i].empty(); }
  bool has(std::size_t i) const noexcept { return i < inputs_.size() && inputs_[i]; }
  const Variable& input(std::size_t i) const;  // ValueError if it is left out
  Variables inputs() const;                    // all of them
  Variable optional(std::size_t i) const { return has(i) ? inputs_[i] : Variable(); }
  // The integers, or the numbers, of an input, on the host.
  Integers integers_of(std::size_t i) const;
  std::vector<double> numbers_of(std::size_t i) const;
  // The same of an input with one element; ValueError for another number of elements.
  std::int64_t integer_of(std::size_t i) const;
  double number_of(std::size_t i) const;

  // Attributes. Without a default, ValueError if it is missing; ValueError for one of another type.
  const Attribute* attribute(std::string_view name) const noexcept { return node_.find(name); }
  std::int64_t integer(std::string_view name) const;
  std::int64_t integer(std::string_view name, std::int64_t otherwise) const;
  double number(std::string_view name, double otherwise) const;
  std::string text(std::string_view name, const std::string& otherwise) const;
  Integers integers(std::string_view name, const Integers& otherwise = {}) const;
  // A list that is an attribute of versions before `since`, and input `i` from then on; nothing if it is left out.
  Integers integers(std::string_view name, std::size_t i, std::int64_t since) const;
  // An axis, counted from the front, of an array of that rank. ValueError out of range.
  int axis(std::int64_t axis, int rank) const;

  template <class... Parts> [[noreturn]] void refuse(const Parts&... parts) const {
    throw catena::ValueError(catena::concat(parts...));
  }
  template <class... Parts> [[noreturn]] void unsupported(const Parts&... parts) const {
    throw catena::NotImplementedError(catena::concat(parts...));
  }

 private:
  void check_one_element(std::size_t i) const;
  const Attribute* typed(std::string_view name, Attribute::Type type) const;

  const Node& node_;
  std::int64_t opset_;
  std::span<const Variable> inputs_;
};

// Inputs that are options: initializers there are constants, never parameters.
constexpr unsigned kAllButFirst = ~1u;

struct Operator {
  std::string_view name;
  Variables (*run)(const OperatorCall& call);
  unsigned constants = 0;   // bit i: input i is an option
  unsigned statistics = 0;  // bit i: input i is a running statistic
};

// The operators of each file.
std::span<const Operator> elementwise_operators();
std::span<const Operator> comparison_operators();
std::span<const Operator> shape_operators();
std::span<const Operator> index_operators();
std::span<const Operator> reduction_operators();
std::span<const Operator> product_operators();
std::span<const Operator> pooling_operators();
std::span<const Operator> normalization_operators();
std::span<const Operator> resize_operators();
std::span<const Operator> recurrent_operators();
std::span<const Operator> region_operators();

// Returns null for an unknown operator.
const Operator* find_operator(std::string_view name) noexcept;

// ---- helpers ----
inline bool is_floating(const Variable& x) { return catena::kind_of(x.dtype()) == catena::DtypeKind::floating; }
// A value without a gradient.
inline Variable constant(const Array& a) { return autograd::as_variable(a); }
// Integers on the host.
Variable integers(const Integers& values);
Variable integers(const Integers& values, const Shape& shape);
// A floating value in another dtype keeps its gradient; integers have none.
Variable cast_to(const Variable& x, Dtype dtype);
// x, on the device of `other`.
Variable beside(const Variable& x, const Variable& other);
// Both on the device of the first one that is not on the host.
std::pair<Variable, Variable> on_one_device(const Variable& a, const Variable& b);
Shape shape_of(const Integers& lengths);
// x as a matrix, with a row for each position on the axes before `axis`.
Variable matrix_of(const Variable& x, int axis);

}  // namespace nn::onnx::importing
