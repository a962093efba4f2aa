// Text of arrays, compared with what NumPy 1.24 prints for the same arrays (2.4 for the exponents of narrow floats).
#include <catena/ndarray/routines/print.h>

#include <complex>
#include <iomanip>
#include <limits>
#include <locale>
#include <sstream>

#include <catena/kernels/base/text.h>
#include <catena/ndarray/routines/manipulation.h>
#include <catena/ndarray/routines/math.h>
#include <catena/tests/support/ndarray_values.h>

namespace {

using nd::Array;
using test::message_of;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN(), kInf = std::numeric_limits<double>::infinity();

struct Expected {
  Array array;
  const char *str, *repr;
};
struct ExpectedWith {
  Array array;
  nd::PrintOptions options;
  const char *str, *repr;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(print)

BOOST_AUTO_TEST_CASE(as_numpy_prints) {
  // clang-format off
  const Expected cases[] = {
    {nd::arange(12).reshape(3, 4),
     R"([[ 0  1  2  3]
 [ 4  5  6  7]
 [ 8  9 10 11]])",
     R"(array([[ 0,  1,  2,  3],
       [ 4,  5,  6,  7],
       [ 8,  9, 10, 11]]))"},
    {nd::arange(24).reshape(2, 3, 4),
     R"([[[ 0  1  2  3]
  [ 4  5  6  7]
  [ 8  9 10 11]]

 [[12 13 14 15]
  [16 17 18 19]
  [20 21 22 23]]])",
     R"(array([[[ 0,  1,  2,  3],
        [ 4,  5,  6,  7],
        [ 8,  9, 10, 11]],

       [[12, 13, 14, 15],
        [16, 17, 18, 19],
        [20, 21, 22, 23]]]))"},
    {nd::arange(30),
     R"([ 0  1  2  3  4  5  6  7  8  9 10 11 12 13 14 15 16 17 18 19 20 21 22 23
 24 25 26 27 28 29])",
     R"(array([ 0,  1,  2,  3,  4,  5,  6,  7,  8,  9, 10, 11, 12, 13, 14, 15, 16,
       17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29]))"},
    {nd::arange(-50, 50, 7),
     R"([-50 -43 -36 -29 -22 -15  -8  -1   6  13  20  27  34  41  48])",
     R"(array([-50, -43, -36, -29, -22, -15,  -8,  -1,   6,  13,  20,  27,  34,
        41,  48]))"},
    {nd::arange(2000),
     R"([   0    1    2 ... 1997 1998 1999])",
     R"(array([   0,    1,    2, ..., 1997, 1998, 1999]))"},
    {nd::arange(10000).reshape(100, 100),
     R"([[   0    1    2 ...   97   98   99]
 [ 100  101  102 ...  197  198  199]
 [ 200  201  202 ...  297  298  299]
 ...
 [9700 9701 9702 ... 9797 9798 9799]
 [9800 9801 9802 ... 9897 9898 9899]
 [9900 9901 9902 ... 9997 9998 9999]])",
     R"(array([[   0,    1,    2, ...,   97,   98,   99],
       [ 100,  101,  102, ...,  197,  198,  199],
       [ 200,  201,  202, ...,  297,  298,  299],
       ...,
       [9700, 9701, 9702, ..., 9797, 9798, 9799],
       [9800, 9801, 9802, ..., 9897, 9898, 9899],
       [9900, 9901, 9902, ..., 9997, 9998, 9999]]))"},
    {nd::arange(6000).reshape(3, 20, 100),
     R"([[[   0    1    2 ...   97   98   99]
  [ 100  101  102 ...  197  198  199]
  [ 200  201  202 ...  297  298  299]
  ...
  [1700 1701 1702 ... 1797 1798 1799]
  [1800 1801 1802 ... 1897 1898 1899]
  [1900 1901 1902 ... 1997 1998 1999]]

 [[2000 2001 2002 ... 2097 2098 2099]
  [2100 2101 2102 ... 2197 2198 2199]
  [2200 2201 2202 ... 2297 2298 2299]
  ...
  [3700 3701 3702 ... 3797 3798 3799]
  [3800 3801 3802 ... 3897 3898 3899]
  [3900 3901 3902 ... 3997 3998 3999]]

 [[4000 4001 4002 ... 4097 4098 4099]
  [4100 4101 4102 ... 4197 4198 4199]
  [4200 4201 4202 ... 4297 4298 4299]
  ...
  [5700 5701 5702 ... 5797 5798 5799]
  [5800 5801 5802 ... 5897 5898 5899]
  [5900 5901 5902 ... 5997 5998 5999]]])",
     R"(array([[[   0,    1,    2, ...,   97,   98,   99],
        [ 100,  101,  102, ...,  197,  198,  199],
        [ 200,  201,  202, ...,  297,  298,  299],
        ...,
        [1700, 1701, 1702, ..., 1797, 1798, 1799],
        [1800, 1801, 1802, ..., 1897, 1898, 1899],
        [1900, 1901, 1902, ..., 1997, 1998, 1999]],

       [[2000, 2001, 2002, ..., 2097, 2098, 2099],
        [2100, 2101, 2102, ..., 2197, 2198, 2199],
        [2200, 2201, 2202, ..., 2297, 2298, 2299],
        ...,
        [3700, 3701, 3702, ..., 3797, 3798, 3799],
        [3800, 3801, 3802, ..., 3897, 3898, 3899],
        [3900, 3901, 3902, ..., 3997, 3998, 3999]],

       [[4000, 4001, 4002, ..., 4097, 4098, 4099],
        [4100, 4101, 4102, ..., 4197, 4198, 4199],
        [4200, 4201, 4202, ..., 4297, 4298, 4299],
        ...,
        [5700, 5701, 5702, ..., 5797, 5798, 5799],
        [5800, 5801, 5802, ..., 5897, 5898, 5899],
        [5900, 5901, 5902, ..., 5997, 5998, 5999]]]))"},
    {nd::arange(1500).reshape(1500, 1),
     R"([[   0]
 [   1]
 [   2]
 ...
 [1497]
 [1498]
 [1499]])",
     R"(array([[   0],
       [   1],
       [   2],
       ...,
       [1497],
       [1498],
       [1499]]))"},
    {nd::arange(5, {.dtype = nd::int8}),
     R"([0 1 2 3 4])",
     R"(array([0, 1, 2, 3, 4], dtype=int8))"},
    {nd::arange(5, {.dtype = nd::uint64}),
     R"([0 1 2 3 4])",
     R"(array([0, 1, 2, 3, 4], dtype=uint64))"},
    {nd::array({true, false, true}),
     R"([ True False  True])",
     R"(array([ True, False,  True]))"},
    {nd::ones({2, 2}, nd::bool_),
     R"([[ True  True]
 [ True  True]])",
     R"(array([[ True,  True],
       [ True,  True]]))"},
    {nd::array(true),
     R"(True)",
     R"(array(True))"},
    {nd::array(-7),
     R"(-7)",
     R"(array(-7))"},
    {nd::zeros(3),
     R"([0. 0. 0.])",
     R"(array([0., 0., 0.]))"},
    {nd::array({1.0, 2.5, -3.25}),
     R"([ 1.    2.5  -3.25])",
     R"(array([ 1.  ,  2.5 , -3.25]))"},
    {nd::array({0.0, -0.0}),
     R"([ 0. -0.])",
     R"(array([ 0., -0.]))"},
    {nd::linspace(0, 1, 7),
     R"([0.         0.16666667 0.33333333 0.5        0.66666667 0.83333333
 1.        ])",
     R"(array([0.        , 0.16666667, 0.33333333, 0.5       , 0.66666667,
       0.83333333, 1.        ]))"},
    {nd::array({1e-5, 1.0}),
     R"([1.e-05 1.e+00])",
     R"(array([1.e-05, 1.e+00]))"},
    {nd::array({1e8, 1.0}),
     R"([1.e+08 1.e+00])",
     R"(array([1.e+08, 1.e+00]))"},
    {nd::array({12345678.5, 1e5}),
     R"([12345678.5   100000. ])",
     R"(array([12345678.5,   100000. ]))"},
    {nd::array({1e-300, 1e300, -1.5e10}),
     R"([ 1.0e-300  1.0e+300 -1.5e+010])",
     R"(array([ 1.0e-300,  1.0e+300, -1.5e+010]))"},
    {nd::array({5e-324, 1.7976931348623157e308}),
     R"([4.94065646e-324 1.79769313e+308])",
     R"(array([4.94065646e-324, 1.79769313e+308]))"},
    {nd::array({1.0, kNaN, kInf, -kInf}),
     R"([  1.  nan  inf -inf])",
     R"(array([  1.,  nan,  inf, -inf]))"},
    {nd::array({kNaN, kInf}),
     R"([nan inf])",
     R"(array([nan, inf]))"},
    {nd::array({kNaN, -kInf, 1e10}),
     R"([   nan   -inf 1.e+10])",
     R"(array([   nan,   -inf, 1.e+10]))"},
    {nd::array({{1.0, kNaN}, {123.456, -0.001}}),
     R"([[ 1.00000e+00          nan]
 [ 1.23456e+02 -1.00000e-03]])",
     R"(array([[ 1.00000e+00,          nan],
       [ 1.23456e+02, -1.00000e-03]]))"},
    {nd::array({0.1, 0.2, 0.30000000000000004}),
     R"([0.1 0.2 0.3])",
     R"(array([0.1, 0.2, 0.3]))"},
    {nd::array({1.0 / 3, 2.0 / 3}),
     R"([0.33333333 0.66666667])",
     R"(array([0.33333333, 0.66666667]))"},
    {nd::array({9.999999999, 1.0}),
     R"([10.  1.])",
     R"(array([10.,  1.]))"},
    {nd::array({1000.0, 1.0}),
     R"([1000.    1.])",
     R"(array([1000.,    1.]))"},
    {nd::array({1001.0, 1.0}),
     R"([1.001e+03 1.000e+00])",
     R"(array([1.001e+03, 1.000e+00]))"},
    {nd::array({0.0001, 0.05}),
     R"([0.0001 0.05  ])",
     R"(array([0.0001, 0.05  ]))"},
    {nd::array({0.00009999, 0.05}),
     R"([9.999e-05 5.000e-02])",
     R"(array([9.999e-05, 5.000e-02]))"},
    {nd::array({0.1f, 1.0f / 3}),
     R"([0.1        0.33333334])",
     R"(array([0.1       , 0.33333334], dtype=float32))"},
    {nd::array({1e-5f, 123456.789f}),
     R"([9.9999997e-06 1.2345679e+05])",
     R"(array([9.9999997e-06, 1.2345679e+05], dtype=float32))"},
    {nd::array({16777217.0f, 99999992.0f}),
     R"([1.6777216e+07 9.9999992e+07])",
     R"(array([1.6777216e+07, 9.9999992e+07], dtype=float32))"},
    {nd::array({65504.0, 0.1, -3.7}, {.dtype = nd::float16}),
     R"([ 6.55e+04  1.00e-01 -3.70e+00])",
     R"(array([ 6.55e+04,  1.00e-01, -3.70e+00], dtype=float16))"},
    {nd::array({1e-7, 6.1e-5, 0.33333}, {.dtype = nd::float16}),
     R"([1.192e-07 6.098e-05 3.333e-01])",
     R"(array([1.192e-07, 6.098e-05, 3.333e-01], dtype=float16))"},
    {nd::array({0.1, 100.0}, {.dtype = nd::float16}),
     R"([  0.1 100. ])",
     R"(array([  0.1, 100. ], dtype=float16))"},
    {nd::array(1.0 / 3),
     R"(0.3333333333333333)",
     R"(array(0.33333333))"},
    {nd::array(1e16),
     R"(1e+16)",
     R"(array(1.e+16))"},
    {nd::array(123456789012345680.0),
     R"(1.2345678901234568e+17)",
     R"(array(1.23456789e+17))"},
    {nd::array(0.0001),
     R"(0.0001)",
     R"(array(0.0001))"},
    {nd::array(1e-5),
     R"(1e-05)",
     R"(array(1.e-05))"},
    {nd::array(-0.0),
     R"(-0.0)",
     R"(array(-0.))"},
    {nd::array(kNaN),
     R"(nan)",
     R"(array(nan))"},
    {nd::array(-kInf),
     R"(-inf)",
     R"(array(-inf))"},
    {nd::array(0.1f),
     R"(0.1)",
     R"(array(0.1, dtype=float32))"},
    {nd::array(123456789.0f),
     R"(1.2345679e+08)",
     R"(array(1.2345679e+08, dtype=float32))"},
    {nd::array(65504.0, {.dtype = nd::float16}),
     R"(6.55e+04)",
     R"(array(6.55e+04, dtype=float16))"},
    {nd::zeros(0),
     R"([])",
     R"(array([], dtype=float64))"},
    {nd::zeros({0, 3}),
     R"([])",
     R"(array([], shape=(0, 3), dtype=float64))"},
    {nd::zeros({2, 0, 3}, nd::int32),
     R"([])",
     R"(array([], shape=(2, 0, 3), dtype=int32))"},
    {nd::zeros(0, nd::float32),
     R"([])",
     R"(array([], dtype=float32))"},
    {nd::linspace(-1000, 1000, 2001),
     R"([-1000.  -999.  -998. ...   998.   999.  1000.])",
     R"(array([-1000.,  -999.,  -998., ...,   998.,   999.,  1000.]))"},
    {nd::linspace(0, 1, 20, {.dtype = nd::float32}),
     R"([0.         0.05263158 0.10526316 0.15789473 0.21052632 0.2631579
 0.31578946 0.36842105 0.42105263 0.47368422 0.5263158  0.57894737
 0.6315789  0.68421054 0.7368421  0.7894737  0.84210527 0.8947368
 0.94736844 1.        ])",
     R"(array([0.        , 0.05263158, 0.10526316, 0.15789473, 0.21052632,
       0.2631579 , 0.31578946, 0.36842105, 0.42105263, 0.47368422,
       0.5263158 , 0.57894737, 0.6315789 , 0.68421054, 0.7368421 ,
       0.7894737 , 0.84210527, 0.8947368 , 0.94736844, 1.        ],
      dtype=float32))"},
    {nd::eye(3),
     R"([[1. 0. 0.]
 [0. 1. 0.]
 [0. 0. 1.]])",
     R"(array([[1., 0., 0.],
       [0., 1., 0.],
       [0., 0., 1.]]))"},
    {nd::arange(25).reshape(1, 1, 5, 5),
     R"([[[[ 0  1  2  3  4]
   [ 5  6  7  8  9]
   [10 11 12 13 14]
   [15 16 17 18 19]
   [20 21 22 23 24]]]])",
     R"(array([[[[ 0,  1,  2,  3,  4],
         [ 5,  6,  7,  8,  9],
         [10, 11, 12, 13, 14],
         [15, 16, 17, 18, 19],
         [20, 21, 22, 23, 24]]]]))"},
    {nd::arange(17, {.dtype = nd::int16}).reshape(1, 17) * 1000,
     R"([[    0  1000  2000  3000  4000  5000  6000  7000  8000  9000 10000 11000
  12000 13000 14000 15000 16000]])",
     R"(array([[    0,  1000,  2000,  3000,  4000,  5000,  6000,  7000,  8000,
         9000, 10000, 11000, 12000, 13000, 14000, 15000, 16000]],
      dtype=int16))"},
    {nd::arange(14, {.dtype = nd::int32}),
     R"([ 0  1  2  3  4  5  6  7  8  9 10 11 12 13])",
     R"(array([ 0,  1,  2,  3,  4,  5,  6,  7,  8,  9, 10, 11, 12, 13],
      dtype=int32))"},
    {nd::arange(21, {.dtype = nd::int32}),
     R"([ 0  1  2  3  4  5  6  7  8  9 10 11 12 13 14 15 16 17 18 19 20])",
     R"(array([ 0,  1,  2,  3,  4,  5,  6,  7,  8,  9, 10, 11, 12, 13, 14, 15, 16,
       17, 18, 19, 20], dtype=int32))"},
    {nd::arange(22, {.dtype = nd::float32}),
     R"([ 0.  1.  2.  3.  4.  5.  6.  7.  8.  9. 10. 11. 12. 13. 14. 15. 16. 17.
 18. 19. 20. 21.])",
     R"(array([ 0.,  1.,  2.,  3.,  4.,  5.,  6.,  7.,  8.,  9., 10., 11., 12.,
       13., 14., 15., 16., 17., 18., 19., 20., 21.], dtype=float32))"},
    {nd::full({2, 3}, -1.5e-7),
     R"([[-1.5e-07 -1.5e-07 -1.5e-07]
 [-1.5e-07 -1.5e-07 -1.5e-07]])",
     R"(array([[-1.5e-07, -1.5e-07, -1.5e-07],
       [-1.5e-07, -1.5e-07, -1.5e-07]]))"},
    {nd::array({88963.74404508252, 2.1242026e-06, 1.4853114}),
     R"([8.8963744e+04 2.1242026e-06 1.4853114e+00])",
     R"(array([8.8963744e+04, 2.1242026e-06, 1.4853114e+00]))"},
    {nd::array({0.015625, 1.0}, {.dtype = nd::float16}),
     R"([0.01563 1.     ])",
     R"(array([0.01563, 1.     ], dtype=float16))"},
    {nd::array({{1e100, 2.0}, {3.0, kNaN}}),
     R"([[1.e+100 2.e+000]
 [3.e+000     nan]])",
     R"(array([[1.e+100, 2.e+000],
       [3.e+000,     nan]]))"},
  };
  // clang-format on
  std::mt19937 random(1);
  for (const Expected& c : cases) {
    BOOST_TEST(nd::array_str(c.array) == c.str);
    BOOST_TEST(nd::array_repr(c.array) == c.repr);
    BOOST_TEST(nd::array_repr(test::scattered(c.array, random)) == c.repr);
  }
}

