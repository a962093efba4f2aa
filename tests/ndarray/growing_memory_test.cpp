// Memory of the CPU that grows in place.
#include <boost/test/unit_test.hpp>
#include <cstring>

#include <catena/ndarray/device/runtime.h>

namespace {

constexpr std::size_t kUnit = 2 << 20;

nd::Runtime& cpu() { return nd::runtime(catena::Device::Kind::cpu); }

bool is_filled(const std::byte* data, std::size_t bytes, int value) {
  for (std::size_t i = 0; i < bytes; ++i)
    if (data[i] != std::byte(value)) return false;
  return true;
}

BOOST_AUTO_TEST_CASE(it_grows_at_its_end_only) {
  BOOST_TEST(cpu().growth_unit() == kUnit);
  std::byte* const a = cpu().grow(0, nullptr, kUnit);
  BOOST_REQUIRE(a != nullptr);
  BOOST_TEST(reinterpret_cast<std::uintptr_t>(a) % kUnit == 0u);
  BOOST_TEST(is_filled(a, kUnit, 0));
  std::memset(a, 1, kUnit);
  std::byte* const b = cpu().grow(0, a + kUnit, 4 * kUnit);
  BOOST_TEST(b == a + kUnit);
  BOOST_TEST(is_filled(b, 4 * kUnit, 0));
  BOOST_TEST(is_filled(a, kUnit, 1));
  BOOST_TEST(cpu().grow(0, a + kUnit, kUnit) == nullptr);
  BOOST_TEST(cpu().grow(0, a, kUnit) == nullptr);
  std::byte* const other = cpu().grow(0, nullptr, kUnit);
  BOOST_TEST((other < a || other >= a + 5 * kUnit));
  cpu().shrink(0, other, kUnit);
  cpu().shrink(0, a, 5 * kUnit);
}

BOOST_AUTO_TEST_CASE(any_part_goes_back) {
  std::byte* const a = cpu().grow(0, nullptr, 6 * kUnit);
  std::memset(a, 3, 6 * kUnit);
  cpu().shrink(0, a + 2 * kUnit, 2 * kUnit);
  BOOST_TEST(is_filled(a, 2 * kUnit, 3));
  BOOST_TEST(is_filled(a + 4 * kUnit, 2 * kUnit, 3));
  cpu().shrink(0, a + 5 * kUnit, kUnit);  // its end: it grows there again, with zeros
  BOOST_TEST(cpu().grow(0, a + 6 * kUnit, kUnit) == nullptr);
  BOOST_TEST(cpu().grow(0, a + 5 * kUnit, 2 * kUnit) == a + 5 * kUnit);
  BOOST_TEST(is_filled(a + 5 * kUnit, 2 * kUnit, 0));
  BOOST_TEST(is_filled(a + 4 * kUnit, kUnit, 3));
  cpu().shrink(0, a, 2 * kUnit);
  cpu().shrink(0, a + 4 * kUnit, 3 * kUnit);
}

BOOST_AUTO_TEST_CASE(more_than_there_are_addresses_is_refused) {
  BOOST_TEST(cpu().grow(0, nullptr, std::size_t(1) << 60) == nullptr);
  std::byte* const a = cpu().grow(0, nullptr, kUnit);
  BOOST_TEST(cpu().grow(0, a + kUnit, std::size_t(1) << 60) == nullptr);
  BOOST_TEST(is_filled(a, kUnit, 0));
  cpu().shrink(0, a, kUnit);
}

}  // namespace
