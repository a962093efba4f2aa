// The graph of an ONNX model in the making: names of values, constants, and lengths that depend on the inputs. Internal
// to this folder.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <catena/kernels/base/error.h>
#include <catena/nn/onnx/export.h>
#include <catena/nn/onnx/model.h>
#include <catena/nn/onnx/trace.h>

namespace nn::onnx::internal {

// A length, or another integer, in each of the traces. It is constant if all are equal; otherwise it depends on the
// lengths of dynamic axes.
struct Dim {
  std::vector<std::int64_t> values;  // the first is that of the given inputs
  std::int64_t given() const { return values[0]; }
  bool is_constant() const;
  friend bool operator==(const Dim&, const Dim&) = default;
};
using DimList = std::vector<Dim>;
bool is_constant(const DimList& dims);
std::vector<std::int64_t> given(const DimList& dims);
// The lengths of an array of each of the traces. NoEquivalent if the numbers of axes differ.
DimList lengths_of(const Arrays& arrays);

// A dynamic axis: its name, an input that has it, and its length in each of the traces.
struct Symbol {
  std::string name;
  std::size_t input = 0;
  int axis = 0;
  std::vector<std::int64_t> lengths;
};

using Names = std::vector<std::string>;

// A failure to write one function; export_model adds which one.
class NoEquivalent : public catena::NotImplementedError {
 public:
  using catena::NotImplementedError::NotImplementedError;
};

template <class... T> [[noreturn]] void refuse(const T&... parts) { throw NoEquivalent(catena::concat(parts...)); }
template <class... T> void require(bool condition, const T&... parts) {
  if (!condition) refuse(parts...);
}

Attribute attribute(const std::string& name, std::int64_t value);
Attribute attribute(const std::string& name, int value);
Attribute attribute(const std::string& name, double value);
Attribute attribute(const std::string& name, const char* value);
Attribute attribute(const std::string& name, const std::vector<std::int64_t>& values);
using Attributes = std::vector<Attribute>;

class GraphBuilder {
 public:
  // `input_names` are unique. `parameters` are the names of arrays that the model has.
  GraphBuilder(std::vector<Trace> traces, std::vector<Symbol> symbols, Names input_names,
               std::map<const catena::ArrayHeader*, std::string> parameters, std::int64_t opset);

  const std::vector<Trace>& traces() const noexcept { return traces_; }
  std::int64_t opset() const noexcept { return opset_; }
  // No other value gets one of these names.
  void reserve_names(const Names& names) { names_.insert(names.begin(), names.end()); }
  // Functions whose nodes are added from now on have names that begin with this.
  void set_prefix(const std::string& prefix);

  // Add a node and return the names of its outputs. An empty name among the inputs is an optional input left out.
  std::string node(const std::string& op_type, const Names& inputs, const Attributes& attributes = {});
  Names nodes(const std::string& op_type, const Names& inputs, std::size_t outputs, const Attributes& attributes = {});

  // The name of what an input of a function is. `arrays`: its array in each of the traces.
  std::string value(const std::vector<const Source*>& sources);
  // The name of a constant array, which is that of an input of the model if it is its array, or a reshaped view of it.
  std::string constant(const std::vector<Array>& arrays);
  std::string constant(const Array& array) { return constant(std::vector<Array>(traces_.size(), array)); }
  std::string int64s(const std::vector<std::int64_t>& values);  // of shape (n,)
  std::string scalar(double value, Dtype dtype);                // of shape ()
  // One-dimensional tensors of int64; of the second, one element.
  std::string lengths(const DimList& dims);
  std::string length(const Dim& dim);
  std::string reshape(const std::string& x, const DimList& from, const DimList& to);

  // The output of a call; also of its array, for functions that are given it as a constant.
  void set_output(std::size_t call, std::size_t output, const std::string& name);
  // Gives an array that a function computes beside its outputs the name of a value.
  void name_arrays(const std::vector<Array>& arrays, const std::string& name);

  // The name of the axis, or its length.
  Dimension dimension(const Dim& dim) const;
  // Completes the graph.
  Graph finish(const Names& output_names, const std::string& graph_name);

 private:
  std::string initializer(const Array& array, std::string name);
  std::string unique(const std::string& wanted);
  std::string symbol_length(const Symbol& symbol);
  std::string varying_constant(const std::vector<Array>& arrays);
  std::string repeated(const std::vector<Array>& arrays, const DimList& dims);
  std::string positions(const std::vector<Array>& arrays, const DimList& dims);
  std::string causal_mask(const std::vector<Array>& arrays, const DimList& dims);
  std::string of_input(const std::vector<Array>& arrays);
  ValueInfo info(const std::string& name, Dtype dtype, const DimList& dims) const;

  std::vector<Trace> traces_;
  std::vector<Symbol> symbols_;
  Names inputs_;
  std::map<const catena::ArrayHeader*, std::string> parameters_;
  std::int64_t opset_;
  Graph graph_;
  std::string prefix_;
  std::size_t counter_ = 0;
  std::set<std::string> names_;
  std::map<const catena::ArrayHeader*, std::string> constants_;
  std::map<std::pair<std::size_t, std::size_t>, std::string> outputs_;
  std::map<std::vector<std::int64_t>, std::string> int64s_;
  std::map<std::pair<std::uint64_t, Dtype>, std::string> scalars_;  // by the bits of the number: NaN has no order
  std::map<std::string, std::string> symbol_lengths_;
  std::vector<Array> kept_;  // arrays whose addresses are keys
};

// One call in all traces, for the functions that write operators.
class CallView {
 public:
  CallView(GraphBuilder& builder, std::size_t index) : b(builder), index_(index) {}

  GraphBuilder& b;

  std::size_t num_inputs() const { return call().inputs.size(); }
  std::size_t num_outputs() const { return call().outputs.size(); }
  std::string input(std::size_t i) const;
  Names inputs() const;
  DimList input_shape(std::size_t i) const;
  Dtype input_dtype(std::size_t i) const { return call().inputs[i].array.dtype(); }
  int rank(std::size_t i = 0) const { return call().inputs[i].array.ndim(); }
  // True if something reads the output. Only such outputs have shapes.
  bool is_read(std::size_t i) const { return bool(call().outputs[i]); }
  DimList output_shape(std::size_t i = 0) const;
  Dtype output_dtype(std::size_t i = 0) const;
  void set(std::size_t output, const std::string& name) { b.set_output(index_, output, name); }
  void set(const std::string& name) { set(0, name); }

  // Options; those that must be there throw a KeyError otherwise.
  bool has(std::string_view option) const;
  std::int64_t integer(std::string_view option, std::int64_t otherwise = 0) const;  // equal in all traces
  std::vector<std::int64_t> integers(std::string_view option) const;                // likewise
  DimList dims(std::string_view option) const;
  double number(std::string_view option) const;
  std::string text(std::string_view option) const;
  std::vector<double> numbers(std::string_view option) const;
  // A number as a scalar of this dtype, or a constant array.
  std::string constant(std::string_view option, Dtype dtype) const;
  std::vector<Array> arrays(std::string_view option, std::size_t at = 0) const;
  std::vector<const autograd::internal::FunctionOption*> in_traces(std::string_view option) const;

 private:
  const TracedCall& call() const { return b.traces()[0].calls[index_]; }
  std::size_t index_;
};

}  // namespace nn::onnx::internal