BOOST_AUTO_TEST_CASE(options) {
  // clang-format off
  const ExpectedWith cases[] = {
    {nd::linspace(0, 1, 5) / 3,
     {.precision = 3},
     R"([0.    0.083 0.167 0.25  0.333])",
     R"(array([0.   , 0.083, 0.167, 0.25 , 0.333]))"},
    {nd::linspace(0, 1, 4),
     {.precision = 17},
     R"([0.                 0.3333333333333333 0.6666666666666666
 1.                ])",
     R"(array([0.                , 0.3333333333333333, 0.6666666666666666,
       1.                ]))"},
    {nd::linspace(0, 1, 4),
     {.precision = 0},
     R"([0. 0. 1. 1.])",
     R"(array([0., 0., 1., 1.]))"},
    {nd::array({1e-10, 1.0}),
     {.suppress_small = true},
     R"([0. 1.])",
     R"(array([0., 1.]))"},
    {nd::array({-1e-10, 12345.678}),
     {.precision = 2, .suppress_small = true},
     R"([   -0.   12345.68])",
     R"(array([   -0.  , 12345.68]))"},
    {nd::arange(30),
     {.linewidth = 40},
     R"([ 0  1  2  3  4  5  6  7  8  9 10 11 12
 13 14 15 16 17 18 19 20 21 22 23 24 25
 26 27 28 29])",
     R"(array([ 0,  1,  2,  3,  4,  5,  6,  7,
        8,  9, 10, 11, 12, 13, 14, 15,
       16, 17, 18, 19, 20, 21, 22, 23,
       24, 25, 26, 27, 28, 29]))"},
    {nd::arange(10).reshape(2, 5),
     {.threshold = 5, .edgeitems = 1},
     R"([[0 ... 4]
 [5 ... 9]])",
     R"(array([[0, ..., 4],
       [5, ..., 9]]))"},
    {nd::arange(60).reshape(3, 4, 5),
     {.threshold = 10, .edgeitems = 1},
     R"([[[ 0 ...  4]
  ...
  [15 ... 19]]

 ...

 [[40 ... 44]
  ...
  [55 ... 59]]])",
     R"(array([[[ 0, ...,  4],
        ...,
        [15, ..., 19]],

       ...,

       [[40, ..., 44],
        ...,
        [55, ..., 59]]]))"},
    {nd::arange(5) * 1000000,
     {.linewidth = 4},
     R"([      0
 1000000
 2000000
 3000000
 4000000])",
     R"(array([      0,
       1000000,
       2000000,
       3000000,
       4000000]))"},
    {nd::array({1e10, 1.5}, {.dtype = nd::float32}),
     {.precision = 2},
     R"([1.0e+10 1.5e+00])",
     R"(array([1.0e+10, 1.5e+00], dtype=float32))"},
  };
  // clang-format on
  for (const ExpectedWith& c : cases) {
    BOOST_TEST(nd::to_string(c.array, c.options) == c.str);
    BOOST_TEST(nd::array_repr(c.array, c.options) == c.repr);
  }
  BOOST_TEST(message_of<nd::ValueError>([] { nd::array_str(nd::zeros(1), {.precision = -1}); }) ==
             "array_str: precision -1, threshold 1000, edgeitems 3 and linewidth 75 cannot be negative");
}

