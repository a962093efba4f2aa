// The CUDA array interface: descriptions of arrays and arrays over described memory.
#include <boost/test/unit_test.hpp>

#include <vector>

#include <catena/ndarray/ndarray.h>
#include <catena/ndarray/routines/foreign.h>
#include <catena/tests/support/message_of.h>

namespace {

using nd::Array;
using test::message_of;

BOOST_AUTO_TEST_SUITE(cuda_array_interface)

BOOST_AUTO_TEST_CASE(memory_of_the_host) {
  const nd::DeviceScope scope(nd::cpu_device);
  BOOST_TEST(message_of<nd::TypeError>([] { nd::cuda_array_interface(nd::zeros({2})); }) ==
             "cuda_array_interface: the array is on cpu:0; write a.to_device(...) for an array on CUDA");
  float memory[2] = {};
  const std::string text =
      message_of<nd::TypeError>([&] { nd::from_cuda_array_interface({.shape = 2, .typestr = "<f4", .data = memory}); });
  BOOST_TEST(text.find(" is not memory of CUDA; write nd::wrap(...) for memory of the host") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(there_and_back) {
  if (nd::current_device().kind != nd::Device::Kind::cuda) return;
  const std::pair<nd::Dtype, const char*> types[] = {
      {nd::bool_, "|b1"},   {nd::int8, "|i1"},    {nd::uint8, "|u1"},     {nd::int16, "<i2"},      {nd::uint16, "<u2"},
      {nd::int32, "<i4"},   {nd::uint32, "<u4"},  {nd::int64, "<i8"},     {nd::uint64, "<u8"},     {nd::float16, "<f2"},
      {nd::float32, "<f4"}, {nd::float64, "<f8"}, {nd::complex64, "<c8"}, {nd::complex128, "<c16"}};
  for (const auto& [dtype, typestr] : types) {
    const Array a = nd::arange(6).astype(dtype).reshape(2, 3);
    for (const Array& v : {a, a.T(), a(1, nd::Slice(nd::None, nd::None, -1))}) {
      const nd::CudaArrayInterface d = nd::cuda_array_interface(v);
      BOOST_TEST(d.typestr == typestr);
      BOOST_TEST((d.shape == v.shape() && d.data == v.data().ptr() && d.version == 3 && !d.read_only));
      BOOST_TEST(d.strides.has_value() == !v.is_c_contiguous());
      BOOST_TEST(d.stream.value() == 1u);
      int deleted = 0;
      {
        const Array b = nd::from_cuda_array_interface(d, [&] { ++deleted; });
        BOOST_TEST((b.dtype() == dtype && b.device() == v.device() && b.strides() == v.strides()));
        BOOST_TEST((b == v).all().item<bool>());
        BOOST_TEST(b.data().ptr() == v.data().ptr());
        BOOST_TEST(deleted == 0);
      }
      BOOST_TEST(deleted == 1);
    }
  }
  const nd::Stream stream;
  const nd::StreamScope scope(stream);
  BOOST_TEST(nd::cuda_array_interface(nd::zeros({2})).stream.value() == reinterpret_cast<std::uintptr_t>(stream.ptr()));
}

BOOST_AUTO_TEST_CASE(what_is_refused_or_copied) {
  if (nd::current_device().kind != nd::Device::Kind::cuda) return;
  BOOST_TEST(message_of<nd::TypeError>([] { nd::cuda_array_interface(nd::zeros({2}, nd::bfloat16)); }) ==
             "cuda_array_interface: bfloat16 has no typestr; write a.view(nd::uint16)");
  const Array a = nd::arange(4, nd::float32);
  nd::CudaArrayInterface d = nd::cuda_array_interface(a);
  int deleted = 0;
  const auto from = [&] { return nd::from_cuda_array_interface(d, [&] { ++deleted; }); };
  d.typestr = ">f4";
  BOOST_TEST(message_of<nd::TypeError>(from) ==
             "from_cuda_array_interface: no dtype has the typestr '>f4'; convert the elements to numbers of the "
             "machine's byte order before");
  d.typestr = "";
  BOOST_CHECK_THROW(from(), nd::TypeError);
  d.typestr = "<f4";
  d.version = 0;
  BOOST_CHECK_THROW(from(), nd::ValueError);
  d.version = 2;
  d.strides = nd::Strides{6};
  BOOST_TEST(message_of<nd::ValueError>(from) ==
             "from_cuda_array_interface: wrap: strides (6,) are no multiples of 4, the itemsize of float32");
  BOOST_TEST(deleted == 0);
  d.strides = {};
  d.read_only = true;
  const Array copy = from();
  BOOST_TEST(deleted == 1);
  copy.fill(7);
  BOOST_TEST(a.to_vector<int>() == (std::vector<int>{0, 1, 2, 3}));
  BOOST_TEST(nd::from_cuda_array_interface({.shape = {0, 2}, .typestr = "|b1"}).shape() == (nd::Shape{0, 2}));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
