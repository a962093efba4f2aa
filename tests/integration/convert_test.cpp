// nd::Array <-> autograd::Array: one header, one memory, one reference count.
#include <boost/test/unit_test.hpp>
#include <type_traits>

#include <catena/autograd/backend/backend.h>
#include <catena/catena.h>
#include <catena/tests/support/reference_backend.h>

using autograd::Array;
using catena::ValueError;

namespace {

std::uint32_t references(const catena::HeaderRef& a) { return a->refs.load(); }

}  // namespace

BOOST_AUTO_TEST_SUITE(convert)

BOOST_AUTO_TEST_CASE(both_are_handles_of_one_size) {
  static_assert(sizeof(nd::Array) == sizeof(Array) && sizeof(Array) == sizeof(void*));
  static_assert(autograd::ForeignArray<nd::Array>);
  static_assert(!autograd::ForeignArray<int>);
  static_assert(std::is_convertible_v<nd::Array, Array>);
  static_assert(std::is_convertible_v<Array, nd::Array>);
  static_assert(!std::is_convertible_v<int, Array>);
}

BOOST_AUTO_TEST_CASE(a_conversion_shares_the_header) {
  nd::Array x = nd::zeros({2, 3}, {.dtype = nd::float32});
  BOOST_TEST(references(x) == 1u);
  {
    Array y = x;
    BOOST_TEST(y.get() == x.get());
    BOOST_TEST(references(x) == 2u);
    const nd::Array z = y;
    BOOST_TEST(z.get() == x.get());
    BOOST_TEST(references(x) == 3u);
    const Array moved = std::move(y);
    BOOST_TEST(references(x) == 3u);
  }
  BOOST_TEST(references(x) == 1u);
}

BOOST_AUTO_TEST_CASE(elements_written_through_one_are_read_through_the_other) {
  nd::Array x = nd::zeros({2, 3}, {.dtype = nd::float32});
  Array y = x;
  y += 1;
  BOOST_TEST(x.to_vector<float>() == std::vector<float>(6, 1.f));
  x *= 5;
  BOOST_TEST(autograd::to_vector<float>(y) == std::vector<float>(6, 5.f));
  const nd::Array row = autograd::slice(y, 0, 1, 2);
  row.fill(0);
  BOOST_TEST(autograd::to_vector<float>(y) == (std::vector<float>{5, 5, 5, 0, 0, 0}));
  const auto version = x.version();
  autograd::fill(y, 2);
  BOOST_TEST(x.version() > version);
}

BOOST_AUTO_TEST_CASE(an_array_is_assigned_to_one_of_the_framework) {
  const autograd::Variable x(autograd::arrays::zeros({2, 3}));
  autograd::assign(x.data(), nd::arange(3));
  BOOST_TEST(autograd::to_vector<float>(x.data()) == (std::vector<float>{0, 1, 2, 0, 1, 2}),
             boost::test_tools::per_element());
  const nd::Array a = nd::zeros({2, 3});
  autograd::assign(a, x.data());
  autograd::assign(a, nd::ones(3) + a);
  BOOST_TEST(a.to_vector<float>() == (std::vector<float>{1, 2, 3, 1, 2, 3}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(an_array_outlives_the_handle_it_came_from) {
  Array y;
  {
    const nd::Array x = nd::ones({4});
    y = x;
  }
  BOOST_TEST(autograd::item(autograd::sum(y)).to_double() == 4);
  BOOST_TEST((&y.backend() == &autograd::ndarray_backend()));
}

BOOST_AUTO_TEST_CASE(null_stays_null) {
  BOOST_TEST(!Array(nd::Array()));
  BOOST_TEST(static_cast<nd::Array>(Array()).is_null());
}

BOOST_AUTO_TEST_CASE(arrays_of_other_libraries_do_not_convert) {
  const Array foreign = test::reference_backend().empty({2}, autograd::Dtype::float32, {});
  BOOST_CHECK_EXCEPTION(static_cast<void>(static_cast<nd::Array>(foreign)), ValueError, [](const ValueError& e) {
    return std::string(e.what()) == "nd::Array: the array was made by reference, not by ndarray";
  });
  Array own = autograd::arrays::zeros({2});
  autograd::fill(foreign, 3);
  autograd::copy_across(own, foreign);
  const nd::Array back = own;
  BOOST_TEST(back.to_vector<float>() == std::vector<float>(2, 3.f));
}

BOOST_AUTO_TEST_CASE(wrapped_host_memory_is_used_in_place) {
  float memory[4] = {1, 2, 3, 4};
  {
    Array a = nd::wrap(memory, {2, 2});
    a *= 2;
  }
  BOOST_TEST(memory[3] == 8);
}

BOOST_AUTO_TEST_SUITE_END()
