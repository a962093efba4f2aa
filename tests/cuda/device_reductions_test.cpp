// Reductions whose elements several blocks share: one launch outside of graphs, and the same digits on every stream and
// in a graph, where a second kernel combines the results of the blocks.
#include <boost/test/unit_test.hpp>

#include <iostream>

#include <catena/ndarray/cuda/runtime/graph.h>
#include <catena/ndarray/ndarray.h>
#include <catena/tests/support/cuda_device/launches.h>

namespace {

using nd::Array;

const nd::Device cuda{nd::Device::Kind::cuda, 0};

// Numbers whose sums depend on the order of the additions.
Array thirds(std::int64_t n) { return nd::arange(double(n), {.dtype = nd::float32}) / 3; }

struct Reductions {
  Array line = thirds(100000), matrix = thirds(400 * 300).reshape(400, 300);
  std::vector<Array> operator()() const {
    return {nd::sum(line), nd::argmax(line), nd::var(line), nd::sum(matrix, {.axis = 0}), nd::max(matrix)};
  }
};

void check_same(const std::vector<Array>& actual, const std::vector<Array>& expected) {
  for (std::size_t k = 0; k < expected.size(); ++k)
    BOOST_TEST(nd::array_equal(actual[k], expected[k]),
               "reduction " << k << ": " << actual[k] << ", not " << expected[k]);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(device_reductions)

BOOST_AUTO_TEST_CASE(a_long_reduction_is_one_launch) {
  if (!cuda_device::Control::available()) {
    std::cout << "skipped: only the software CUDA device records launches\n";
    return;
  }
  const nd::DeviceScope on(cuda);
  const Reductions reduce;
  reduce();
  const std::vector<std::string> names = cuda_device::launches_of([&] { reduce(); });
  BOOST_TEST(names.size() == 5u);
  for (const std::string& name : names) BOOST_TEST(name.find("second") == std::string::npos, name);
}

BOOST_AUTO_TEST_CASE(streams_and_graphs_give_the_same_digits) {
  const nd::DeviceScope on(cuda);
  const Reductions reduce;
  const std::vector<Array> expected = reduce();
  const double exact = 99999.0 * 100000.0 / 6;
  BOOST_TEST(std::abs(double(expected[0]) / exact - 1) < 1e-6);
  BOOST_TEST(int(expected[1]) == 99999);

  const nd::Stream first({.non_blocking = false}), second({.non_blocking = false});
  for (int turn = 0; turn < 3; ++turn) {
    for (const nd::Stream& stream : {first, second}) {
      const nd::StreamScope current(stream);
      check_same(reduce(), expected);
    }
  }

  std::vector<Array> captured;
  nd::cuda::Graph graph([&] { captured = reduce(); });
  check_same(captured, expected);
  for (int turn = 0; turn < 2; ++turn) {
    for (Array& a : captured) a.fill(0);
    graph.replay();
    check_same(captured, expected);
  }
}

BOOST_AUTO_TEST_SUITE_END()
