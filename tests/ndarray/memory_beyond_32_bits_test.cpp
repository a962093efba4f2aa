// F51: arrays of more than 2^31 elements and strides of more than 2^31 bytes. Their memory is address space that the
// system fills with zeros where it is read and backs with pages where it is written.
#include <boost/test/unit_test.hpp>

#include <sys/mman.h>

#include <cstdint>
#include <iostream>
#include <vector>

#include <catena/ndarray/ndarray.h>
#include <catena/tests/support/ndarray_values.h>

namespace {

using nd::Array;

constexpr std::int64_t kBeyond = (std::int64_t(1) << 31) + 10;

struct AddressSpace {
  explicit AddressSpace(std::size_t size)
      : bytes(size),
        data(mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)) {}
  ~AddressSpace() {
    if (data != MAP_FAILED) munmap(data, bytes);
  }
  bool usable() const {
    if (data != MAP_FAILED) return true;
    std::cout << "skipped: there is no address space of " << bytes << " bytes\n";
    return false;
  }
  std::size_t bytes;
  void* data;
};

BOOST_AUTO_TEST_SUITE(memory_beyond_32_bits)

BOOST_AUTO_TEST_CASE(elements) {
  const AddressSpace space(static_cast<std::size_t>(kBeyond));
  if (!space.usable()) return;
  const nd::DeviceScope on(nd::cpu_device);
  auto* const bytes = static_cast<std::int8_t*>(space.data);
  bytes[kBeyond - 3] = 5;
  bytes[kBeyond - 2] = -7;
  const Array a = nd::wrap(bytes, {kBeyond});
  BOOST_TEST(a.size() == kBeyond);
  BOOST_TEST(a(-3).item<int>() == 5);
  BOOST_TEST(nd::argmax(a).item<std::int64_t>() == kBeyond - 3);
  BOOST_TEST(nd::argmin(a).item<std::int64_t>() == kBeyond - 2);
  BOOST_TEST(nd::sum(a).item<std::int64_t>() == -2);
  BOOST_TEST(nd::count_nonzero(a) == 2);
  const Array places = nd::array({kBeyond - 3, std::int64_t(0), kBeyond - 2});
  BOOST_TEST((nd::take(a, places).to_vector<int>() == std::vector<int>{5, 0, -7}));
  a(nd::Slice(kBeyond - 2, kBeyond)) = 9;
  BOOST_TEST(bytes[kBeyond - 1] == 9);
  BOOST_TEST(bytes[0] == 0);
  a[nd::array({kBeyond - 4})] = 3;
  BOOST_TEST(bytes[kBeyond - 4] == 3);
  const Array halves = a.reshape(2, kBeyond / 2);
  BOOST_TEST(halves(1, -4).item<int>() == 3);
}

BOOST_AUTO_TEST_CASE(strides) {
  constexpr std::int64_t step = (std::int64_t(1) << 31) + 16;
  const AddressSpace space(static_cast<std::size_t>(2 * step + 64));
  if (!space.usable()) return;
  const nd::DeviceScope on(nd::cpu_device);
  const Array a = nd::wrap(static_cast<float*>(space.data), {3, 4}, {.strides = nd::Strides{step, 4}});
  a(nd::ellipsis) = nd::arange(12).reshape(3, 4);
  BOOST_TEST((a.to_vector<double>() == std::vector<double>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}));
  BOOST_TEST(*reinterpret_cast<float*>(static_cast<char*>(space.data) + 2 * step + 12) == 11);
  const Array b = nd::exp2(a.transpose()) + a.transpose();
  BOOST_TEST(b(3, 2).item<double>() == 2048 + 11);
  BOOST_TEST((nd::sum(a, {.axis = 0}).to_vector<double>() == std::vector<double>{12, 15, 18, 21}));
  const nd::ElementwiseKernel twice("T x", "T y", "y = 2 * x", "twice_beyond");
  BOOST_TEST((twice(a)(2, 3).item<double>() == 22));
}

// On CUDA positions beyond 32 bits: ndarray/elementwise_kernel, positions_beyond_32_bits.

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