// The exponents of large numbers depend on the dtype's precision, as of NumPy 2.4.
BOOST_AUTO_TEST_CASE(large_numbers_of_narrow_floats) {
  // clang-format off
  const Expected cases[] = {
    {nd::array({1000.0, 999.5, -65504.0}, {.dtype = nd::float16}),
     R"([ 1.000e+03  9.995e+02 -6.550e+04])",
     R"(array([ 1.000e+03,  9.995e+02, -6.550e+04], dtype=float16))"},
    {nd::array({999.5, 1.0}, {.dtype = nd::float16}),
     R"([999.5   1. ])",
     R"(array([999.5,   1. ], dtype=float16))"},
    {nd::array({2048.0, std::numeric_limits<double>::infinity(), 1.0}, {.dtype = nd::float16}),
     R"([2.048e+03       inf 1.000e+00])",
     R"(array([2.048e+03,       inf, 1.000e+00], dtype=float16))"},
    {nd::array({1e6f, 1.0f}),
     R"([1.e+06 1.e+00])",
     R"(array([1.e+06, 1.e+00], dtype=float32))"},
    {nd::array({999999.0f, 1000.0f}),
     R"([999999.   1000.])",
     R"(array([999999.,   1000.], dtype=float32))"},
    {nd::array(1000.0, {.dtype = nd::float16}),
     R"(1e+03)",
     R"(array(1.e+03, dtype=float16))"},
    {nd::array(999.5, {.dtype = nd::float16}),
     R"(999.5)",
     R"(array(999.5, dtype=float16))"},
    {nd::array(2048.0, {.dtype = nd::float16}),
     R"(2.048e+03)",
     R"(array(2.048e+03, dtype=float16))"},
    {nd::array(1e6f),
     R"(1e+06)",
     R"(array(1.e+06, dtype=float32))"},
    {nd::array(999999.94f),
     R"(999999.94)",
     R"(array(999999.94, dtype=float32))"},
    {nd::array(12345.678f),
     R"(12345.678)",
     R"(array(12345.678, dtype=float32))"},
    {nd::array(16777216.0f),
     R"(1.6777216e+07)",
     R"(array(1.6777216e+07, dtype=float32))"},
    {nd::array(-3.4e38f),
     R"(-3.4e+38)",
     R"(array(-3.4e+38, dtype=float32))"},
  };
  // clang-format on
  for (const Expected& c : cases) {
    BOOST_TEST(nd::array_str(c.array) == c.str);
    BOOST_TEST(nd::array_repr(c.array) == c.repr);
  }
  BOOST_TEST(nd::array_str(nd::arange(0, 40000, 10).astype(nd::float16)) ==
             "[0.000e+00 1.000e+01 2.000e+01 ... 3.997e+04 3.997e+04 4.000e+04]");
  BOOST_TEST(nd::array_str(nd::full({2000}, 65504.0, {.dtype = nd::float16})) ==
             "[6.55e+04 6.55e+04 6.55e+04 ... 6.55e+04 6.55e+04 6.55e+04]");
  BOOST_TEST(nd::array_str(nd::arange(2000, {.dtype = nd::float32}) * 600) ==
             "[0.0000e+00 6.0000e+02 1.2000e+03 ... 1.1982e+06 1.1988e+06 1.1994e+06]");
}

