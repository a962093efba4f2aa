// Programs: a network and its weights in one file, for programs that only compute.
//
//   nn::export_program("net.onnx", net, {x});                // where the class of the network is known
//
//   const nn::Program net("net.onnx");                       // in the program that is shipped
//   nd::Array y = net(x);
//
// The shipped program needs neither the class of the network nor the library of training. The file is an ONNX file, so
// other programs can read it, and it may come from them.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <catena/nn/onnx/export.h>
#include <catena/nn/onnx/import.h>

namespace nn {

// Writes what the model computes for inputs like these, with its weights. Options and errors of onnx::export_model;
// {.dynamic_batch = true} makes a program for any number of examples.
template <class M>
void export_program(const std::string& path, M&& model, const autograd::Variables& inputs,
                    const onnx::ExportOptions& options = {}) {
  onnx::export_model(std::forward<M>(model), inputs, path, options);
}

struct ProgramOptions {
  std::optional<autograd::Device> device = {};  // default: that of the backend
  // Batch normalization becomes a part of the convolution before it, and layers are computed with weights of 8 bits as
  // they are.
  bool fuse = true;
};

// A network from a file that computes without gradients. Several threads may call it at a time.
class CATENA_EXPORT Program {
 public:
  // Errors of onnx::import_model.
  explicit Program(const std::string& path, const ProgramOptions& options = {});

  const std::vector<std::string>& input_names() const noexcept { return model_.input_names(); }
  const std::vector<std::string>& output_names() const noexcept { return model_.output_names(); }
  // Returns all outputs. Errors of ImportedModel::forward.
  std::vector<autograd::Array> run(const std::vector<autograd::Array>& inputs) const;
  // Returns the only output. ValueError if there are several.
  template <autograd::ArrayLike... X>
  requires(sizeof...(X) > 0) autograd::Array operator()(const X&... x) const { return only({autograd::Array(x)...}); }

 private:
  autograd::Array only(const std::vector<autograd::Array>& inputs) const;

  mutable onnx::ImportedModel model_;  // a call changes none of its members
};

}  // namespace nn
