//   test_onnx FOLDER
#include <catena/tests/interop/onnx/networks.h>

#include <iostream>

#include <catena/kernels/formats/atomic_file.h>
#include <catena/kernels/formats/npz.h>

namespace onnx_networks {

void Writer::write_call(const std::string& path, const nn::onnx::Model& model, const Variables& inputs,
                        const Variables& outputs) {
  catena::AtomicFile file("test_onnx", path);
  catena::NpzWriter npz(file, false);
  const auto add = [&](const std::string& name, const Array& a) {
    std::vector<std::byte> bytes(std::size_t(a.size()) * catena::itemsize(a.dtype()));
    autograd::to_host(a, bytes.data());
    npz.add(name, a.dtype(), a.shape(), bytes);
  };
  for (std::size_t i = 0; i < inputs.size(); ++i) add(model.graph->input[i].name, inputs[i].data());
  for (std::size_t i = 0; i < outputs.size(); ++i) add(model.graph->output[i].name, outputs[i].data());
  npz.finish();
  file.commit();
}

Variable random(const Shape& shape, double scale, Dtype dtype) {
  autograd::Generator generator;
  generator.seed = std::uint64_t(7 + catena::size_of(shape));
  return Variable(autograd::random_normal(shape, 0, scale, dtype, generator));
}
Variable positive(const Shape& shape) {
  autograd::Generator generator;
  generator.seed = 5;
  return Variable(autograd::random_uniform(shape, 0.5, 1.5, Dtype::float32, generator));
}
Variable numbers(const Shape& shape, std::int64_t below) {
  std::vector<std::int32_t> values;
  for (std::int64_t i = 0; i < catena::size_of(shape); ++i) values.push_back(std::int32_t((i * 7 + 3) % below));
  return Variable(autograd::array(values, shape));
}

namespace {
class Randomizer final : public nn::MemberVisitor {
 public:
  void parameter(std::string_view, nn::Parameter& p) override {
    if (const Variable v = p; v && v.data() && v.ndim() == 1)
      autograd::assign(v.data(), v.data() + random(v.shape(), 0.2, v.dtype()).data());
  }
  void persistent(std::string_view name, nn::Persistent& a) override {
    const Array noise = random(a.array().shape(), 0.2, a.array().dtype()).data();
    autograd::assign(a.array(), a.array() + (name == "avg_var" ? noise * noise : noise));
  }
  using nn::MemberVisitor::persistent;
};
}  // namespace

void randomize(nn::Link& link) {
  Randomizer visitor;
  for (const nn::NamedLink& l : link.namedlinks()) l.link->visit_members(visitor);
}

}  // namespace onnx_networks

int main(int argc, char** argv) try {
  using namespace onnx_networks;
  if (argc != 2) {
    std::cerr << "test_onnx FOLDER\n";
    return 2;
  }
  Writer w(argv[1]);
  add_vision(w);
  add_generators(w);
  add_sequences(w);
  add_functions(w);
  add_losses(w);
  add_positions(w);
} catch (const std::exception& e) {
  std::cerr << e.what() << '\n';
  return 1;
}
