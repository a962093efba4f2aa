// Elements as C++ values: item, to_vector, accessors, raw pointers, wrapped memory.
#include <memory>

#include <catena/ndarray/ndarray.h>
#include <catena/tests/support/ndarray_values.h>

namespace {

using nd::Array;
using test::message_of;

}  // namespace

BOOST_AUTO_TEST_SUITE(typed_access)

BOOST_AUTO_TEST_CASE(items) {
  BOOST_TEST(nd::array({{2.75}}).item<double>() == 2.75);
  BOOST_TEST(nd::array({2.75}).item<int>() == 2);
  BOOST_TEST(nd::array({-2.75}).item<std::uint8_t>() == 0);
  BOOST_TEST(nd::array({300}).item<std::uint8_t>() == 44);
  BOOST_TEST(nd::array(3).item<bool>());
  BOOST_TEST(float(nd::array(0.5f).item<nd::float16_t>()) == 0.5f);
  BOOST_TEST(nd::array(7).item().to<int>() == 7);
  BOOST_TEST(nd::array(7.5).item().is_floating());
  BOOST_TEST(nd::array(std::vector<std::uint64_t>{~std::uint64_t(0)}).item().to<std::uint64_t>() == ~std::uint64_t(0));
  BOOST_TEST(message_of<nd::ValueError>([] {
               nd::ones({2, 2}).item<int>();
             }) == "item: an array of shape (2, 2) has 4 elements, not one");
  BOOST_CHECK_THROW(nd::ones({0}).item<int>(), nd::ValueError);
}

BOOST_AUTO_TEST_CASE(vectors) {
  const Array a = nd::arange(6).reshape(2, 3).T();
  BOOST_TEST(a.to_vector<int>() == (std::vector<int>{0, 3, 1, 4, 2, 5}));
  BOOST_TEST(a.to_vector<float>() == (std::vector<float>{0, 3, 1, 4, 2, 5}));
  BOOST_TEST(a.to_vector<bool>() == (std::vector<bool>{false, true, true, true, true, true}));
  BOOST_TEST(nd::zeros({0, 3}).to_vector<int>().empty());
  for (nd::Dtype t : test::kAllDtypes)
    BOOST_TEST(nd::array({0, 1}, {.dtype = t}).to_vector<double>() == (std::vector<double>{0, 1}));
}

BOOST_AUTO_TEST_CASE(accessors) {
  const nd::DeviceScope host(nd::cpu_device);
  Array a = nd::arange(6).reshape(2, 3);
  auto v = a.T().accessor<std::int64_t, 2>();
  BOOST_TEST(v(2, 1) == 5);
  BOOST_TEST(v.shape(0) == 3);
  v(2, 1) = 50;
  BOOST_TEST(a.to_vector<int>() == (std::vector<int>{0, 1, 2, 3, 4, 50}));
  BOOST_TEST(message_of<nd::IndexError>([&] { v(3, 0); }) ==
             "accessor: index 3 is out of range for axis 0 of length 3");
  BOOST_TEST(message_of<nd::IndexError>([&] { v(0, -1); }) ==
             "accessor: index -1 is out of range for axis 1 of length 2");
  BOOST_TEST(message_of<nd::TypeError>([&] { a.accessor<float, 2>(); }) ==
             "accessor: the array has dtype int64, the accessor is for float32");
  BOOST_TEST(message_of<nd::ValueError>([&] { a.accessor<std::int64_t, 1>(); }) ==
             "accessor: the array has rank 2, the accessor is for rank 1");
  const std::uint64_t version = a.version();
  const auto read = a.accessor<const std::int64_t, 2>();
  BOOST_TEST(read(1, 2) == 50);
  BOOST_TEST(a.version() == version);
  a.accessor<std::int64_t, 2>();
  BOOST_TEST(a.version() == version + 1);
  auto scalar = nd::array(1.5).accessor<double, 0>();  // keeps the temporary's memory alive
  const Array noise = nd::zeros({});
  BOOST_TEST(scalar() == 1.5);
}

BOOST_AUTO_TEST_CASE(pointers) {
  const nd::DeviceScope host(nd::cpu_device);
  Array a = nd::arange(4);
  a.data<std::int64_t>()[1] = 7;
  BOOST_TEST(a.to_vector<int>()[1] == 7);
  BOOST_TEST(nd::internal::make_view(a, {2}, {8}, 8).data<const std::int64_t>()[0] == 7);
  BOOST_TEST(message_of<nd::TypeError>([&] { a.data<float>(); }) ==
             "data: the array has dtype int64, elements of float32 were asked for");
}

BOOST_AUTO_TEST_CASE(wrapping) {
  float memory[6] = {0, 1, 2, 3, 4, 5};
  {
    Array a = nd::wrap(memory, {2, 3});
    BOOST_TEST(a.dtype() == nd::float32);
    BOOST_TEST((a.device() == nd::cpu_device));
    const nd::DeviceScope scope(nd::cpu_device);
    a += 10;
    BOOST_TEST(memory[5] == 15);
    memory[0] = -1;
    BOOST_TEST(a.to_vector<float>()[0] == -1);
  }
  int deleted = 0;
  {
    Array view;
    {
      Array a = nd::wrap(new double[4]{1, 2, 3, 4}, {4}, [&](double* p) {
        delete[] p;
        ++deleted;
      });
      view = nd::internal::make_view(a, {2}, {16}, 8);
      BOOST_TEST(a.owndata());
    }
    BOOST_TEST(deleted == 0);
    BOOST_TEST(view.to_vector<int>() == (std::vector<int>{2, 4}));
  }
  BOOST_TEST(deleted == 1);
  // A deleter that can only be moved, and one whose array never comes to be.
  {
    nd::wrap(memory, {6}, [owner = std::make_unique<int>(1), &deleted](float*) { ++deleted; });
  }
  BOOST_TEST(deleted == 2);
  BOOST_CHECK_THROW(nd::wrap(memory, {-6}, [&](float*) { ++deleted; }), nd::ValueError);
  BOOST_TEST(deleted == 3);
}

BOOST_AUTO_TEST_CASE(wrapping_with_strides) {
  std::int32_t memory[6] = {0, 1, 2, 3, 4, 5};
  const Array back = nd::wrap(memory + 5, {3}, {.strides = nd::Strides{-8}});
  BOOST_TEST(back.to_vector<int>() == (std::vector<int>{5, 3, 1}));
  const Array columns = nd::wrap(memory, {3, 2}, {.strides = nd::Strides{4, 12}});
  BOOST_TEST(columns.to_vector<int>() == (std::vector<int>{0, 3, 1, 4, 2, 5}));
  BOOST_TEST(columns.is_f_contiguous());
  BOOST_TEST(message_of<nd::ValueError>([&] {
               nd::wrap(memory, {3, 2}, {.strides = nd::Strides{4}});
             }) == "wrap: strides (4,) and shape (3, 2) have different ranks");
  BOOST_TEST(message_of<nd::ValueError>([&] { nd::wrap(memory, {2}, {.strides = nd::Strides{6}}); }) ==
             "wrap: strides (6,) are no multiples of 4, the itemsize of int32");
  BOOST_CHECK_THROW(nd::wrap(static_cast<float*>(nullptr), {2}), nd::ValueError);
  BOOST_TEST(nd::wrap(static_cast<float*>(nullptr), {0}).size() == 0);
}

BOOST_AUTO_TEST_SUITE_END()
