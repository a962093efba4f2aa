// The side of this library in onnx_test.py: networks that are exported, with inputs and what this library computes.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <catena/catena.h>
#include <catena/nn/onnx/export.h>

namespace onnx_networks {

using autograd::Array;
using autograd::Dtype;
using autograd::Shape;
using autograd::Variable;
using autograd::Variables;
using nn::onnx::ExportOptions;

// Writes <name>.onnx, and <name>.<k>.npz with inputs and outputs by their names, for one call after the other. The
// first call is exported; further ones show that lengths are free.
class Writer {
 public:
  explicit Writer(std::string folder) : folder_(std::move(folder)) {}

  template <class M>
  void add(const std::string& name, M&& model, const std::vector<Variables>& calls, const ExportOptions& options = {}) {
    nn::onnx::Model exported = nn::onnx::export_model(model, calls[0], path(name) + ".onnx", options);
    const autograd::TrainScope mode(options.train);
    for (std::size_t k = 0; k < calls.size(); ++k) {
      const auto no_graph = autograd::no_backprop_mode();
      write_call(path(name) + "." + std::to_string(k) + ".npz", exported, calls[k],
                 nn::onnx::internal::outputs_for(model, calls[k]));
    }
  }

 private:
  std::string path(const std::string& name) const { return folder_ + "/" + name; }
  static void write_call(const std::string& path, const nn::onnx::Model& model, const Variables& inputs,
                         const Variables& outputs);
  std::string folder_;
};

// Numbers of a normal distribution, always the same ones for a shape.
Variable random(const Shape& shape, double scale = 1, Dtype dtype = Dtype::float32);
Variable positive(const Shape& shape);                     // uniform in [0.5, 1.5)
Variable numbers(const Shape& shape, std::int64_t below);  // int32, 0 to below - 1
// Running averages and parameters that are not 0 or 1.
void randomize(nn::Link& link);

inline ExportOptions dynamic_batch() {
  ExportOptions options;
  options.dynamic_batch = true;
  return options;
}

void add_vision(Writer& w);
void add_generators(Writer& w);
void add_sequences(Writer& w);
void add_functions(Writer& w);
void add_losses(Writer& w);
void add_positions(Writer& w);

}  // namespace onnx_networks
