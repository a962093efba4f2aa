// Networks in ONNX files as links.
//
//   auto net = nn::onnx::import_model("resnet18.onnx");
//   Variable y = net(x);                                     // a network with one output
//   Variables all = net.forward({tokens, mask});             // any number of outputs, in the order of the file
//   training::Adam optimizer;
//   optimizer.setup(net);                                    // its parameters have the names of the initializers
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <catena/kernels/base/pointers.h>
#include <catena/nn/link.h>

namespace nn::onnx {

struct Model;  // model.h
namespace importing {
struct Program;
}

// A network that was read from a file. Its parameters are the floating initializers with at least one axis, under their
// names without "/" at the beginning; running statistics of BatchNormalization are persistents. Numbers, integers and
// options of nodes are constants.
//
// Nodes compute what ONNX defines for their version of the operators, in the mode in which the file was exported:
// usually inference, in which running statistics are used as they are and Dropout does nothing. All floating inputs and
// parameters get gradients, running statistics do not. Shapes and other integers are computed on the host.
class CATENA_EXPORT ImportedModel : public Chain {
 public:
  // `name` is how errors call the model. ValueError for a graph that refers to a value before it is computed, or gives
  // a name twice, and for attributes that the operator does not have; NotImplementedError for operators that are not
  // supported, with all their names, nodes and versions.
  explicit ImportedModel(Model model, const std::string& name = "model");

  const std::vector<std::string>& input_names() const noexcept;
  const std::vector<std::string>& output_names() const noexcept;

  // Returns all outputs. TypeError for another number of inputs and for other dtypes than the file's; ValueError for
  // lengths that differ from the file's. Errors of nodes have the name and the operator of the node.
  Variables forward(const Variables& inputs);
  // Returns the only output. ValueError if there are several.
  template <class... X> Variable operator()(const Variable& x, const X&... more) {
    return call(Variables{x, Variable(more)...});
  }
  Variable call(const Variables& inputs) override;

 protected:
  void visit_declared(MemberVisitor& v) override;
  void on_device_changed() override;

 private:
  friend struct importing::Program;
  Variables execute(const Variables& inputs);
  std::vector<Variable> initial_values(const Variables& inputs) const;

  catena::Shared<const importing::Program> program_;
  std::vector<std::pair<std::string, Parameter>> parameters_;
  std::vector<std::pair<std::string, Persistent>> persistents_;
  std::vector<Array> constants_;
};

// Reads a file. IOError and ValueError as for read(), other errors as for ImportedModel.
CATENA_EXPORT ImportedModel import_model(const std::string& path);
// import_model. (The messages of a file alone, as onnx.load of Python returns them: read() of model.h.)
inline ImportedModel load(const std::string& path) { return import_model(path); }

// Returns the names of the operators that can be imported, in alphabetical order.
CATENA_EXPORT std::vector<std::string> imported_operators();

}  // namespace nn::onnx
