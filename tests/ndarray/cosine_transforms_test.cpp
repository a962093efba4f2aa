// Discrete cosine and sine transforms against SciPy, and against their sums.
#include <cmath>
#include <numbers>

#include <catena/ndarray/routines/cosine_transforms.h>
#include <catena/tests/support/ndarray_numpy.h>
#include <catena/tests/support/ndarray_values.h>

namespace {

using nd::Array;
using test::each;
using test::NumpyScene;
using namespace nd::fft;

// The sums of the header, term by term.
std::vector<double> sums(bool sine, int type, const std::vector<double>& x) {
  const double pi = std::numbers::pi, n = double(x.size());
  std::vector<double> y;
  for (double k = 0; k < n; ++k) {
    long double sum = 0;
    for (double j = 0; j < n; ++j) {
      const bool first = j == 0, last = j == n - 1;
      double factor = 2, angle = 0;
      if (type == 1 && !sine) angle = pi * k * j / (n - 1), factor = first || last ? 1 : 2;
      else if (type == 1) angle = pi * (k + 1) * (j + 1) / (n + 1);
      else if (type == 2) angle = pi * (k + sine) * (2 * j + 1) / (2 * n);
      else if (type == 3) angle = pi * (2 * k + 1) * (j + sine) / (2 * n), factor = (sine ? last : first) ? 1 : 2;
      else angle = pi * (2 * k + 1) * (2 * j + 1) / (4 * n);
      sum += factor * x[std::size_t(j)] * (sine ? std::sin(angle) : std::cos(angle));
    }
    y.push_back(double(sum));
  }
  return y;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(cosine_transforms)

BOOST_AUTO_TEST_CASE(sums_of_all_lengths) {
  for (const int n : {1, 2, 3, 4, 5, 7, 8, 16, 30, 97, 128}) {
    std::vector<double> x;
    for (int j = 0; j < n; ++j) x.push_back(std::sin(3.0 * j) + 0.1 * j);
    for (const int type : {1, 2, 3, 4})
      for (const bool sine : {false, true}) {
        if (n == 1 && type == 1 && !sine) continue;
        const Array a = nd::array(x), y = sine ? dst(a, type) : dct(a, type);
        const Array back = sine ? idst(y, type) : idct(y, type);
        const std::vector<double> expected = sums(sine, type, x), actual = y.to_vector<double>();
        BOOST_TEST_CONTEXT((sine ? "DST-" : "DCT-") << type << " of " << n) {
          for (std::size_t k = 0; k < x.size(); ++k) BOOST_TEST(std::abs(actual[k] - expected[k]) < 1e-13 * n * n);
          BOOST_TEST(nd::allclose(back, a, {.rtol = 1e-13, .atol = 1e-13}).item<bool>());
        }
      }
  }
}

BOOST_FIXTURE_TEST_CASE(cosines, NumpyScene) {
  // numpy: import scipy.fft as sf
  NUMPY("sf.dct(a)", dct(a),
        "float64 (3, 4) 10 -3.15432203 0 -0.224170765 26 -3.15432203 0 -0.224170765 42 -3.15432203 0 -0.224170765");
  NUMPY("sf.dct(a, 1)", dct(a, 1),
        "float64 (3, 4) 7.5 -2 -1.11022302e-16 -0.5 19.5 -2 -1.11022302e-16 -0.5 31.5 -2 -1.11022302e-16 -0.5");
  NUMPY("sf.dct(a, 3, axis=0)", dct(a, 3, {.axis = 0}),
        "float64 (3, 4) 9.33012702 11.1961524 13.0621778 14.9282032 -8.5 -9 -9.5 -10 0.669872981 0.803847577 "
        "0.937822174 1.07179677");
  NUMPY("sf.dct(a, 4, norm='forward')", dct(a, 4, {.norm = "forward"}),
        "float64 (3, 4) 0.636349562 -0.590418476 0.313143636 -0.293097804 1.91780729 -1.04040659 0.613816079 "
        "-0.547995593 3.19926501 -1.4903947 0.914488523 -0.802893383");
  NUMPY("sf.idct(a)", idct(a),
        "float64 (3, 4) 0.749976642 -0.568933951 0.163603865 -0.0946465564 2.00681152 -0.943085392 0.330648525 "
        "-0.144374648 3.26364639 -1.31723683 0.497693184 -0.19410274");
  NUMPY("sf.idct(a, 1)", idct(a, 1),
        "float64 (3, 4) 1.25 -0.333333333 -1.85037171e-17 -0.0833333333 3.25 -0.333333333 -1.85037171e-17 "
        "-0.0833333333 5.25 -0.333333333 -1.85037171e-17 -0.0833333333");
  NUMPY("sf.idct(a, 3, norm='forward')", idct(a, 3, {.norm = "forward"}),
        "float64 (3, 4) 10 -3.15432203 0 -0.224170765 26 -3.15432203 0 -0.224170765 42 -3.15432203 0 -0.224170765");
  NUMPY("sf.idct(a, 4, norm='ortho')", idct(a, 4, {.norm = "ortho"}),
        "float64 (3, 4) 1.79986836 -1.66995563 0.885703954 -0.829005778 5.42437815 -2.94271421 1.73613405 -1.5499656 "
        "9.04888793 -4.21547279 2.58656414 -2.27092542");
  NUMPY("[sf.dct(a, k, norm='ortho') for k in (1, 2, 3, 4)]",
        each({nd::array(1), nd::array(2), nd::array(3), nd::array(4)},
             [&](const Array& k) { return dct(a, k.item<int>(), {.norm = "ortho"}); }),
        "float64 (3, 4) 2.4639964 -1.07014955 0.422754947 -0.323697301 6.40639064 -1.07014955 1.09916286 "
        "-0.323697301 10.3487849 -1.07014955 1.77557078 -0.323697301 | float64 (3, 4) 2.5 -1.11522125 0 "
        "-0.0792563339 6.5 -1.11522125 0 -0.0792563339 10.5 -1.11522125 0 -0.0792563339 | float64 (3, 4) 2.19447758 "
        "-1.53596491 0.535964915 -0.194477583 6.04223665 -2.30133178 1.30133178 -0.0422366476 9.88999571 -3.06669864 "
        "2.06669864 0.110004287 | float64 (3, 4) 1.79986836 -1.66995563 0.885703954 -0.829005778 5.42437815 "
        "-2.94271421 1.73613405 -1.5499656 9.04888793 -4.21547279 2.58656414 -2.27092542");
  NUMPY("sf.dct(a, 2, norm='ortho', orthogonalize=False)", dct(a, 2, {.norm = "ortho", .orthogonalize = false}),
        "float64 (3, 4) 3.53553391 -1.11522125 0 -0.0792563339 9.19238816 -1.11522125 0 -0.0792563339 14.8492424 "
        "-1.11522125 0 -0.0792563339");
  NUMPY("sf.idct(a, 2, orthogonalize=True)", idct(a, 2, {.orthogonalize = true}),
        "float64 (3, 4) 0.77586499 -0.543045603 0.189492213 -0.0687582087 2.13625325 -0.813643654 0.460090263 "
        "-0.01493291 3.49664152 -1.0842417 0.730688313 0.0388923888");
  NUMPY("sf.dct(a, 1, orthogonalize=True)", dct(a, 1, {.orthogonalize = true}),
        "float64 (3, 4) 6.03553391 -2.62132034 1.03553391 -0.792893219 15.6923882 -2.62132034 2.69238816 "
        "-0.792893219 25.3492424 -2.62132034 4.3492424 -0.792893219");
  NUMPY("sf.dct(a, n=6)", dct(a, {.n = 6}),
        "float64 (3, 6) 10 2.12132034 -5.19615242 0 2 -2.12132034 26 8.81345077 -8.66025404 7.06541606e-16 4 "
        "-3.91447129 42 15.5055812 -12.1243557 6.28036983e-16 6 -5.70762223");
  NUMPY("sf.dct(a, n=3)", dct(a, {.n = 3}),
        "float64 (3, 3) 6 -1.73205081 -2.22044605e-16 18 -1.73205081 -2.22044605e-16 30 -1.73205081 -2.22044605e-16");
  NUMPY("sf.dct(t, axis=1)", dct(t, {.axis = 1}),
        "float64 (4, 2, 2) 36 68 -16.9705627 -16.9705627 32 64 -16.9705627 -16.9705627 28 60 -16.9705627 -16.9705627 "
        "24 56 -16.9705627 -16.9705627");
  NUMPY("[sf.dct(x) for x in floats[1:]]", each({floats[1], floats[2]}, [](const Array& x) { return dct(x); }),
        "float32 (3, 4) 3 1.19447756 0 1.03596497 8 0.923879504 2.82842708 0.382683396 7 -0.541196108 -2.12132025 "
        "-1.3065629 | float64 (3, 4) 3 1.19447758 0 1.03596491 8 0.923879533 2.82842712 0.382683432 7 -0.5411961 "
        "-2.12132034 -1.30656296");
  NUMPY("sf.dct(d)", dct(d),
        "float64 (3, 4) 12 4.77791033 0 4.14385966 32 3.69551813 11.3137085 1.53073373 28 -2.1647844 -8.48528137 "
        "-5.22625186");
  NUMPY("[sf.dct(x) for x in complexes]", each(complexes, [](const Array& x) { return dct(x); }),
        "complex64 (3, 4) 12 -56 4.77791023 4.32956886 0 16.970562 4.14385986 10.4525032 32 -64 3.69551802 "
        "-7.39103603 11.3137083 -22.6274166 1.53073359 -3.06146717 28 -24 -2.16478443 -9.55582047 -8.48528099 0 "
        "-5.2262516 -8.28771973 | complex128 (3, 4) 12 -56 4.77791033 4.3295688 0 16.9705627 4.14385966 10.4525037 "
        "32 -64 3.69551813 -7.39103626 11.3137085 -22.627417 1.53073373 -3.06146746 28 -24 -2.1647844 -9.55582066 "
        "-8.48528137 0 -5.22625186 -8.28771932");
  NUMPY("sf.idct(complexes[1], n=5)", idct(complexes[1], {.n = 5}),
        "complex128 (3, 5) 0.813818101 -4.48230513 0.293950253 0.0250104051 -0.1 1.4 0.0588361518 0.563843977 "
        "0.433395494 1.49345075 1.99181466 -3.98362931 -0.139549213 0.279098426 0.3 -0.6 1.29233562 -2.58467124 "
        "0.0553989389 -0.110797878 2.24115257 -1.6276362 -0.0125052025 -0.587900505 -0.7 0.2 -0.281921988 "
        "-0.117672304 -0.746725375 -0.866790989");
  NUMPY("sf.dct(one)", dct(one), "float64 (1) 5");
  NUMPY("sf.dct(e3)", dct(e3), "float64 (0, 3)");
}

BOOST_FIXTURE_TEST_CASE(sines, NumpyScene) {
  // numpy: import scipy.fft as sf
  NUMPY("sf.dst(a)", dst(a),
        "float64 (3, 4) 6.53281482 -2.82842712 2.7059805 -2 16.9853185 -2.82842712 7.0355493 -2 27.4378223 "
        "-2.82842712 11.3651181 -2");
  NUMPY("sf.dst(a, 1)", dst(a, 1),
        "float64 (3, 4) 7.69420884 -3.4409548 1.81635632 -0.812299241 20.004943 -3.4409548 4.72252643 -0.812299241 "
        "32.3156771 -3.4409548 7.62869654 -0.812299241");
  NUMPY("sf.dst(a, 3, axis=0)", dst(a, 3, {.axis = 0}),
        "float64 (3, 4) 9.33012702 11.1961524 13.0621778 14.9282032 -3.5 -3 -2.5 -2 0.669872981 0.803847577 "
        "0.937822174 1.07179677");
  NUMPY("sf.dst(a, 4)", dst(a, 4),
        "float64 (3, 4) 7.72378075 -0.223466689 0.501575347 0.204195467 17.9754425 3.3764382 2.90695489 2.24337778 "
        "28.2271043 6.9763431 5.31233444 4.2825601");
  NUMPY("sf.idst(a)", idst(a),
        "float64 (3, 4) 0.821066949 -0.10124465 0.0452019591 -0.0324864416 2.07790182 0.27290679 0.212246619 "
        "0.0172416503 3.3347367 0.647058231 0.379291278 0.0669697421");
  NUMPY("sf.idst(a, 1, norm='forward')", idst(a, 1, {.norm = "forward"}),
        "float64 (3, 4) 7.69420884 -3.4409548 1.81635632 -0.812299241 20.004943 -3.4409548 4.72252643 -0.812299241 "
        "32.3156771 -3.4409548 7.62869654 -0.812299241");
  NUMPY("[sf.dst(a, k, norm='ortho') for k in (1, 2, 3, 4)]",
        each({nd::array(1), nd::array(2), nd::array(3), nd::array(4)},
             [&](const Array& k) { return dst(a, k.item<int>(), {.norm = "ortho"}); }),
        "float64 (3, 4) 2.43312247 -1.08812545 0.574382301 -0.256871574 6.32611843 -1.08812545 1.49339398 "
        "-0.256871574 10.2191144 -1.08812545 2.41240567 -0.256871574 | float64 (3, 4) 2.30969883 -1 0.956708581 -0.5 "
        "6.00521696 -1 2.48744231 -0.5 9.70073509 -1 4.01817604 -0.5 | float64 (3, 4) 2.61522125 -0.579256334 "
        "0.420743666 -0.384778751 6.46298031 0.186110531 1.18611053 -0.537019686 10.3107394 0.951477396 1.9514774 "
        "-0.689260621 | float64 (3, 4) 2.73076887 -0.0790074057 0.177333665 0.0721939996 6.35527866 1.19375117 "
        "1.02776376 0.793153822 9.97978844 2.46650976 1.87819385 1.51411364");
  NUMPY("sf.idst(a, 3, norm='ortho', orthogonalize=False)", idst(a, 3, {.norm = "ortho", .orthogonalize = false}),
        "float64 (3, 4) 2.30969883 -1 0.956708581 -0.707106781 6.00521696 -1 2.48744231 -0.707106781 9.70073509 -1 "
        "4.01817604 -0.707106781");
  NUMPY("sf.dst(a, n=7)", dst(a, {.n = 7}),
        "float64 (3, 7) 8.17240714 4.72923401 -2.24213526 -1.27518478 2.58545759 0.712916165 -2 19.1603256 "
        "13.4918065 -1.03438432 -0.312035538 6.80529012 3.22083684 -2 30.148244 22.2543791 0.173366622 0.651113699 "
        "11.0251227 5.72875752 -2");
  NUMPY("sf.dst(complexes[0])", dst(complexes[0]),
        "complex64 (3, 4) 7.8393774 -43.0781136 2.82842708 0 3.24717617 0.52526474 8 16 16.5754395 -33.1508789 "
        "2.82842708 -5.65685415 19.1116409 -38.2232819 4 -8 21.5390568 -15.6787548 0 -5.65685415 -0.26263237 "
        "-6.49435234 -8 -16");
  NUMPY("sf.dst(one, 1)", dst(one, 1), "float64 (1) 5");
}

BOOST_FIXTURE_TEST_CASE(several_axes, NumpyScene) {
  // numpy: import scipy.fft as sf
  NUMPY("sf.dctn(a)", dctn(a), "float64 (3, 4) 156 -18.9259322 0 -1.34502459 -55.4256258 0 0 0 -7.10542736e-15 0 0 0");
  NUMPY("sf.dctn(a, 3, norm='ortho')", dctn(a, 3, {.norm = "ortho"}),
        "float64 (3, 4) 9.57706257 -3.76605154 2.0733462 -0.0972384423 -6.80816546 1.6171592 -1.37801289 "
        "-0.202099809 1.03204956 -0.511476929 0.23298515 -0.0375068025");
  NUMPY("sf.idctn(a, s=(2, 5))", idctn(a, {.s = nd::Shape{2, 5}}),
        "float64 (2, 5) 0.836117793 -0.208793444 -0.221599026 0.211261981 -0.112545567 -0.477102542 0.0560081165 "
        "0.0965990258 -0.101181752 0.0462354136");
  NUMPY("sf.dstn(q, axes=(0, 2))", dstn(q, {.axes = {0, 2}}),
        "float64 (2, 3, 4) 110.865544 -16 45.9220119 -11.3137085 169.993834 -16 70.4137516 -11.3137085 229.122124 "
        "-16 94.9054912 -11.3137085 -125.430045 0 -51.9548256 0 -125.430045 0 -51.9548256 0 -125.430045 0 "
        "-51.9548256 0");
  NUMPY("sf.idstn(q, 1, axes=(-1,))", idstn(q, 1, {.axes = {-1}}),
        "float64 (2, 3, 4) 0.923305061 -0.68819096 0.217962758 -0.162459848 3.38545189 -0.68819096 0.799196781 "
        "-0.162459848 5.84759872 -0.68819096 1.3804308 -0.162459848 8.30974555 -0.68819096 1.96166483 -0.162459848 "
        "10.7718924 -0.68819096 2.54289885 -0.162459848 13.2340392 -0.68819096 3.12413287 -0.162459848");
  NUMPY("sf.dctn(q, orthogonalize=True, axes=(1,))", dctn(q, {.axes = {1}, .orthogonalize = true}),
        "float64 (2, 3, 4) 16.9705627 21.2132034 25.4558441 29.6984848 -13.8564065 -13.8564065 -13.8564065 "
        "-13.8564065 -1.77635684e-15 -1.77635684e-15 -1.77635684e-15 -1.77635684e-15 67.882251 72.1248917 76.3675324 "
        "80.6101731 -13.8564065 -13.8564065 -13.8564065 -13.8564065 -1.77635684e-15 -1.77635684e-15 -1.77635684e-15 "
        "-1.77635684e-15");
  NUMPY("sf.dctn(a, s=(-1, 3), axes=(0, 1))", dctn(a, {.s = nd::Shape{-1, 3}, .axes = {0, 1}}),
        "float64 (3, 3) 108 -10.3923048 0 -41.5692194 0 0 -5.32907052e-15 0 0");
  NUMPY_RAISES("sf.dctn(a, s=(2,), axes=(0, 1))", dctn(a, {.s = nd::Shape{2}, .axes = {0, 1}}), nd::ValueError);
}

BOOST_FIXTURE_TEST_CASE(errors, NumpyScene) {
  // numpy: import scipy.fft as sf
  NUMPY_RAISES("sf.dct(a, 5)", dct(a, 5), nd::ValueError);
  NUMPY_RAISES("sf.dct(a, norm='both')", dct(a, {.norm = "both"}), nd::ValueError);
  NUMPY_RAISES("sf.dct(e)", dct(e), nd::ValueError);
  NUMPY_RAISES("sf.dct(one, 1)", dct(one, 1), nd::ValueError);
  NUMPY_RAISES("sf.dct(a, n=0)", dct(a, {.n = 0}), nd::ValueError);
  NUMPY_RAISES("sf.dct(a, axis=2)", dct(a, {.axis = 2}), nd::ValueError);
  BOOST_CHECK_THROW(dct(Array()), nd::TypeError);
  // float16 and bfloat16 are transformed in single precision.
  BOOST_TEST(dct(floats[0]).dtype() == nd::float32);
  BOOST_TEST(dct(a.astype(nd::bfloat16)).dtype() == nd::float32);
}

BOOST_AUTO_TEST_SUITE_END()
