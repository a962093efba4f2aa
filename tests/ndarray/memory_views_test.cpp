// Arrays and the memory behind them: pointers, arrays over given memory, shapes in place, what kernels get, names of
// dtypes.
#include <catena/ndarray/core/carray.h>

#include <boost/test/unit_test.hpp>

#include <cstring>
#include <string>
#include <vector>

#include <catena/ndarray/ndarray.h>
#include <catena/tests/support/ndarray_values.h>

namespace {

using nd::Array;
using test::check_values;
using test::message_of;

BOOST_AUTO_TEST_SUITE(memory_views)

BOOST_AUTO_TEST_CASE(pointers_of_arrays) {
  const Array a = test::range(12, nd::float32).reshape(3, 4);
  const auto version = a.version();
  const nd::MemoryPointer p = a.data();
  BOOST_TEST(a.version() > version);
  BOOST_TEST((p.device() == a.device()));
  BOOST_TEST((p.ptr() == reinterpret_cast<std::byte*>(a.data<float>())));
  const Array view = a(nd::Slice(1, 3), 2);  // begins at element 6
  BOOST_TEST((view.data().ptr() == p.ptr() + 24));
  BOOST_TEST(view.data().mem() == p.mem());
  nd::MemoryPointer alone;
  {
    const Array gone = test::range(3, nd::float32);
    alone = gone(nd::Slice(1, 3)).data();
  }
  float values[2];
  alone.copy_to_host(values, sizeof values);
  BOOST_TEST(values[0] == 1);
  BOOST_TEST(values[1] == 2);
}

// An array without elements owns no memory, so no device has it: its pointer is null, and no operation refuses it.
BOOST_AUTO_TEST_CASE(arrays_without_elements) {
  const Array none = nd::zeros({0, 3}), part = test::range(4)(nd::Slice(4, 4));
  BOOST_TEST(!none.data());
  BOOST_TEST(!part.data());
  BOOST_TEST((nd::cuda::get_device_from_array(none) == nd::cuda::DummyDevice));
  BOOST_TEST((none + part.reshape({0, 1})).size() == 0);
  if (!nd::is_available(nd::Device::Kind::cuda)) return;
  const Array here = nd::zeros({0, 3}).to_device(nd::cpu_device),
              there = nd::zeros({0, 3}).to_device({nd::Device::Kind::cuda, 0});
  BOOST_TEST((here + there).shape() == (nd::Shape{0, 3}));
}

BOOST_AUTO_TEST_CASE(arrays_over_memory) {
  const nd::MemoryPointer block = nd::alloc(64);
  const std::vector<float> values{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
  block.copy_from(values.data(), 64);
  const std::size_t used = nd::memory_pool().used_bytes();
  const Array a = nd::ndarray({2, 3}, nd::float32, block + 8);
  BOOST_TEST(nd::memory_pool().used_bytes() == used);
  BOOST_TEST(a.base().is_null());
  BOOST_TEST(a.owndata());
  check_values<float>(a, {2, 3, 4, 5, 6, 7});
  a(nd::ellipsis) += 100;
  check_values<float>(nd::ndarray({4}, nd::float32, block), {0, 1, 102, 103});
  const Array b = nd::ndarray({2, 3}, nd::float32, block + 32, nd::Order::F);
  BOOST_TEST(b.is_f_contiguous());
  check_values<float>(b, {8, 10, 12, 9, 11, 13});
  const Array every_other = nd::ndarray({3}, nd::float32, block + 60, nd::Strides{-8});
  check_values<float>(every_other, {15, 13, 11});
  BOOST_TEST(nd::ndarray({2, 2}).dtype() == nd::float64);
  BOOST_TEST(nd::ndarray(3, nd::int8, {}, nd::Order::F).shape() == nd::Shape{3});
  BOOST_TEST(nd::ndarray({}, nd::float32, block + 4).item<float>() == 1);
  BOOST_TEST(nd::ndarray({0, 4}, nd::float32, block).size() == 0);
  // A temporary is not written over: the memory is the program's.
  const Array sum = nd::ndarray({4}, nd::float32, block + 32) + 1;
  check_values<float>(nd::ndarray({4}, nd::float32, block + 32), {8, 9, 10, 11});
  Array kept;
  {
    const nd::MemoryPointer own = nd::alloc(8);
    kept = nd::ndarray({2}, nd::int32, own);
  }
  kept.fill(7);
  check_values<int>(kept, {7, 7});
}

BOOST_AUTO_TEST_CASE(what_cannot_lie_over_memory) {
  const nd::MemoryPointer block = nd::alloc(64);
  BOOST_TEST(message_of<nd::ValueError>([&] { nd::ndarray({17}, nd::float32, block); }) ==
             "ndarray: shape (17,) of float32 with strides (4,) leaves a block of 64 bytes at offset 0");
  BOOST_CHECK_THROW(nd::ndarray({2}, nd::float32, block, nd::Strides{-4}), nd::ValueError);
  BOOST_CHECK_THROW(nd::ndarray({2}, nd::float32, block, nd::Strides{4, 4}), nd::ValueError);
  BOOST_CHECK_THROW(nd::ndarray({-2}, nd::float32, block), nd::ValueError);
  BOOST_CHECK_THROW(nd::ndarray({-2}), nd::ValueError);
  BOOST_CHECK_THROW(nd::ndarray({2}, nd::float32, block + 1), nd::ValueError);
  BOOST_CHECK_THROW(nd::ndarray({2}, nd::float32, {}, nd::Strides{4}), nd::ValueError);
  // Every element is aligned, not only the first.
  BOOST_TEST(message_of<nd::ValueError>([&] { nd::ndarray({3}, nd::complex128, block, nd::Strides{8}); }) ==
             "ndarray: strides (8,) are no multiples of 16, the itemsize of complex128");
  BOOST_CHECK_THROW(nd::ndarray({3}, nd::float32, block, nd::Strides{6}), nd::ValueError);
  BOOST_CHECK_THROW(nd::ndarray({2, 3}, nd::int16, block, nd::Strides{7, 2}), nd::ValueError);
  BOOST_CHECK_THROW(nd::ndarray({3}, nd::float64, block + 32, nd::Strides{-4}), nd::ValueError);
  BOOST_TEST(nd::ndarray({1, 3}, nd::int16, block, nd::Strides{7, 4}).size() == 3);  // an axis that is not moved along
  BOOST_CHECK_THROW(nd::ndarray({2}, nd::float32, block, nd::Order::A), nd::TypeError);
}

BOOST_AUTO_TEST_CASE(shapes_in_place) {
  const Array a = test::range(12), same = a;
  a.set_shape({3, -1});
  BOOST_TEST(same.shape() == (nd::Shape{3, 4}));
  BOOST_TEST(a.strides() == (nd::Strides{16, 4}));
  BOOST_TEST(same(1, 2).item<double>() == 6);
  a.set_shape(12);
  BOOST_TEST(a.ndim() == 1);
  const Array columns = test::range(12).reshape(3, 4).transpose();
  columns.set_shape({4, 3, 1});
  BOOST_TEST(!columns.is_c_contiguous());
  BOOST_TEST(message_of<nd::AttributeError>([&] { columns.set_shape(12); }) ==
             "set_shape: an array of shape (4, 3, 1) and strides " + catena::concat(columns.strides()) +
                 " cannot be seen as (12,) without a copy; use reshape");
  BOOST_CHECK_THROW(columns.set_shape({5, 3}), nd::ValueError);
  BOOST_CHECK_THROW(columns.set_shape({-1, -1}), nd::ValueError);
  BOOST_TEST(columns.shape() == (nd::Shape{4, 3, 1}));
  const Array none = nd::zeros({0, 3});
  none.set_shape({3, 0, 2});
  BOOST_TEST(none.shape() == (nd::Shape{3, 0, 2}));
}

BOOST_AUTO_TEST_CASE(structs_for_kernels) {
  const Array a = test::range(6, nd::float32).reshape(2, 3).transpose();
  const nd::CArray<const float, 2> c = a.cstruct<const float, 2>();
  BOOST_TEST(c.data == a.data<const float>());
  BOOST_TEST(c.size == 6);
  BOOST_TEST(c.shape[0] == 3);
  BOOST_TEST(c.shape[1] == 2);
  BOOST_TEST(c.strides[0] == 4);
  BOOST_TEST(c.strides[1] == 12);
  const auto version = a.version();
  a.cstruct<const float, 2>();
  BOOST_TEST(a.version() == version);
  a.cstruct<float, 2>();
  BOOST_TEST(a.version() > version);
  BOOST_CHECK_THROW((a.cstruct<double, 2>()), nd::TypeError);
  BOOST_CHECK_THROW((a.cstruct<float, 1>()), nd::ValueError);
  BOOST_CHECK_THROW(nd::CIndexer<1>(a.shape()), nd::ValueError);
  BOOST_TEST((nd::zeros({}).cstruct<double, 0>().size == 1));
}

BOOST_AUTO_TEST_CASE(names_of_dtypes) {
  const auto check_names = [](nd::Dtype t, std::initializer_list<nd::Dtype> names) {
    for (const nd::Dtype name : names) BOOST_TEST((name == t), t);
  };
  check_names(nd::bool_, {nd::dtype_from_name("bool_")});
  check_names(nd::int8, {nd::byte, nd::dtype_from_name("byte")});
  check_names(nd::uint8, {nd::ubyte});
  check_names(nd::int16, {nd::short_});
  check_names(nd::uint16, {nd::ushort});
  check_names(nd::int32, {nd::intc});
  check_names(nd::uint32, {nd::uintc});
  check_names(nd::int64, {nd::int_, nd::longlong});
  check_names(nd::uint64, {nd::uint, nd::ulonglong});
  check_names(nd::float16, {nd::half});
  check_names(nd::float32, {nd::single});
  check_names(nd::float64, {nd::float_, nd::double_, nd::longfloat});
  check_names(nd::complex64, {nd::csingle});
  check_names(nd::complex128, {nd::cdouble, nd::cfloat, nd::complex_});
  BOOST_TEST(nd::zeros(2, nd::half).itemsize() == 2u);
  BOOST_TEST(nd::issubdtype(nd::half, nd::Kind::floating));
  BOOST_TEST(nd::issubdtype(nd::Kind::floating, nd::Kind::inexact));
  BOOST_TEST(nd::issubdtype(nd::intc, nd::Kind::signedinteger));
  BOOST_TEST(nd::issubdtype(nd::uintc, nd::Kind::unsignedinteger));
  BOOST_TEST(nd::issubdtype(nd::uintc, nd::Kind::integer));
  BOOST_TEST(nd::issubdtype(nd::byte, nd::Kind::number));
}

// Python's oct() and hex().
BOOST_AUTO_TEST_CASE(numbers_as_text) {
  BOOST_TEST(nd::oct(nd::array(15)) == "0o17");
  BOOST_TEST(nd::hex(nd::array({255})) == "0xff");
  BOOST_TEST(nd::hex(nd::array({{-26}}, nd::int8)) == "-0x1a");
  BOOST_TEST(nd::oct(nd::array(0)) == "0o0");
  BOOST_TEST(nd::hex(nd::array(true)) == "0x1");
  BOOST_TEST(nd::hex(nd::array({UINT64_MAX})) == "0xffffffffffffffff");
  BOOST_TEST(nd::oct(nd::array({INT64_MIN})) == "-0o1000000000000000000000");
  BOOST_CHECK_THROW(nd::oct(nd::array(1.0)), nd::TypeError);
  BOOST_CHECK_THROW(nd::hex(nd::array({1, 2})), nd::TypeError);
  BOOST_CHECK_THROW(nd::hex(nd::zeros(0, nd::int32)), nd::TypeError);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
