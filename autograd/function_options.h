// Options of function nodes, for code that writes graphs to files (nn/onnx). A node whose result depends on more than
// its inputs and the shape of its result derives from HasOptions, too:
//
//   class Concat final : public FunctionNode, public internal::HasOptions {
//     void options(internal::FunctionOptions& o) const override { o.integer("axis", axis_); }
//
// Internal: for source files.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <catena/autograd/index_item.h>
#include <catena/autograd/operators.h>
#include <catena/autograd/variable.h>
#include <catena/kernels/base/scoped_value.h>

namespace autograd::internal {

// One option; only the list of its type has elements.
struct FunctionOption {
  std::string_view name;
  std::vector<std::int64_t> integers;
  std::vector<double> numbers;
  Arrays arrays;
  Variables variables;
  std::vector<IndexItem> items;
  std::string text;
};

class CATENA_EXPORT FunctionOptions {
 public:
  // The name under which the function is known where several functions have one label, or one has several.
  void function(std::string_view name) { function_ = name; }
  void integer(std::string_view name, std::int64_t value) { add(name).integers = {value}; }
  void integers(std::string_view name, std::vector<std::int64_t> values) { add(name).integers = std::move(values); }
  void integers(std::string_view name, const Dims& values) { add(name).integers.assign(values.begin(), values.end()); }
  void number(std::string_view name, double value) { add(name).numbers = {value}; }
  void numbers(std::string_view name, std::vector<double> values) { add(name).numbers = std::move(values); }
  void constant(std::string_view name, const Constant& value);  // a number or an array
  void text(std::string_view name, std::string_view value) { add(name).text = value; }
  void array(std::string_view name, const Array& value) { add(name).arrays = {value}; }
  void variables(std::string_view name, const Variables& values) { add(name).variables = values; }
  void items(std::string_view name, const std::vector<IndexItem>& values) { add(name).items = values; }

  const std::string& function() const noexcept { return function_; }  // empty: the label of the node
  // Returns null if there is no option of that name.
  const FunctionOption* find(std::string_view name) const noexcept;
  const std::vector<FunctionOption>& list() const noexcept { return list_; }

 private:
  FunctionOption& add(std::string_view name);
  std::string function_;
  std::vector<FunctionOption> list_;
};

class CATENA_EXPORT HasOptions {
 public:
  virtual void options(FunctionOptions& o) const = 0;

 protected:
  ~HasOptions();
};

// True while a graph is made in order to be written to a file. Functions of several steps then make a node for every
// step instead of a node for all, because a file has no name for the whole.
CATENA_EXPORT bool& wants_elementary_nodes() noexcept;

}  // namespace autograd::internal
