// Recurrences on CUDA: one launch where the positions along an axis do not depend on each other or where there are few
// of them, else one per position. Values are compared with those of the host.
#include <boost/test/unit_test.hpp>

#include <cmath>
#include <string>
#include <vector>

#include <catena/catena.h>
#include <catena/ndarray/device/device.h>
#include <catena/tests/support/cuda_device/control.h>

namespace {

using namespace autograd;

const Device kCuda{Device::Kind::cuda, 0};

// y[t, s + d, b + e] = max(y[t - 1, s + d, b + e], y[t - 1, s, b]).
struct Case {
  std::int64_t times, states, batch, d, e;
  bool batch_first = false;  // in memory
  bool at_once = true;
};

void check(const Case& c) {
  const std::int64_t rows = c.states + c.d, columns = c.batch + c.e;
  std::vector<double> y(std::size_t(c.times * rows * columns), 0.0);
  for (std::int64_t i = 0; i < rows * columns; ++i) y[std::size_t(i)] = double(i * 7 % 5) + 1;
  const Array first = to_device(array(y, {c.times, rows, columns}), kCuda);
  Array memory = first;
  if (c.batch_first) memory = transpose(copy(transpose(first, {2, 0, 1})), {1, 2, 0});
  const auto at = [&](std::int64_t t, std::int64_t s, std::int64_t b) -> double& {
    return y[std::size_t((t * rows + s) * columns + b)];
  };
  for (std::int64_t t = 1; t < c.times; ++t)
    for (std::int64_t s = 0; s < c.states; ++s)
      for (std::int64_t b = 0; b < c.batch; ++b)
        at(t, s + c.d, b + c.e) = std::fmax(at(t - 1, s + c.d, b + c.e), at(t - 1, s, b));
  const auto part = [&](std::int64_t t, std::int64_t s, std::int64_t b) {
    return slice(slice(slice(memory, 0, t, t + c.times - 1), 1, s, s + c.states), 2, b, b + c.batch);
  };
  const Array now = part(1, c.d, c.e);
  const Operand operands[] = {part(0, c.d, c.e), part(0, 0, 0)};
  cuda_device::Control control;
  if (cuda_device::Control::available()) control.reset_records();
  apply_in_order(catena::kernels::maximum, operands, {&now, 1});
  if (cuda_device::Control::available()) {
    const auto launches = control.launches();
    BOOST_REQUIRE(!launches.empty());
    BOOST_TEST(launches.size() == std::size_t(c.at_once ? 1 : c.times - 1));
    BOOST_TEST((launches[0].kernel.find("_recurrence_") != std::string::npos) == c.at_once);
  }
  BOOST_TEST(to_vector<double>(memory) == y, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_SUITE(recurrence)

BOOST_AUTO_TEST_CASE(values_and_launches) {
  if (!nd::is_available(Device::Kind::cuda)) return;
  const Case cases[] = {
      {9, 5, 3, 1, 0},    // lines are the sequences
      {9, 5, 1, 2, 0},    // of one sequence
      {9, 1, 6, 0, 1},    // lines of one state: the sequences depend on each other
      {5, 255, 2, 1, 0},  // states around the threads of a block
      {5, 256, 2, 2, 0},
      {5, 257, 2, 1, 0},
      {3, 1024, 2, 1, 0},  // the most elements of a line
      {4, 1025, 2, 1, 0, false, false},
      {6, 40, 30, 1, 1, false, false},  // no axis is independent, and there are many elements
      {6, 7, 9, 1, 1},                  // no axis is independent, but there are few elements
      {7, 5, 4, 1, 0, true},            // the sequences are apart in memory
      {2, 5, 3, 1, 0, false, false},    // a single position is an ordinary call
  };
  for (const Case& c : cases)
    BOOST_TEST_CONTEXT(c.times << " x " << c.states << " x " << c.batch << ", distances " << c.d << " and " << c.e)
  check(c);
}

BOOST_AUTO_TEST_CASE(two_launches_for_the_alignments_of_sequences) {
  if (!cuda_device::Control::available()) return;
  const nd::DeviceScope on(kCuda);
  cuda_device::Control control;
  for (const bool varied : {false, true}) {
    nn::CTCOptions options;
    if (varied) {
      options.input_length = array<int>({20, 11, 17}, {3});
      options.label_length = array<int>({4, 2, 3}, {3});
    }
    const auto launches = [&](std::int64_t times) {
      Variable x(arrays::zeros({times, 3, 6}));
      const Variable t(array<int>({1, 2, 3, 3, 5, 1, 2, 2, 1, 5, 4, 3}, {3, 4}));
      const auto step = [&] {
        x.cleargrad();
        Variable loss = nn::connectionist_temporal_classification({x}, t, 0, options);
        loss.backward();
      };
      step();
      control.reset_records();
      step();
      return control.launches();
    };
    const auto few = launches(20), many = launches(60);
    BOOST_TEST(few.size() == many.size());
    std::size_t recurrences = 0;
    for (const auto& l : many) recurrences += l.kernel.find("ctc_step_recurrence_") != std::string::npos;
    BOOST_TEST(recurrences == 2u);
    BOOST_TEST(many.size() < 100u);
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