// The precision of a stream is that of the array's numbers; 6 is what a new stream has.
BOOST_AUTO_TEST_CASE(precision_of_streams) {
  const auto text = [](const Array& a, int precision) {
    std::ostringstream out;
    out << std::setprecision(precision) << a;
    return out.str();
  };
  const Array x = nd::linspace(0, 1, 4) * 10, wide = nd::array({{1e-5, 123.456}});
  BOOST_TEST(text(x, 0) == "[ 0.  3.  7. 10.]");
  BOOST_TEST(text(x, 2) == "[ 0.    3.33  6.67 10.  ]");
  BOOST_TEST(text(x, 3) == "[ 0.     3.333  6.667 10.   ]");
  BOOST_TEST(text(x, 6) == nd::array_str(x));
  BOOST_TEST(text(x, 12) == "[ 0.              3.333333333333  6.666666666667 10.            ]");
  BOOST_TEST(text(wide, 2) == "[[1.00e-05 1.23e+02]]");
  BOOST_TEST(text(wide, 12) == "[[1.00000e-05 1.23456e+02]]");
  BOOST_TEST(text(nd::array({std::complex<double>(1, 2.55555)}), 2) == "[1.+2.56j]");
  // Single numbers.
  BOOST_TEST(text(nd::array(2.0 / 3), 3) == "0.667");
  BOOST_TEST(text(nd::array(-1234.5678), 2) == "-1234.57");
  BOOST_TEST(text(nd::array(2.0), 3) == "2.0");
  BOOST_TEST(text(nd::array(1.23456e-7), 2) == "1.23e-07");
  BOOST_TEST(text(nd::array(123456789.0f), 1) == "1.2e+08");
  BOOST_TEST(text(nd::array(7), 1) == "7");
  BOOST_TEST(text(nd::array(2.0 / 3), 6) == "0.6666666666666666");
  std::ostringstream out;
  out.imbue(std::locale::classic());  // for the number of the test
  out << std::setprecision(2) << x << ' ' << 3.14159;
  BOOST_TEST(out.str() == "[ 0.    3.33  6.67 10.  ] 3.1");
}

