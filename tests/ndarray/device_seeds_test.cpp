// F43: with CHAINER_SEED set every device has a stream of its own, and each replays.
#include <boost/test/unit_test.hpp>

#include <cstdlib>
#include <iostream>
#include <optional>
#include <string>
#include <vector>

#include <catena/ndarray/ndarray.h>
#include <catena/tests/support/ndarray_values.h>

namespace {

BOOST_AUTO_TEST_SUITE(device_seeds)

BOOST_AUTO_TEST_CASE(devices_derive_seeds_of_their_own) {
  std::vector<nd::Device> devices{nd::cpu_device};
  for (int id = 0; id < nd::device_count(nd::Device::Kind::cuda); ++id)
    devices.push_back({nd::Device::Kind::cuda, static_cast<std::int16_t>(id)});
  const char* const before = std::getenv("CHAINER_SEED");
  const std::optional<std::string> saved = before != nullptr ? std::optional<std::string>(before) : std::nullopt;
  ::setenv("CHAINER_SEED", "17", 1);
  const auto draw = [&] {
    nd::random::reset_states();
    std::vector<std::vector<double>> numbers;
    for (const nd::Device device : devices) {
      const nd::DeviceScope on(device);
      numbers.push_back(nd::random::random_sample({8}).to_vector<double>());
    }
    return numbers;
  };
  const auto first = draw(), second = draw();
  BOOST_TEST((first == second));
  // Device 0 of either kind has the given seed; the others derive theirs from it.
  for (std::size_t i = 0; i < devices.size(); ++i)
    for (std::size_t j = i + 1; j < devices.size(); ++j) {
      const bool same_number = devices[i].id == devices[j].id;
      BOOST_TEST((first[i] == first[j]) == same_number, devices[i] << " and " << devices[j]);
    }
  if (devices.size() < 3) std::cout << "not compared: two CUDA devices, which are not there\n";
  if (saved) ::setenv("CHAINER_SEED", saved->c_str(), 1);
  else ::unsetenv("CHAINER_SEED");
  nd::random::reset_states();
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
