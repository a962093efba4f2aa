// For tests of updaters with several replicas: devices, data in host memory, manual steps, states as text.
#pragma once

#include <string>
#include <vector>

#include <catena/nn/serializers/npz.h>
#include <catena/tests/support/framework_devices.h>
#include <catena/tests/support/training_fixtures.h>
#include <catena/training/optimizer_hooks.h>
#include <catena/training/optimizers.h>
#include <catena/training/parallel/devices.h>

namespace test {

inline const auto each = boost::test_tools::per_element();

using autograd::Device;

inline bool has_two_gpus() {
  if (!has_cuda()) return false;
  try {
    autograd::arrays::zeros({1}, Dtype::float32, Device{Device::Kind::cuda, 1});
    return true;
  } catch (const catena::Error& e) {
    std::cout << "there is one GPU: " << e.what() << "\n";
    return false;
  }
}

// The devices on which replicas are trained: the CPU, and GPUs if there are two.
inline std::vector<std::vector<Device>> replica_devices() {
  std::vector<std::vector<Device>> all;
  if (default_device() == kCpu) {
    all.push_back({kCpu});
    all.push_back({kCpu, kCpu, kCpu});
  }
  if (has_two_gpus()) all.push_back({kCuda, Device{Device::Kind::cuda, 1}});
  if (all.empty()) all.push_back({kCpu, kCpu});
  return all;
}
inline training::Devices named(const std::vector<Device>& devices) {
  return std::vector<training::DeviceId>(devices.begin(), devices.end());
}

struct OneByOne : training::DatasetMixin {
  training::DatasetPtr of;
  explicit OneByOne(training::DatasetPtr of_) : of(std::move(of_)) {}
  std::int64_t size() const override { return of->size(); }
  training::Example get_example(std::int64_t i) const override { return of->get_example(i); }
};

// Returns n examples of 4 numbers and a label below 3, in host memory; stacked by the dataset, or one by one.
inline training::DatasetPtr host_examples(std::int64_t n, bool is_stacked, std::uint64_t seed = 99) {
  autograd::Generator fixed{seed, 0};
  std::vector<std::int32_t> labels;
  for (std::int64_t i = 0; i < n; ++i) labels.push_back(std::int32_t(i % 3));
  const training::DatasetPtr data = std::make_shared<training::TupleDataset>(std::vector<Array>{
      autograd::random_normal({n, 4}, 0, 1, Dtype::float32, fixed, kCpu), autograd::array(labels, {n}, kCpu)});
  return is_stacked ? data : training::DatasetPtr(std::make_shared<OneByOne>(data));
}

inline void gradients_of(nn::Link& model, const training::Example& batch) {
  Variable loss = model.call(training::to_variables(batch));
  model.cleargrads();
  loss.backward();
}

// Multiplies the gradients by a number, in new arrays.
inline void scale_gradients(nn::Link& model, double by) {
  for (Variable p : model.params())
    if (const Array g = p.grad()) p.set_grad(g * by);
}

// Returns every parameter as its path and bytes.
inline std::vector<std::string> params_of(const nn::Link& model) {
  std::vector<std::string> all;
  for (const nn::NamedParam& p : model.namedparams()) {
    std::string bytes(std::size_t(p.param.size()) * catena::itemsize(p.param.dtype()), '\0');
    autograd::to_host(p.param.data(), bytes.data());
    all.push_back(p.path + bytes);
  }
  return all;
}

// Returns the saved entries of an object, except its times.
template <class T> std::vector<std::string> entries_of(T& object) {
  nn::serializers::DictionarySerializer s;
  object.serialize(s);
  std::vector<std::string> parts;
  for (const auto& e : s.entries())
    if (e.key != "_snapshot_elapsed_time" && !e.key.starts_with("_catena/random/arrays/"))
      parts.push_back(e.key + "=" + e.text +
                      std::string(reinterpret_cast<const char*>(e.bytes.data()), e.bytes.size()));
  return parts;
}
inline std::vector<std::string> state_of(nn::Link& model) { return entries_of(model); }
template <class T> bool has_entry(T& object, const std::string& key) {
  for (const std::string& e : entries_of(object))
    if (e.starts_with(key + "=")) return true;
  return false;
}

}  // namespace test
