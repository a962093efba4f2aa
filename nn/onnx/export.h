// Export to ONNX: what a model computes, as a file for other programs (onnxruntime, TensorRT, browsers).
//
//   nn::onnx::export_model(model, x, "model.onnx");                                       // as onnx_chainer.export
//   nn::onnx::export_model(model, {x, mask}, "model.onnx",                                // as torch.onnx.export
//                          {.input_names = {"x", "mask"}, .output_names = {"y"},
//                           .dynamic_axes = {{"x", {{0, "batch"}}}, {"mask", {{0, "batch"}}}}});
//   nn::onnx::export_model([&](const Variable& z) { return vae.decode(z); }, z, "decoder.onnx", {.link = &vae});
//
// The model is called with the given inputs, and the functions that it runs become the nodes of the graph. So the file
// has the path that these inputs take through the conditions and loops of the model. Values that the model computes
// beside its variables (from x.data()) would be constants of the file: the model is called a second time with other
// values, and a constant that differs is an error. A recurrent state must therefore be reset in the call. Dropout does
// nothing and batch normalization uses the averages, unless `train` is set.
//
// A function without an equivalent is a NotImplementedError that names it and the functions before it; nothing is
// written then. exported_functions() lists those that have one. Parameters are initializers with the names of their
// paths ("conv1/W"), as in npz files.
#pragma once

#include <concepts>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <catena/autograd/call_variables.h>
#include <catena/kernels/base/function.h>
#include <catena/nn/link.h>
#include <catena/nn/onnx/model.h>

namespace nn::onnx {

using autograd::Variable;
using autograd::Variables;

// An axis, and its name. Without one it gets the name of the same axis of an input before that has the same length, or
// "<input>_dynamic_axes_<axis>".
struct DynamicAxis {
  template <std::integral I> DynamicAxis(I number) : axis(static_cast<int>(number)) {}
  template <std::integral I>
  DynamicAxis(I number, std::string its_name) : axis(static_cast<int>(number)), name(std::move(its_name)) {}
  int axis;
  std::string name;
};
// Axes with their names, {{0, "batch"}, {2, "height"}}, or without, {0, 2}.
struct AxisNames : std::map<int, std::string> {
  AxisNames() = default;
  AxisNames(std::initializer_list<DynamicAxis> axes) {
    for (const DynamicAxis& a : axes) emplace(a.axis, a.name);
  }
  AxisNames(const std::vector<int>& axes) {
    for (const int a : axes) emplace(a, std::string());
  }
  AxisNames(const std::map<int, std::string>& names) : map(names) {}
};
// The free axes of inputs: {{"x", {{0, "batch"}, {2, "height"}}}, {"mask", {0}}}.
using DynamicAxes = std::map<std::string, AxisNames>;

struct ExportOptions {
  // By default the names of the variables, or input_0, input_1, ... and output_0, ...
  std::vector<std::string> input_names = {}, output_names = {};
  // The lengths of these axes are free. The model is called with two and three times the length, too, so it must accept
  // these; axes with one name have one length. Names of outputs are accepted as well: their free axes follow from those
  // of the inputs.
  DynamicAxes dynamic_axes = {};
  bool dynamic_batch = false;  // the first axis of every input is "batch"
  // Of the operators, 13 to 22. An operator that an older opset lacks is written by others; NotImplementedError, which
  // names the opset that has it, where there are none.
  std::int64_t opset_version = 17;
  bool train = false;  // export the model in training mode; the calls update running averages
  // The link whose parameters get names, if a function is exported.
  Link* link = nullptr;
  std::string graph_name = "main";
  std::string doc_string = {};
  std::vector<StringEntry> metadata = {};
};

namespace internal {
// Calls the model with the arrays of the inputs as new variables.
CATENA_EXPORT Model exported(const catena::Function<Variables(const Variables&)>& call, Link* link,
                             const Variables& inputs, const ExportOptions& options);

template <class M> Variables outputs_for(M& model, const Variables& xs) {
  const auto result = [&](const auto&... x) -> Variables {
    if constexpr (requires { autograd::internal::outputs_of(model(x...)); })
      return autograd::internal::outputs_of(model(x...));
    else
      catena::fail<catena::TypeError>("onnx::export_model", "the model cannot be called with ", sizeof...(x),
                                      " Variables");
  };
  if constexpr (requires { autograd::internal::outputs_of(model(xs)); } && !std::is_invocable_v<M&, const Variable&>) {
    return autograd::internal::outputs_of(model(xs));
  } else {
    switch (xs.size()) {
      case 1: return result(xs[0]);
      case 2: return result(xs[0], xs[1]);
      case 3: return result(xs[0], xs[1], xs[2]);
      case 4: return result(xs[0], xs[1], xs[2], xs[3]);
      default:
        catena::fail<catena::TypeError>("onnx::export_model", "a model of ", xs.size(),
                                        " inputs must take them as one list of Variables");
    }
  }
}
}  // namespace internal

// Returns the model without writing it. `model` is a link or a function of Variables, one by one or (more than four) as
// a list; it returns a Variable, a list or a tuple of them. `inputs` are examples: of their values nothing remains.
//
// NotImplementedError: a function has no equivalent, the model computes values beside its variables, or a length
// depends on dynamic axes in a way that operators do not express. ValueError: no inputs or no outputs, names that are
// not unique or unknown, an opset that is not supported, different lengths of dynamic axes with one name, a model that
// does not accept longer dynamic axes.
template <class M> Model export_model(M&& model, const Variables& inputs, const ExportOptions& options = {}) {
  Link* link = options.link;
  if constexpr (std::is_base_of_v<Link, std::remove_cvref_t<M>>) link = &model;
  return internal::exported([&model](const Variables& xs) { return internal::outputs_for(model, xs); }, link, inputs,
                            options);
}
template <class M, std::convertible_to<Variable> X>
Model export_model(M&& model, const X& input, const ExportOptions& options = {}) {
  return export_model(model, Variables{Variable(input)}, options);
}
// Writes the file (atomically), and returns the model. IOError if it cannot be written.
template <class M, std::convertible_to<std::string> F>
Model export_model(M&& model, const Variables& inputs, const F& filename, const ExportOptions& options = {}) {
  Model result = export_model(model, inputs, options);
  write(filename, result);
  return result;
}
template <class M, std::convertible_to<Variable> X, std::convertible_to<std::string> F>
Model export_model(M&& model, const X& input, const F& filename, const ExportOptions& options = {}) {
  return export_model(model, Variables{Variable(input)}, filename, options);
}
// torch.onnx.export, whose name is a keyword here.
template <class M, std::convertible_to<std::string> F>
Model export_(M&& model, const Variables& inputs, const F& filename, const ExportOptions& options = {}) {
  return export_model(model, inputs, filename, options);
}
template <class M, std::convertible_to<Variable> X, std::convertible_to<std::string> F>
Model export_(M&& model, const X& input, const F& filename, const ExportOptions& options = {}) {
  return export_model(model, input, filename, options);
}

// A function with an equivalent, by its label in graphs or the name of its kernel, and the operators that express it.
struct ExportedFunction {
  std::string function, operators;
};
// All of them, in alphabetical order.
CATENA_EXPORT std::vector<ExportedFunction> exported_functions();

}  // namespace nn::onnx

namespace nn {
template <class... A> void export_onnx(A&&...) = delete;  // nn::onnx::export_model(model, x, "model.onnx")
}  // namespace nn
