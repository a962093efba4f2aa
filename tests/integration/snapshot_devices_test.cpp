// A training that goes from the GPU to the CPU and back through its snapshots, and the same training on both.
#include <cmath>
#include <iostream>
#include <map>
#include <string>

#include <catena/catena.h>
#include <catena/tests/support/training_run.h>

using namespace test;

namespace {

const nd::Device kCuda{nd::Device::Kind::cuda, 0};

// The contents of a snapshot: the model, the optimizer and the iterator.
std::map<std::string, std::string> stored(StatefulRun& run) {
  std::map<std::string, std::string> parts;
  nn::serializers::DictionarySerializer s;
  run.trainer.updater().serialize(s);
  for (const auto& e : s.entries())
    parts[e.key] = e.text + std::string(reinterpret_cast<const char*>(e.bytes.data()), e.bytes.size());
  return parts;
}
void check_device(StatefulRun& run, nd::Device device) {
  for (const Variable& p : run.model.params()) {
    BOOST_TEST(p.data().device() == device);
    BOOST_TEST(p.grad().device() == device);
  }
}
std::string snapshot(const TemporaryFolder& folder, int iteration) {
  return folder / ("snapshot_iter_" + std::to_string(iteration));
}

BOOST_AUTO_TEST_SUITE(snapshot_devices)

BOOST_AUTO_TEST_CASE(from_the_gpu_to_the_cpu_and_back) {
  if (!nd::is_available(kCuda.kind)) {
    std::cout << "skipped: needs a CUDA device (the entry .cuda has the software one)\n";
    BOOST_TEST(!nd::is_available(kCuda.kind));
    return;
  }
  const TemporaryFolder first("devices_first"), second("devices_second"), third("devices_third");
  std::map<std::string, std::string> at_6, at_9;
  {
    const nd::DeviceScope on(kCuda);
    StatefulRun run(1, 6, first.path.string());
    run.trainer.run();
    check_device(run, kCuda);
    at_6 = stored(run);
    BOOST_TEST(at_6.size() > 15u);  // parameters, statistics, Adam's moments, the order
  }
  {
    const nd::DeviceScope on(nd::cpu_device);
    StatefulRun run(2, 9, second.path.string());
    nn::serializers::load_npz(snapshot(first, 6), run.trainer);
    BOOST_TEST((stored(run) == at_6));  // every bit
    run.trainer.run();
    check_device(run, nd::cpu_device);
    BOOST_TEST(run.trainer.updater().iteration() == 9);
    at_9 = stored(run);
  }
  const nd::DeviceScope on(kCuda);
  StatefulRun run(3, 12, third.path.string());
  nn::serializers::load_npz(snapshot(second, 9), run.trainer);
  BOOST_TEST((stored(run) == at_9));
  BOOST_TEST((stored(run) != at_6));
  run.trainer.run();
  check_device(run, kCuda);
  BOOST_TEST(run.trainer.updater().iteration() == 12);
  for (const Variable& p : run.model.params())
    for (const double v : values(p.data())) BOOST_REQUIRE(std::isfinite(v));
}

// The same seed: the same order and masks, and values that differ by rounding.
BOOST_AUTO_TEST_CASE(the_same_training_on_both) {
  if (!nd::is_available(kCuda.kind)) {
    std::cout << "skipped: needs a CUDA device (the entry .cuda has the software one)\n";
    BOOST_TEST(!nd::is_available(kCuda.kind));
    return;
  }
  const TemporaryFolder of_gpu("devices_gpu"), of_cpu("devices_cpu");
  std::vector<std::vector<double>> gpu, cpu;
  const auto train = [](nd::Device device, const TemporaryFolder& folder, std::vector<std::vector<double>>& params) {
    const nd::DeviceScope on(device);
    StatefulRun run(1, 6, folder.path.string());
    run.trainer.run();
    for (const auto& [name, p] : run.model.namedparams())
      // The gradient of a bias before a batch normalization is rounding alone, which Adam scales up.
      if (name != "/predictor/l1/b") params.push_back(values(p.data()));
  };
  train(kCuda, of_gpu, gpu);
  train(nd::cpu_device, of_cpu, cpu);
  BOOST_REQUIRE(gpu.size() == 5u);
  BOOST_REQUIRE(gpu.size() == cpu.size());
  for (std::size_t i = 0; i < gpu.size(); ++i)
    for (std::size_t k = 0; k < gpu[i].size(); ++k)
      BOOST_REQUIRE_MESSAGE(std::fabs(gpu[i][k] - cpu[i][k]) <= 1e-5 + 1e-4 * std::fabs(cpu[i][k]),
                            "parameter " << i << " element " << k << ": " << gpu[i][k] << ", " << cpu[i][k]);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