BOOST_AUTO_TEST_CASE(bfloat16) {
  const Array a = nd::array({1.0, 0.1, -3.140625}, {.dtype = nd::bfloat16});
  BOOST_TEST(nd::array_repr(a) == "array([ 1.  ,  0.1 , -3.14], dtype=bfloat16)");
  BOOST_TEST(nd::to_string(a(1)) == "0.1");
}

BOOST_AUTO_TEST_CASE(streams_and_other_types) {
  std::ostringstream out;
  out << nd::arange(3) << ' ' << Array();
  BOOST_TEST(out.str() == "[0 1 2] null");
  BOOST_TEST(nd::to_string(nd::Shape{2, 3}) == "(2, 3)");
  BOOST_TEST(nd::to_string(nd::cpu_device) == "cpu:0");
}

// Every finite float16 alone is its shortest decimal: reading the text gives the value back, and one digit less would
// not.
BOOST_AUTO_TEST_CASE(float16_texts_identify_their_values) {
  for (int bits = 0; bits < 0x7c00; ++bits) {
    const Array a = nd::array({std::int16_t(bits)})(0).view(nd::float16);
    const double value = a.item<double>();
    const std::string text = nd::to_string(a);
    if (double(nd::float16_t(static_cast<float>(catena::parse_real(text).value()))) != value)
      BOOST_ERROR(text << " is not float16 " << bits);
  }
}

BOOST_AUTO_TEST_SUITE_END()
