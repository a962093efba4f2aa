// The functions that a call of a model runs, as a list in the order of execution. Internal to this folder.
#pragma once

#include <string>
#include <vector>

#include <catena/autograd/function_node.h>
#include <catena/autograd/function_options.h>
#include <catena/kernels/base/function.h>

namespace nn::onnx::internal {

using autograd::Array;
using autograd::Arrays;
using autograd::Dtype;
using autograd::Shape;
using autograd::Variable;
using autograd::Variables;

// Where an input of a function, or an output of the model, comes from.
struct Source {
  enum class Kind { input, call, leaf } kind = Kind::leaf;
  std::size_t index = 0;   // of the input of the model, or of the call
  std::size_t output = 0;  // of the call
  Array array;             // its value
};

struct TracedCall {
  autograd::NodePtr<autograd::FunctionNode> node;
  std::string function;  // the key of the table of operators
  autograd::internal::FunctionOptions options;
  std::vector<Source> inputs;
  std::vector<Source> beside;  // arrays among the options that other calls have made
  std::vector<Array> outputs;  // null for one that nothing reads
};

struct Trace {
  Arrays inputs;
  std::vector<TracedCall> calls;  // those on which the outputs depend
  std::vector<Source> outputs;
};

using Callable = catena::Function<Variables(const Variables&)>;

// Calls the model. The inputs become new variables without history.
Trace trace(const Callable& model, const Arrays& inputs);

// "input_0 -> Convolution2DFunction (conv1/W, conv1/b) -> ReLU": the functions that lead to a call along first inputs,
// at most the last eight. `name_of` returns the name of a leaf, or nothing.
std::string path_to(const Trace& trace, std::size_t call,
                    const catena::Function<std::string(const Array& leaf)>& name_of);

}  // namespace nn::onnx::internal
