// Programs: networks from ONNX files, for programs that only compute.
//
//   const nn::Program net("net.onnx");
//   nd::Array y = net(x);
//
// The program needs neither the class of the network nor the library of training.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <catena/nn/onnx/import.h>

namespace nn {

struct ProgramOptions {
  std::optional<autograd::Device> device = {};  // default: that of the backend
  bool fuse = true;                             // batch normalization becomes a part of the convolution before it
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
