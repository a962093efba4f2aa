// Functions of complex numbers, their order, and angles, against NumPy. Near cancellation, overflow and underflow, the
// oracle is the C library's long double.
#include <complex>
#include <random>

#include <catena/tests/support/ndarray_numpy.h>
#include <catena/tests/support/ndarray_values.h>

namespace {

using namespace std::complex_literals;
using nd::Array;
using test::each;
using test::NumpyScene;
using Z = std::complex<double>;
using Wide = std::complex<long double>;

// Every pair of zeros, ones, infinities and NaN as parts.
Array special() {
  std::vector<Z> v;
  constexpr double part[] = {0.0, -0.0, 1.0, -2.5, nd::inf, -nd::inf, nd::nan};
  for (const double x : part)
    for (const double y : part) v.push_back({x, y});
  return nd::array(v);
}
// NumPy's texts have one NaN, and no sign of 0 beside it: parts are compared one by one.
nd::Array parts(const Array& z) { return nd::stack({z.real(), z.imag()}); }

struct Function {
  const char* name;
  std::function<Array(const Array&)> ours;
  std::function<Wide(Wide)> theirs;
  bool in_single_precision = false;  // where the others compute complex64 in float64
};
const std::vector<Function>& functions() {
  static const std::vector<Function> all = {
      {"log", [](const Array& z) { return nd::log(z); }, [](Wide z) { return std::log(z); }},
      {"log10", [](const Array& z) { return nd::log10(z); }, [](Wide z) { return std::log10(z); }},
      {"sin", [](const Array& z) { return nd::sin(z); }, [](Wide z) { return std::sin(z); }},
      {"cos", [](const Array& z) { return nd::cos(z); }, [](Wide z) { return std::cos(z); }},
      {"tan", [](const Array& z) { return nd::tan(z); }, [](Wide z) { return std::tan(z); }},
      {"arcsin", [](const Array& z) { return nd::arcsin(z); }, [](Wide z) { return std::asin(z); }},
      {"arccos", [](const Array& z) { return nd::arccos(z); }, [](Wide z) { return std::acos(z); }},
      {"arctan", [](const Array& z) { return nd::arctan(z); }, [](Wide z) { return std::atan(z); }},
      {"sinh", [](const Array& z) { return nd::sinh(z); }, [](Wide z) { return std::sinh(z); }},
      {"cosh", [](const Array& z) { return nd::cosh(z); }, [](Wide z) { return std::cosh(z); }},
      {"tanh", [](const Array& z) { return nd::tanh(z); }, [](Wide z) { return std::tanh(z); }},
      {"arcsinh", [](const Array& z) { return nd::arcsinh(z); }, [](Wide z) { return std::asinh(z); }},
      {"arccosh", [](const Array& z) { return nd::arccosh(z); }, [](Wide z) { return std::acosh(z); }},
      {"arctanh", [](const Array& z) { return nd::arctanh(z); }, [](Wide z) { return std::atanh(z); }},
      {"exp", [](const Array& z) { return nd::exp(z); }, [](Wide z) { return std::exp(z); }, true},
      {"sqrt", [](const Array& z) { return nd::sqrt(z); }, [](Wide z) { return std::sqrt(z); }, true},
  };
  return all;
}

// Numbers of all sizes up to 2^range, and numbers near the unit circle.
std::vector<Z> draw(int n, int range, bool circle, std::mt19937_64& random) {
  std::uniform_real_distribution<double> mantissa(-1, 1);
  std::uniform_int_distribution<int> exponent(-range, range);
  std::vector<Z> v;
  for (int k = 0; k < n; ++k) {
    const auto part = [&] { return std::ldexp(mantissa(random), exponent(random)); };
    if (circle && k % 4 == 0) v.push_back(std::polar(1 + std::ldexp(mantissa(random), -40), 4 * mantissa(random)));
    else v.push_back({part(), part()});
  }
  return v;
}

// The largest error of a result in units in the last place of its modulus, which ends with the smallest normal number.
double worst_error(const Function& f, const std::vector<Z>& z, nd::Dtype dtype) {
  const bool single = dtype == nd::complex64;
  const int digits = single ? 24 : 53, least = single ? -125 : -1021;
  const Array given = nd::array(z, {.dtype = dtype});
  const auto x = given.to_vector<Z>(), y = f.ours(given).to_vector<Z>();
  double worst = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const Wide exact = f.theirs(Wide(x[i]));
    const long double size = std::abs(exact);
    if (!(size < (single ? 1e38L : 1e308L))) continue;
    int exponent = 0;
    std::frexp(size, &exponent);
    const long double unit = std::ldexp(1.0L, std::max(exponent, least) - digits);
    worst = std::max(worst, double(std::abs(Wide(y[i]) - exact) / unit));
  }
  return worst;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(complex_functions)

BOOST_AUTO_TEST_CASE(errors_within_some_units) {
  std::mt19937_64 random(5);
  for (const Function& f : functions()) {
    const bool grows = std::string_view(f.name).find("arc") != 0 && std::string_view(f.name).find("log") != 0;
    for (const int range : {3, 30, 1000}) {
      const std::vector<Z> z = draw(4000, grows ? std::min(range, 9) : range, range == 3, random);
      BOOST_TEST_CONTEXT(f.name << " up to 2^" << range) {
        BOOST_TEST(worst_error(f, z, nd::complex128) < 8);
        if (range < 100) BOOST_TEST(worst_error(f, z, nd::complex64) < (f.in_single_precision ? 3 : 1.5));
      }
    }
  }
}

BOOST_FIXTURE_TEST_CASE(values_at_zeros_infinities_and_nan, NumpyScene) {
  const Array s = special();
  // numpy: part = [0.0, -0.0, 1.0, -2.5, np.inf, -np.inf, np.nan]
  // numpy: s = np.array([complex(x, y) for x in part for y in part])
  // numpy: parts = lambda z: np.stack([z.real, z.imag])
  NUMPY("parts(np.log(s))", parts(nd::log(s)), "float64 (2, 49) # nan nan");
  NUMPY("parts(np.sin(s))", parts(nd::sin(s)), "float64 (2, 49) # nan nan");
  NUMPY("parts(np.cos(s))", parts(nd::cos(s)), "float64 (2, 49) # nan nan");
  NUMPY("parts(np.tan(s))", parts(nd::tan(s)), "float64 (2, 49) # nan nan");
  NUMPY("parts(np.arcsin(s))", parts(nd::arcsin(s)), "float64 (2, 49) # nan nan");
  NUMPY("parts(np.arccos(s))", parts(nd::arccos(s)), "float64 (2, 49) # nan nan");
  NUMPY("parts(np.arctan(s))", parts(nd::arctan(s)), "float64 (2, 49) # nan nan");
  NUMPY("parts(np.sinh(s))", parts(nd::sinh(s)), "float64 (2, 49) # nan nan");
  NUMPY("parts(np.cosh(s))", parts(nd::cosh(s)), "float64 (2, 49) # nan nan");
  NUMPY("parts(np.tanh(s))", parts(nd::tanh(s)), "float64 (2, 49) # nan nan");
  NUMPY("parts(np.arcsinh(s))", parts(nd::arcsinh(s)), "float64 (2, 49) # nan nan");
  NUMPY("parts(np.arccosh(s))", parts(nd::arccosh(s)), "float64 (2, 49) # nan nan");
  NUMPY("parts(np.arctanh(s))", parts(nd::arctanh(s)), "float64 (2, 49) # nan nan");
  NUMPY("parts(np.sign(s))", parts(nd::sign(s)), "float64 (2, 49) # nan nan");
  NUMPY("parts(np.rint(s))", parts(nd::rint(s)), "float64 (2, 49) # nan nan");
  NUMPY("np.angle(s)", nd::angle(s), "float64 (49) # nan nan");
  NUMPY("np.logical_not(s)", nd::logical_not(s), "bool (49) # 4 20");
  NUMPY("np.less(s, s[::-1])", nd::less(s, s(nd::Slice({}, {}, -1))), "bool (49) # 12 336");
  NUMPY("np.less_equal(s, s[::-1])", nd::less_equal(s, s(nd::Slice({}, {}, -1))), "bool (49) # 13 361");
  NUMPY("np.greater(s, s[::-1])", s > s(nd::Slice({}, {}, -1)), "bool (49) # 12 264");
  NUMPY("np.greater_equal(s, s[::-1])", s >= s(nd::Slice({}, {}, -1)), "bool (49) # 13 289");
  NUMPY("parts(np.maximum(s, 1 - 1j))", parts(nd::maximum(s, 1.0 - 1i)), "float64 (2, 49) # nan nan");
  NUMPY("parts(np.minimum(s, 1 - 1j))", parts(nd::minimum(s, 1.0 - 1i)), "float64 (2, 49) # nan nan");
  NUMPY("parts(np.fmax(s, 1 - 1j))", parts(nd::fmax(s, 1.0 - 1i)), "float64 (2, 49) # nan nan");
  NUMPY("parts(np.fmin(s, 1 - 1j))", parts(nd::fmin(s, 1.0 - 1i)), "float64 (2, 49) # nan nan");
  NUMPY("parts(np.sort(s))", parts(nd::sort(s)), "float64 (2, 49) # nan nan");
}

BOOST_FIXTURE_TEST_CASE(functions_and_dtypes, NumpyScene) {
  NUMPY("[np.log(x) for x in complexes]", each(complexes, [](const Array& x) { return nd::log(x); }),
        "complex64 (3, 4) 1.28247464 -0.588002622 2.48836684 -1.48765504 2.10975385 -1.3258177 1.79175949 "
        "-1.57079637 2.75062919 -1.10714877 1.49786615 -1.10714877 1.49786615 -1.10714877 2.41415691 -1.10714877 "
        "1.80545902 -1.40564764 1.84443974 -0.321750551 1.73286796 -0.785398185 1.09861231 0 | complex128 (3, 4) "
        "1.28247468 -0.588002604 2.48836687 -1.48765509 2.10975385 -1.32581766 1.79175947 -1.57079633 2.75062911 "
        "-1.10714872 1.49786614 -1.10714872 1.49786614 -1.10714872 2.41415687 -1.10714872 1.80545896 -1.40564765 "
        "1.84443973 -0.321750554 1.73286795 -0.785398163 1.09861229 0");
  NUMPY("[np.log2(x) for x in complexes]", each(complexes, [](const Array& x) { return nd::log2(x); }),
        "complex64 (3, 4) 1.85021973 -0.848308444 3.58995438 -2.1462326 3.04373145 -1.9127506 2.58496261 -2.26618004 "
        "3.96831894 -1.597278 2.16096401 -1.597278 2.16096401 -1.597278 3.48289227 -1.597278 2.60472679 -2.02792096 "
        "2.66096401 -0.46418792 2.5 -1.13309002 1.58496249 0 | complex128 (3, 4) 1.85021986 -0.84830844 3.58995455 "
        "-2.14623263 3.04373142 -1.91275057 2.5849625 -2.26618007 3.96831897 -1.59727796 2.16096405 -1.59727796 "
        "2.16096405 -1.59727796 3.48289214 -1.59727796 2.60472668 -2.02792089 2.66096405 -0.464187929 2.5 "
        "-1.13309004 1.5849625 0");
  NUMPY("[np.log10(x) for x in complexes]", each(complexes, [](const Array& x) { return nd::log10(x); }),
        "complex64 (3, 4) 0.556971669 -0.255366296 1.08068407 -0.646080375 0.916254461 -0.575795352 0.778151274 "
        "-0.682188213 1.19458306 -0.480828613 0.65051502 -0.480828613 0.65051502 -0.480828613 1.048455 -0.480828613 "
        "0.78410089 -0.61046505 0.80103004 -0.139734492 0.75257498 -0.341094106 0.477121264 0 | complex128 (3, 4) "
        "0.556971676 -0.255366286 1.080684 -0.646080399 0.916254456 -0.575795295 0.77815125 -0.682188177 1.19458304 "
        "-0.480828579 0.650514998 -0.480828579 0.650514998 -0.480828579 1.04845501 -0.480828579 0.784100862 "
        "-0.610465018 0.801029996 -0.13973449 0.752574989 -0.341094088 0.477121255 0");
  NUMPY("[np.log1p(x) for x in complexes]", each(complexes, [](const Array& x) { return nd::log1p(x); }),
        "complex64 (3, 4) 1.49786615 -0.463647604 2.4986062 -1.40564764 2.14522958 -1.21202564 1.80545902 "
        "-1.40564764 2.78034091 -1.05165017 1.60943794 -0.927295208 1.60943794 -0.927295208 2.45632744 -1.03037679 "
        "1.84443974 -1.24904573 1.98514593 -0.278299659 1.85678601 -0.67474097 1.38629436 0 | complex128 (3, 4) "
        "1.49786614 -0.463647609 2.49860614 -1.40564765 2.14522972 -1.21202566 1.80545896 -1.40564765 2.78034082 "
        "-1.05165021 1.60943791 -0.927295218 1.60943791 -0.927295218 2.45632744 -1.03037683 1.84443973 -1.24904577 "
        "1.98514596 -0.278299659 1.85678603 -0.674740942 1.38629436 0");
  NUMPY("[np.exp2(x) for x in complexes]", each(complexes, [](const Array& x) { return nd::exp2(x); }),
        "complex64 (3, 4) 1.46765578 -7.86422205 -0.894672155 -1.78873193 2.95924139 2.69126177 -0.525672853 "
        "0.850686789 -123.040443 35.2852631 -3.73074841 -1.44274628 -3.73074841 -1.44274628 25.5078278 -19.3222866 "
        "-1.05134571 1.70137358 11.7412462 -62.9137764 -14.9229937 -5.77098513 8 0 | complex128 (3, 4) 1.4676558 "
        "-7.86422192 -0.894672119 -1.7887319 2.95924147 2.69126178 -0.525672874 0.850686799 -123.040443 35.2852588 "
        "-3.73074831 -1.44274636 -3.73074831 -1.44274636 25.5078278 -19.3222857 -1.05134575 1.7013736 11.7412464 "
        "-62.9137754 -14.9229932 -5.77098545 8 0");
  NUMPY("[np.expm1(x) for x in complexes]", each(complexes, [](const Array& x) { return nd::expm1(x); }),
        "complex64 (3, 4) -9.35853291 -18.2637272 1.29383278 1.45855641 -2.07510805 -7.31042385 -0.0398297086 "
        "0.279415488 148.950562 -1086.33289 -5.82980919 5.59205627 -5.82980919 5.59205627 -125.529259 80.7398987 "
        "1.61001337 0.759530008 -168.885635 -366.836761 -36.6877327 41.320015 19.085537 0 | complex128 (3, 4) "
        "-9.35853265 -18.263727 1.29383288 1.45855641 -2.07510791 -7.31042359 -0.0398297133 0.279415498 148.950567 "
        "-1086.33287 -5.82980938 5.59205609 -5.82980938 5.59205609 -125.529256 80.7398917 1.61001344 0.759530071 "
        "-168.885616 -366.836764 -36.6877325 41.3200162 19.0855369 0");
  NUMPY("[np.sign(x) for x in complexes]", each(complexes, [](const Array& x) { return nd::sign(x); }),
        "complex64 (3, 4) 0.832050323 -0.554700196 0.0830454826 -0.996545792 0.242535636 -0.970142543 0 -1 "
        "0.44721359 -0.89442718 0.44721359 -0.89442718 0.44721359 -0.89442718 0.44721359 -0.89442718 0.164398983 "
        "-0.986393869 0.948683262 -0.316227764 0.707106769 -0.707106769 1 0 | complex128 (3, 4) 0.832050294 "
        "-0.554700196 0.0830454799 -0.996545758 0.242535625 -0.9701425 0 -1 0.447213595 -0.894427191 0.447213595 "
        "-0.894427191 0.447213595 -0.894427191 0.447213595 -0.894427191 0.164398987 -0.986393924 0.948683298 "
        "-0.316227766 0.707106781 -0.707106781 1 0");
  NUMPY("[np.rint(x / 4) for x in complexes]", each(complexes, [](const Array& x) { return nd::rint(x / 4); }),
        "complex64 (3, 4) 1 -0 0 -3 0 -2 0 -2 2 -4 0 -1 0 -1 1 -2 0 -2 2 -0 1 -1 1 0 | complex128 (3, 4) 1 -0 0 -3 0 "
        "-2 0 -2 2 -4 0 -1 0 -1 1 -2 0 -2 2 -0 1 -1 1 0");
  NUMPY("[np.power(x, 2) for x in complexes]", each(complexes, [](const Array& x) { return nd::power(x, 2); }),
        "complex64 (3, 4) 5 -12 -143 -24 -60 -32 -36 -0 -147 -196 -12 -16 -12 -16 -75 -100 -35 -12 32 -24 0 -32 9 0 "
        "| complex128 (3, 4) 5 -12 -143 -24 -60 -32 -36 -0 -147 -196 -12 -16 -12 -16 -75 -100 -35 -12 32 -24 0 -32 9 "
        "0");
  NUMPY("[np.power(x + 1j, -3) for x in complexes]",
        each(complexes, [](const Array& x) { return nd::power(x + 1i, -3); }),
        "complex64 (3, 4) 0.0179999992 0.0259999987 -0.000199355898 -0.00071481755 -0.00192104897 -0.00173969124 0 "
        "-0.00800000038 -0.000309452531 -2.76055598e-05 -0.0209376421 0.00409649499 -0.0209376421 0.00409649499 "
        "-0.000915185083 -4.53394423e-05 -0.00421028724 -0.00625853473 0.00390894944 0.00211241189 -0.00281600002 "
        "0.00748799974 0.0179999992 -0.0259999987 | complex128 (3, 4) 0.018 0.026 -0.000199355893 -0.00071481754 "
        "-0.00192104892 -0.00173969115 0 -0.008 -0.00030945253 -2.76055594e-05 -0.0209376422 0.00409649522 "
        "-0.0209376422 0.00409649522 -0.000915185019 -4.53394413e-05 -0.00421028675 -0.00625853437 0.00390894912 "
        "0.0021124119 -0.002816 0.007488 0.018 -0.026");
  NUMPY("[np.power(x, 0.5 + 1j) for x in complexes]",
        each(complexes, [](const Array& x) { return nd::power(x, 0.5 + 1i); }),
        "complex64 (3, 4) 1.88012886 2.85519648 -2.65547562 15.1298351 1.33678293 10.7294569 6.303298 9.95553398 "
        "-7.01624584 9.69898701 3.75161624 5.18340349 3.75161624 5.18340349 -2.89093542 9.69526863 4.53867388 "
        "8.97583485 -0.390404552 3.44732475 1.19243813 5.0784111 0.787792802 1.5425247 | complex128 (3, 4) "
        "1.88012872 2.85519673 -2.65547688 15.1298356 1.33678321 10.7294562 6.30329602 9.95553189 -7.01624379 "
        "9.69898688 3.75161596 5.18340333 3.75161596 5.18340333 -2.89093457 9.69526834 4.53867317 8.97583357 "
        "-0.390404655 3.44732501 1.19243796 5.07841128 0.787792865 1.54252468");
  NUMPY("(complexes[1] + 2) ** complexes[1]", nd::power(complexes[1] + 2, complexes[1]),
        "complex128 (3, 4) -14.7506736 71.4547996 1.51684358e-06 -1.40738118e-07 0.00714274045 -0.00886995511 "
        "3.94968432e-05 0.000554856068 -214.916594 -204.08597 -0.834991674 -1.10229318 -0.834991674 -1.10229318 "
        "-0.459347197 18.3356717 0.00873575479 0.00034291831 159661.357 107784.421 -173.739414 189.865576 125 0");
  NUMPY("np.power(np.zeros(4, complex), np.array([0, 2, -1, 1j]))",
        nd::power(nd::zeros(4, nd::complex128), nd::array({Z(0), Z(2), Z(-1), Z(0, 1)})),
        "complex128 (4) 1 0 0 0 nan nan nan nan");
  NUMPY("[1 / np.sqrt(x + 1j) for x in complexes]", each(complexes, [](const Array& x) { return nd::rsqrt(x + 1i); }),
        "complex64 (3, 4) 0.555080056 0.0900770873 0.22218512 0.202902734 0.295885473 0.223186821 0.316227764 "
        "0.316227764 0.223426312 0.133451208 0.464325488 0.248499438 0.464325488 0.248499438 0.268606037 0.158048689 "
        "0.34247458 0.280761987 0.404079884 0.0334426723 0.424264073 0.141421378 0.555080056 -0.0900770873 | "
        "complex128 (3, 4) 0.555080069 0.0900770948 0.222185134 0.202902717 0.295885462 0.223186822 0.316227766 "
        "0.316227766 0.223426317 0.133451217 0.464325453 0.248499441 0.464325453 0.248499441 0.268606029 0.158048687 "
        "0.342474578 0.280761996 0.404079911 0.0334426759 0.424264069 0.141421356 0.555080069 -0.0900770948");
  NUMPY("[np.logical_and(x, x.real > 1) for x in complexes]",
        each(complexes, [](const Array& x) { return nd::logical_and(x, x.real() > 1); }),
        "bool (3, 4) 1 0 1 0 1 1 1 1 0 1 1 1 | bool (3, 4) 1 0 1 0 1 1 1 1 0 1 1 1");
  NUMPY("[np.logical_or(x, 0) for x in complexes]",
        each(complexes, [](const Array& x) { return nd::logical_or(x, 0); }),
        "bool (3, 4) 1 1 1 1 1 1 1 1 1 1 1 1 | bool (3, 4) 1 1 1 1 1 1 1 1 1 1 1 1");
  NUMPY("[np.logical_xor(x, x.T[:3, :3].sum()) for x in complexes]",
        each(complexes, [](const Array& x) { return nd::logical_xor(x, x.T()(nd::Slice(3), nd::Slice(3)).sum()); }),
        "bool (3, 4) 0 0 0 0 0 0 0 0 0 0 0 0 | bool (3, 4) 0 0 0 0 0 0 0 0 0 0 0 0");
  // Strided operands, no elements, one element.
  // numpy: z = complexes[1]
  const Array z = complexes[1];
  NUMPY("np.tan(z.T[::-1, 1:])", nd::tan(z.T()(nd::Slice({}, {}, -1), nd::Slice(1, {}))),
        "complex128 (4, 2) -2.24262217e-09 -1 -0.142546543 0 -0.000507980623 -1.00043851 0.000663850165 -1.0000974 "
        "-0.000507980623 -1.00043851 -0.019059792 -0.969374576 1.36989112e-12 -1 1.11738901e-05 -1.00000511");
  NUMPY("np.log(z[:0])", nd::log(z(nd::Slice(0))), "complex128 (0, 4)");
  NUMPY("np.arccos(z[0, 0])", nd::arccos(z(0, 0)), "complex128 () 0.606137822 1.96863793");
  NUMPY("np.log(-1 + 0j)", nd::log(Z(-1)), "complex128 () 0 3.14159265");
}

// Small numbers keep their digits.
BOOST_AUTO_TEST_CASE(log1p_and_expm1_near_zero) {
  const Array z = nd::array({Z(1e-12, 1e-5), Z(-1e-9, 3e-9), Z(1e-300, -1e-300), Z(-1e-20, 0.5)});
  const auto forth = nd::log1p(z).to_vector<Z>(), back = nd::expm1(z).to_vector<Z>();
  const auto x = z.to_vector<Z>();
  for (std::size_t i = 0; i < x.size(); ++i) {
    const long double a = x[i].real(), b = x[i].imag(), s = std::sin(b / 2);
    BOOST_TEST(forth[i].real() == double(std::log1p(a * a + b * b + 2 * a) / 2), boost::test_tools::tolerance(1e-15));
    BOOST_TEST(forth[i].imag() == double(std::atan2(b, 1 + a)), boost::test_tools::tolerance(1e-15));
    BOOST_TEST(back[i].real() == double(std::expm1(a) * std::cos(b) - 2 * s * s), boost::test_tools::tolerance(1e-14));
  }
}

BOOST_FIXTURE_TEST_CASE(order, NumpyScene) {
  // numpy: last = [np.nan+0j, 3+1j, complex(1, np.nan), 3+0j]
  // numpy: z = np.array([[1+2j, 1-1j, 0+9j, 1+2j], [2-3j, -1+0j, 2+0j, -1-5j], last])
  const Array z = nd::array({{1.0 + 2i, 1.0 - 1i, 0.0 + 9i, 1.0 + 2i},
                             {2.0 - 3i, Z(-1), Z(2), -1.0 - 5i},
                             {Z(nd::nan, 0), 3.0 + 1i, Z(1, nd::nan), Z(3)}});
  // numpy: w = z[:2]; parts = lambda z: np.stack([z.real, z.imag])
  const Array w = z(nd::Slice(2));
  NUMPY("np.sort(w)", nd::sort(w), "complex128 (2, 4) 0 9 1 -1 1 2 1 2 -1 -5 -1 0 2 -3 2 0");
  NUMPY("np.sort(w, 0)", nd::sort(w, 0), "complex128 (2, 4) 1 2 -1 0 0 9 -1 -5 2 -3 1 -1 2 0 1 2");
  NUMPY("np.sort(w, None)", nd::sort(w, std::nullopt), "complex128 (8) -1 -5 -1 0 0 9 1 -1 1 2 1 2 2 -3 2 0");
  NUMPY("np.argsort(w, kind='stable')", nd::argsort(w), "int64 (2, 4) 2 1 0 3 3 1 0 2");
  NUMPY("parts(np.sort(z))", parts(nd::sort(z)),
        "float64 (2, 3, 4) 0 1 1 1 -1 -1 2 2 3 3 1 nan 9 -1 2 2 -5 0 -3 0 0 1 nan 0");
  NUMPY("np.sort(w.astype('complex64').T)", nd::sort(w.astype(nd::complex64).T()),
        "complex64 (4, 2) 1 2 2 -3 -1 0 1 -1 0 9 2 0 -1 -5 1 2");
  NUMPY("np.sort(w[:, :0])", nd::sort(w(nd::_, nd::Slice(0))), "complex128 (2, 0)");
  NUMPY("np.sort_complex(w)", nd::sort_complex(w), "complex128 (2, 4) 0 9 1 -1 1 2 1 2 -1 -5 -1 0 2 -3 2 0");
  NUMPY("np.sort_complex(d)", nd::sort_complex(d), "complex128 (3, 4) 0 0 1 0 2 0 3 0 2 0 2 0 5 0 7 0 1 0 3 0 4 0 6 0");
  NUMPY("np.sort_complex(d.astype('int16'))", nd::sort_complex(d.astype(nd::int16)),
        "complex64 (3, 4) 0 0 1 0 2 0 3 0 2 0 2 0 5 0 7 0 1 0 3 0 4 0 6 0");
  NUMPY("np.max(w)", nd::max(w), "complex128 () 2 0");
  NUMPY("np.min(w, axis=0)", nd::min(w, 0), "complex128 (4) 1 2 -1 0 0 9 -1 -5");
  NUMPY("np.max(w, axis=1, keepdims=True)", nd::max(w, 1, {.keepdims = true}), "complex128 (2, 1) 1 2 2 0");
  NUMPY("np.max(w.reshape(2, 2, 2), axis=(0, 2))", nd::max(w.reshape(2, 2, 2), {0, 2}), "complex128 (2) 2 -3 2 0");
  NUMPY("np.argmax(w)", nd::argmax(w), "int64 () 6");
  NUMPY("np.argmin(w, axis=0)", nd::argmin(w, 0), "int64 (4) 0 1 0 1");
  NUMPY("np.argmax(w, axis=1, keepdims=True)", nd::argmax(w, 1, {.keepdims = true}), "int64 (2, 1) 0 2");
  NUMPY("parts(np.max(z, axis=0))", parts(nd::max(z, 0)), "float64 (2, 4) nan 3 1 3 0 1 nan 0");
  NUMPY("parts(np.min(z, axis=1))", parts(nd::min(z, 1)), "float64 (2, 3) 0 -1 nan 9 -5 0");
  NUMPY("np.argmax(z, axis=1)", nd::argmax(z, 1), "int64 (3) 0 2 0");
  NUMPY("np.argmin(z, axis=0)", nd::argmin(z, 0), "int64 (4) 2 1 2 1");
  NUMPY("np.max(w[:, :0], axis=0)", nd::max(w(nd::_, nd::Slice(0)), 0), "complex128 (0)");
  NUMPY_RAISES("np.max(w[:0], axis=0)", nd::max(w(nd::Slice(0)), 0), nd::ValueError);
  NUMPY_RAISES("np.argmin(w[:, :0])", nd::argmin(w(nd::_, nd::Slice(0))), nd::ValueError);
  NUMPY_RAISES("np.max(w, axis=2)", nd::max(w, 2), nd::ValueError);
  Array out = nd::empty(4, nd::complex128);
  nd::max(w, 0, {.out = out});
  NUMPY("np.max(w, 0)", out, "complex128 (4) 2 -3 1 -1 2 0 1 2");
  NUMPY_RAISES("np.max(w, 0, out=np.empty(3, complex))", nd::max(w, 0, {.out = nd::empty(3, nd::complex128)}),
               nd::ValueError);
  NUMPY("parts(np.partition(w, 1)[:, :2])", parts(nd::partition(w, 1)(nd::_, nd::Slice(2))),
        "float64 (2, 2, 2) 0 1 -1 -1 9 -1 -5 0");
  NUMPY("np.searchsorted(np.sort(w, None), w)", nd::searchsorted(nd::sort(w, std::nullopt), w),
        "int64 (2, 4) 4 3 2 4 6 1 7 0");
  NUMPY("np.searchsorted(np.sort(z, None), z, 'right')",
        nd::searchsorted(nd::sort(z, std::nullopt), z, {.side = "right"}), "int64 (3, 4) 6 4 3 6 7 2 8 1 12 10 11 9");
  NUMPY("np.lexsort((w[0], w[1].real))", nd::lexsort({w(0), w(1).real()}), "int64 (4) 1 3 2 0");
  NUMPY("np.clip(w, 0, 2 - 1j)", nd::clip(w, 0, 2.0 - 1i), "complex128 (2, 4) 1 2 1 -1 0 9 1 2 2 -3 0 0 2 -1 0 0");
  NUMPY("parts(np.nanmax(z, axis=0))", parts(nd::nanmax(z, 0)), "float64 (2, 4) 2 3 2 3 -3 1 0 0");
  NUMPY("parts(np.nanmin(z, axis=1))", parts(nd::nanmin(z, 1)), "float64 (2, 3) 0 -1 3 9 -5 0");
  NUMPY_RAISES("np.digitize(w[0], [1.0, 2.0])", nd::digitize(w(0), nd::array({1.0, 2.0})), nd::TypeError);
  NUMPY("np.unique(w)", nd::unique(w), "complex128 (7) -1 -5 -1 0 0 9 1 -1 1 2 2 -3 2 0");
}

BOOST_FIXTURE_TEST_CASE(angles, NumpyScene) {
  NUMPY("[np.angle(x) for x in complexes]", each(complexes, [](const Array& x) { return nd::angle(x); }),
        "float32 (3, 4) -0.588002563 -1.48765516 -1.3258177 -1.57079637 -1.10714877 -1.10714877 -1.10714877 "
        "-1.10714877 -1.40564764 -0.321750581 -0.785398126 0 | float64 (3, 4) -0.588002604 -1.48765509 -1.32581766 "
        "-1.57079633 -1.10714872 -1.10714872 -1.10714872 -1.10714872 -1.40564765 -0.321750554 -0.785398163 0");
  NUMPY("np.angle(complexes[1], deg=True)", nd::angle(complexes[1], true),
        "float64 (3, 4) -33.6900675 -85.2363583 -75.9637565 -90 -63.4349488 -63.4349488 -63.4349488 -63.4349488 "
        "-80.5376778 -18.4349488 -45 0");
  NUMPY("np.angle(a - 2)", nd::angle(a - 2), "float64 (3, 4) 3.14159265 3.14159265 3.14159265 0 0 0 0 0 0 0 0 0");
  NUMPY("np.angle(d - 3, True)", nd::angle(d - 3, true), "float64 (3, 4) 0 180 180 180 0 180 180 0 180 0 0 0");
  NUMPY("np.angle(1j)", nd::angle(1i), "float64 () 1.57079633");
  NUMPY("np.angle(e)", nd::angle(e), "float64 (0)");
}

BOOST_AUTO_TEST_SUITE_END()
