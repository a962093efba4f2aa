#include <catena/tests/support/ndarray_numpy.h>

#include <complex>
#include <stdexcept>

namespace test {

NumpyScene::NumpyScene()
    : d(nd::array({{3, 1, 2, 0}, {7, 2, 2, 5}, {1, 6, 4, 3}})),
      t(q.transpose(2, 0, 1)(nd::Slice({}, {}, -1), nd::Slice(), nd::Slice({}, {}, 2))),
      g(nd::array({{1., nd::nan, 3.}, {nd::nan, nd::nan, nd::nan}, {2., 5., -nd::inf}})),
      e(nd::zeros(0)),
      e3(nd::zeros({0, 3})),
      one(nd::array({2.5})),
      zero(nd::array(2.5)) {
  for (const nd::Dtype dtype : {nd::bool_, nd::int8, nd::uint8, nd::int16, nd::uint16, nd::int32, nd::uint32, nd::int64,
                                nd::uint64, nd::float16, nd::float32, nd::float64})
    reals.push_back(d.astype(dtype));
  for (const nd::Dtype dtype : {nd::float16, nd::float32, nd::float64}) floats.push_back((d / 4).astype(dtype));
  const nd::Array reversed = d(nd::Slice({}, {}, -1));
  for (const nd::Dtype dtype : {nd::complex64, nd::complex128})
    complexes.push_back((d - std::complex<double>(0, 2) * reversed).astype(dtype));
}

void check_numpy(const char* file, int line, const char* theirs, const std::string& value,
                 const std::string& expected) {
  BOOST_TEST_CONTEXT(file << ":" << line << ": " << theirs) {
    try {
      compare(expected, value);
      BOOST_TEST(true);
    } catch (const std::runtime_error& error) {
      BOOST_ERROR(error.what());
    }
  }
}

}  // namespace test
