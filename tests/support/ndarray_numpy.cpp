#include <catena/tests/support/ndarray_numpy.h>

#include <cmath>
#include <complex>
#include <limits>
#include <stdexcept>

namespace test {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN(), kInf = std::numeric_limits<double>::infinity();

}  // namespace

NumpyScene::NumpyScene()
    : a((nd::arange(12.).reshape(3, 4) + 1) / 2),
      b(nd::array({{2., -1., 0.5, 3.}, {-2.5, 4., 1., 0.25}, {1.5, -0.75, 6., 2.}})),
      v(nd::array({3., 1., 2., 5., 4., 0.5})),
      w(nd::array({1., 2., 0.5, 4., 1.5, 3.})),
      i(nd::array({2, 0, 1})),
      n(nd::array({3, 1, 2, 1, 0, 3})),
      m(a > 2),
      p(v > 2),
      d(nd::array({{3, 1, 2, 0}, {7, 2, 2, 5}, {1, 6, 4, 3}})),
      q(nd::arange(24.).reshape(2, 3, 4)),
      t(q.transpose(2, 0, 1)(nd::Slice({}, {}, -1), nd::Slice(), nd::Slice({}, {}, 2))),
      s(nd::array({{4., 1., 0.5}, {1., 3., 0.25}, {0.5, 0.25, 2.}})),
      f(nd::array({{1, 2}, {3, 4}}, nd::float32)),
      h(nd::array({1., kNan, 3., kInf})),
      g(nd::array({{1., kNan, 3.}, {kNan, kNan, kNan}, {2., 5., -kInf}})),
      z(v(nd::Slice(0, 4)) + std::complex<double>(0, 1) * w(nd::Slice(0, 4))),
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
