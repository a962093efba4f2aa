#include <catena/nn/onnx/program.h>

#include <catena/autograd/config.h>
#include <catena/kernels/formats/byte_stream.h>
#include <catena/nn/onnx/import_fuse.h>

namespace nn {

namespace {

onnx::ImportedModel loaded(const std::string& path, const ProgramOptions& options) {
  onnx::Model model = onnx::read(path);
  if (options.fuse) {
    onnx::importing::fuse_batch_normalization(model);
    onnx::importing::fuse_quantized_products(model);
  }
  onnx::ImportedModel result(std::move(model), catena::io_context("Program", path));
  if (options.device) result.to_device(*options.device);
  return result;
}

}  // namespace

Program::Program(const std::string& path, const ProgramOptions& options) : model_(loaded(path, options)) {}

std::vector<autograd::Array> Program::run(const std::vector<autograd::Array>& inputs) const {
  const auto scope = autograd::using_config({.train = false, .enable_backprop = false, .type_check = false});
  autograd::Variables xs;
  for (const autograd::Array& x : inputs) xs.push_back(x ? autograd::as_variable(x) : autograd::Variable());
  std::vector<autograd::Array> results;
  for (const autograd::Variable& y : model_.forward(xs)) results.push_back(y.data());
  return results;
}

autograd::Array Program::only(const std::vector<autograd::Array>& inputs) const {
  catena::check<catena::ValueError>(output_names().size() == 1, "Program", "the network has ", output_names().size(),
                                    " outputs: call run()");
  return run(inputs)[0];
}

}  // namespace nn
