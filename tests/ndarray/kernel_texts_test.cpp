// The contents of the texts of ElementwiseKernel, ReductionKernel, create_ufunc and create_reduction_func: the body of
// a function of one element, complex numbers, and the spellings of CuPy's texts.
#include <catena/ndarray/user_kernel/elementwise_kernel.h>

#include <cmath>
#include <complex>
#include <span>

#include <catena/ndarray/user_kernel/create_ufunc.h>
#include <catena/ndarray/user_kernel/reduction_kernel.h>
#include <catena/tests/support/message_of.h>
#include <catena/tests/support/ndarray_values.h>

namespace {

using nd::Array;
using nd::ElementwiseKernel;
using nd::ReductionKernel;
using test::check_values;
using test::message_of;
using C = std::complex<double>;
using C32 = std::complex<float>;
using Long = std::complex<long double>;
using namespace std::complex_literals;

// The values that texts give `variable` for each element of x: one kernel for all of them. Row k is that of text k.
Array values_of(const std::vector<std::string>& texts, const Array& x, const std::string& in, const std::string& type,
                const std::string& variable) {
  std::string all;
  for (std::size_t k = 0; k < texts.size(); ++k)
    all +=
        catena::concat("{ ", type, " ", variable, "; { ", texts[k], "; } all[", k, " * n + i] = ", variable, "; }\n");
  const Array result = nd::empty({std::int64_t(texts.size()), x.size()}, x.dtype());
  ElementwiseKernel(in, catena::concat("raw ", nd::name_of(x.dtype()), " all"), all, "many_texts")(x, result);
  return result;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(kernel_texts)

// Many positions per thread, so that one which ended the loop would be seen.
BOOST_AUTO_TEST_CASE(the_end_of_one_element) {
  const Array x = nd::arange(100'000) % 7;
  const auto expected = [&](int last) {
    std::vector<std::int64_t> y = x.to_vector<std::int64_t>();
    for (std::int64_t& v : y) v = v > 5 ? -1 : v == 2 ? last : v * 10;
    return y;
  };
  const std::vector<std::int64_t> all = expected(7);
  const char* end[] = {"return", "continue", "break"};
  for (const char* word : end) {
    const std::string text = catena::concat("if (x > 5) { y = -1; ", word, "; } if (x == 2) { y = 7; ", word,
                                            "; } for (int k = 0; k < 9; ++k) { if (k == 3) break; if (k > 0) continue; "
                                            "y = x * 10; }");
    const ElementwiseKernel kernel("T x", "T y", text, catena::concat("ends_by_", word));
    BOOST_TEST((nd::Array(kernel(x)).to_vector<std::int64_t>() == all), word);
    const Array strided = nd::zeros({100'000, 2}, nd::int64);
    kernel(x, strided(nd::ellipsis, 1));
    BOOST_TEST((strided(nd::ellipsis, 1).copy().to_vector<std::int64_t>() == all), word);
  }
}

BOOST_AUTO_TEST_CASE(outputs_of_an_element_that_ended_early_are_stored_and_converted) {
  const Array x = nd::arange(5000).astype(nd::float64);
  for (const char* word : {"return", "continue"}) {
    const nd::ufunc f =
        nd::create_ufunc(catena::concat("early_", word), {"d->d"},
                         catena::concat("out0 = in0; if (in0 < 3) { out0 = 7; ", word, "; } out0 += 1"));
    check_values<double>(nd::Array(f(x))(nd::Slice(0, 5)), {7, 7, 7, 4, 5});
    for (const nd::Dtype t : {nd::float64, nd::float32, nd::int16, nd::float16}) {
      const Array out = nd::full({5000}, 100, {.dtype = t});
      f(x, {.out = out, .casting = nd::Casting::unsafe});
      check_values<double>(out(nd::Slice(0, 5)), {7, 7, 7, 4, 5});
    }
  }
  // The statement behind a reduction is such a body, too.
  for (const char* word : {"return", "continue"}) {
    const ReductionKernel bounded("T x", "T y", "x", "a + b", catena::concat("y = a; if (a < 10) ", word, "; y = 10"),
                                  "0", catena::concat("bounded_", word));
    check_values<double>(bounded({nd::arange(12.).reshape(4, 3)}, {.axis = 1}), {3, 10, 10, 10});
  }
}

BOOST_AUTO_TEST_CASE(code_around_the_loop) {
  const ElementwiseKernel counted("T x, raw int32 counts", "T y",
                                  "if (x < 0) return; ++seen; if (x > 100) { y = limit; continue; } y = x + limit",
                                  "counted",
                                  {.preamble = "#define LIMIT 7",
                                   .loop_prep = "int seen = 0; const T limit = LIMIT;  // per thread",
                                   .after_loop = "atomicAdd((int*)&counts[0], seen)"});
  const Array x = nd::arange(-50, 150).astype(nd::float32), counts = nd::zeros({1}, nd::int32),
              y = nd::full({200}, -1, {.dtype = nd::float32});
  counted(x, counts, y);
  BOOST_TEST(counts.item<int>() == 150);
  BOOST_TEST(y(0).item<float>() == -1);
  BOOST_TEST(y(50).item<float>() == 7);
  BOOST_TEST(y(150).item<float>() == 107);
  BOOST_TEST(y(151).item<float>() == 7);
}

BOOST_AUTO_TEST_CASE(layout_of_a_text) {
  const Array x = nd::arange(4.);
  const auto y = [&](const char* text) {
    return nd::Array(ElementwiseKernel("T x", "T y", text, "laid_out")(x)).to_vector<double>();
  };
  const std::vector<double> doubled{0, 2, 4, 6};
  for (const char* text :
       {"y = 2 * x", "y = 2 * x;", "y = 2 * x  // comment", "y = 2 * x;  /* comment */", "\n  y = x;\n  y += x;\n",
        "y = 0;\n#pragma unroll\nfor (int k = 0; k < 2; ++k) y += x;", "#define TWICE(v) (2 * (v))\ny = TWICE(x);",
        "auto twice = [](T v) { return 2 * v; }; y = twice(x);", "T pair[2] = {x, x}; y = pair[i % 2] + pair[0]",
        "struct Two { T v; } two{x}; y = two.v * 2", "y = x; goto end; y = 9; end: y += x",
        "switch ((int)x) { case 0: y = 0; break; default: y = x + x; }", "y = x > 0 ? x + x : 0", "y = n / 2 * x",
        "y = _ind.size() / 2 * x", "y = x + i"})
    BOOST_TEST((y(text) == doubled), text);
}

// The functions that a real text of CuPy has, of numbers of two types among them.
BOOST_AUTO_TEST_CASE(reals) {
  const std::vector<double> values{1, 2, 3};
  const std::pair<const char*, double (*)(double)> cases[] = {
      {"y = max(x, 2)", [](double v) { return std::max(v, 2.); }},
      {"y = max(2, x)", [](double v) { return std::max(v, 2.); }},
      {"y = min(x, 1.5)", [](double v) { return std::min(v, 1.5); }},
      {"y = min(x, 1)", [](double) { return 1.; }},
      {"y = max(x, i)", [](double v) { return v; }},
      {"y = min(i, 1) + max(i, 1u) * 0 + min((short)5, 2) - 2", [](double v) { return std::min(v - 1, 1.); }},
      {"y = CUDART_PI * x", [](double v) { return 3.14159265358979323846 * v; }},
      {"y = M_PI_2 * x + M_SQRT2 + M_E",
       [](double v) { return 1.57079632679489661923 * v + std::sqrt(2.) + std::exp(1.); }},
      {"y = x < INFINITY && x < CUDART_INF && NAN != NAN && CUDART_NAN != CUDART_NAN ? x : 0",
       [](double v) { return v; }},
      {"y = sin(x) + pow(x, 2) + erf(x) + lgamma(x) + tgamma(x)",
       [](double v) { return std::sin(v) + v * v + std::erf(v) + std::lgamma(v) + std::tgamma(v); }},
      {"y = fma(x, x, x) + rsqrt(x) * 0 + copysign(x, -1.)", [](double v) { return v * v + v - v; }},
      {"y = real(x) + imag(x) + conj(x)", [](double v) { return 2 * v; }},
      {"int64_t q = (int64_t)x; uint8_t r = 2; size_t s = r; y = q * s", [](double v) { return 2 * v; }},
      {"y = clock() >= 0 && clock64() >= 0 ? x : 0", [](double v) { return v; }},
  };
  std::vector<std::string> texts;
  for (const auto& c : cases) texts.emplace_back(c.first);
  for (const nd::Dtype t : {nd::float64, nd::float32}) {
    const std::string type = t == nd::float64 ? "double" : "float";
    const Array all = values_of(texts, nd::array(values).astype(t), "T x", type, "y").astype(nd::float64);
    const double bound = t == nd::float64 ? 1e-14 : 1e-6;
    for (std::size_t c = 0; c < texts.size(); ++c)
      for (std::size_t k = 0; k < values.size(); ++k) {
        const double y = all(std::int64_t(c), std::int64_t(k)).item<double>(), right = cases[c].second(values[k]);
        BOOST_TEST(std::abs(y - right) <= bound * std::abs(right), texts[c] << " of " << values[k] << ": " << y);
      }
  }
}

namespace {

using ComplexCase = std::pair<const char*, C (*)(C)>;

const std::vector<C> kNumbers = {1. + 2i,    3. - 4i,      -0.5 + 0.25i, -2. - 1i,    0.75 + 0i, -1.5 + 0i,
                                 0. + 1.25i, 1e-3 + 2e-3i, 0.6 + 0.8i,   2.5 + 0.01i, 30. + 1i};

void check_close(const Array& result, const std::vector<C>& z, const char* text, C (*f)(C)) {
  const std::vector<C> got = result.astype(nd::complex128).to_vector<C>();
  const double bound = result.dtype() == nd::complex128 ? 4e-15 : 2e-6;
  for (std::size_t k = 0; k < z.size(); ++k) {
    const C right = f(z[k]);
    BOOST_TEST(std::abs(got[k] - right) <= bound * (std::abs(right) + bound),
               text << " of " << z[k] << ": " << got[k] << " instead of " << right);
  }
}

void check_cases(std::span<const ComplexCase> cases) {
  std::vector<std::string> texts;
  for (const ComplexCase& c : cases) texts.emplace_back(c.first);
  for (const nd::Dtype t : {nd::complex128, nd::complex64}) {
    const std::string type(nd::name_of(t));
    const Array z = nd::array(kNumbers).astype(t), all = values_of(texts, z, type + " z", type, "w");
    const std::vector<C> numbers = z.astype(nd::complex128).to_vector<C>();
    for (std::size_t c = 0; c < cases.size(); ++c)
      check_close(all(std::int64_t(c)).copy(), numbers, cases[c].first, cases[c].second);
  }
}

}  // namespace

BOOST_AUTO_TEST_CASE(functions_of_complex_numbers) {
  constexpr ComplexCase cases[] = {
      {"w = z.real()", [](C z) { return C(z.real()); }},
      {"w = imag(z)", [](C z) { return C(z.imag()); }},
      {"w = abs(z)", [](C z) { return C(std::abs(z)); }},
      {"w = std::abs(z) + thrust::abs(z)", [](C z) { return C(2 * std::abs(z)); }},
      {"w = arg(z)", [](C z) { return C(std::arg(z)); }},
      {"w = norm(z)", [](C z) { return C(std::norm(z)); }},
      {"w = conj(z)", [](C z) { return std::conj(z); }},
      {"w = proj(z)", [](C z) { return z; }},
      {"w = polar(abs(z), arg(z))", [](C z) { return z; }},
      {"w = exp(z)", [](C z) { return std::exp(z); }},
      {"w = std::exp(z)", [](C z) { return std::exp(z); }},
      {"w = expm1(z)", [](C z) { return C(std::exp(Long(z)) - 1.L); }},
      {"w = log(z)", [](C z) { return std::log(z); }},
      {"w = log10(z)", [](C z) { return std::log10(z); }},
      {"w = log2(z)", [](C z) { return std::log(z) / std::log(2.); }},
      {"w = log1p(z)", [](C z) { return C(std::log(Long(z) + 1.L)); }},
      {"w = sqrt(z)", [](C z) { return std::sqrt(z); }},
      {"w = pow(z, 2)", [](C z) { return z * z; }},
      {"w = pow(z, -3.0)", [](C z) { return 1. / (z * z * z); }},
      {"w = pow(z, 0.5)", [](C z) { return std::sqrt(z); }},
      {"w = pow(2, z)", [](C z) { return std::exp(z * std::log(2.)); }},
      {"w = pow(z, complex<double>(0.5, 1))", [](C z) { return std::exp(C(0.5, 1) * std::log(z)); }},
      {"w = sin(z)", [](C z) { return std::sin(z); }},
      {"w = cos(z)", [](C z) { return std::cos(z); }},
      {"w = tan(z)", [](C z) { return std::tan(z); }},
      {"w = sinh(z)", [](C z) { return std::sinh(z); }},
      {"w = cosh(z)", [](C z) { return std::cosh(z); }},
      {"w = tanh(z)", [](C z) { return std::tanh(z); }},
      {"w = asin(z)", [](C z) { return std::asin(z); }},
      {"w = acos(z)", [](C z) { return std::acos(z); }},
      {"w = atan(z)", [](C z) { return std::atan(z); }},
      {"w = asinh(z)", [](C z) { return std::asinh(z); }},
      {"w = acosh(z)", [](C z) { return std::acosh(z); }},
      {"w = atanh(z)", [](C z) { return std::atanh(z); }},
      {"w = min(z, complex<double>(1, 5))",
       [](C z) { return z.real() < 1 || (z.real() == 1 && z.imag() < 5) ? z : C(1, 5); }},
      {"w = max(z, z * 0 + 1)", [](C z) { return z.real() > 1 || (z.real() == 1 && z.imag() > 0) ? z : C(1); }},
      {"w = isnan(z) + isinf(z) * 2 + isfinite(z) * 4", [](C) { return C(4); }},
  };
  check_cases(cases);
}

BOOST_AUTO_TEST_CASE(arithmetic_of_complex_numbers) {
  constexpr ComplexCase cases[] = {
      {"w = z * z + 1.0", [](C z) { return z * z + 1.; }},
      {"w = 2 * z", [](C z) { return 2. * z; }},
      {"w = z / 2", [](C z) { return z / 2.; }},
      {"w = 1 / z - 3u", [](C z) { return 1. / z - 3.; }},
      {"w = 2.5f - z", [](C z) { return 2.5 - z; }},
      {"w = -z + +z + z", [](C z) { return z; }},
      {"w = z; w += 1; w -= z; w *= z; w /= 2.0; w += w", [](C z) { return z; }},
      {"w = complex<double>(1, 2) * z", [](C z) { return C(1, 2) * z; }},
      {"w = complex<float>(1, 2) * z", [](C z) { return C(1, 2) * z; }},
      {"w = complex64(z) * 0 + complex128(z)", [](C z) { return z; }},
      {"w = thrust::complex<double>(1, 2)", [](C) { return C(1, 2); }},
      {"w.real(z.imag()); w.imag(z.real())", [](C z) { return C(z.imag(), z.real()); }},
      {"w = z == z && z != 0 && !(z == 1.5f) ? z : z * 0", [](C z) { return z; }},
      {"w = 3", [](C) { return C(3); }},
      {"complex128 pair[2] = {z, 1.0}; w = pair[0] * pair[1]", [](C z) { return z; }},
      {"w = exp(complex<double>(0, 1) * M_PI) * z", [](C z) { return -z; }},
  };
  check_cases(cases);
  // The wider type, as among real numbers; a placeholder may stand for a complex type.
  const Array narrow = nd::array(std::vector<C32>{{1, 2}, {3, -4}});
  const ElementwiseKernel sizes("T z", "int32 n0, int32 n1, int32 n2",
                                "n0 = sizeof(z * 2); n1 = sizeof(z * 2.0); n2 = sizeof(z + complex<double>(1))",
                                "complex_sizes");
  const auto bytes = sizes.call<3>(narrow);
  check_values<int>(bytes[0], {8, 8});
  check_values<int>(bytes[1], {16, 16});
  check_values<int>(bytes[2], {16, 16});
  const ElementwiseKernel half("complex64 z, float16 h", "complex64 w", "w = z * h + h", "complex_and_half");
  check_close(half(narrow, nd::full({2}, 0.5, {.dtype = nd::float16})), {{1, 2}, {3, -4}}, "z * h + h",
              [](C z) { return z * 0.5 + 0.5; });
  const double inf = HUGE_VAL;
  const Array kept = ElementwiseKernel("complex128 z", "complex128 w", "w = (z + 1) * 2.0",
                                       "keeps_infinity")(nd::array(std::vector<C>{{1, inf}, {-inf, 0}}));
  BOOST_TEST((kept.to_vector<C>() == std::vector<C>{{4, inf}, {-inf, 0}}));
}

BOOST_AUTO_TEST_CASE(complex_numbers_in_other_texts) {
  const Array z = nd::array(std::vector<C>{1. + 2i, 3. - 4i, -0.5 + 0.25i, 2. + 1i}).reshape(2, 2);
  const ReductionKernel length("complex128 z", "float64 y", "norm(z)", "a + b", "y = sqrt(a)", "0", "complex_length");
  const std::vector<double> lengths = nd::Array(length({z}, {.axis = 1})).to_vector<double>();
  BOOST_TEST(std::abs(lengths[0] - std::sqrt(30)) < 1e-14);
  const ReductionKernel product("T z", "T y", "z", "a * b", "y = a", "1", "complex_product");
  BOOST_TEST(std::abs(nd::Array(product(z)).item<C>() - (1. + 2i) * (3. - 4i) * (-0.5 + 0.25i) * (2. + 1i)) < 1e-13);
  const nd::ufunc turned = nd::create_ufunc("turned", {"F->F", "D->D"}, "out0 = in0 * in0_type(0, 1)");
  check_close(turned(z.reshape({4})), z.reshape({4}).to_vector<C>(), "turned", [](C v) { return v * 1i; });
  // Converted from and to other dtypes.
  const Array out = nd::empty({4}, nd::complex64);
  turned(nd::arange(4.), {.out = out, .dtype = nd::complex128, .casting = nd::Casting::unsafe});
  BOOST_TEST((out.to_vector<C32>() == std::vector<C32>{{0, 0}, {0, 1}, {0, 2}, {0, 3}}));
}

// ---- names --------------------------------------------------------------------------------------
BOOST_AUTO_TEST_CASE(names_of_parameters) {
  for (const char* name :
       {"new",        "class",   "and",      "xor_eq", "not",          "bitor",   "double", "this",
        "co_await",   "char8_t", "requires", "asm",    "thread_local", "alignas", "catena", "float16",
        "complex128", "ND_FN",   "i",        "_ind",   "_x",           "T"}) {
    const std::string in = catena::concat("T x, int32 ", name), out = catena::concat("T ", name),
                      raw = catena::concat("T x, raw T ", name);
    BOOST_CHECK_THROW(ElementwiseKernel(in, "T z", "z = x", "named"), nd::ValueError);
    BOOST_CHECK_THROW(ElementwiseKernel(raw, "T z", "z = x", "named"), nd::ValueError);
    BOOST_CHECK_THROW(ElementwiseKernel("T x", out, "", "named"), nd::ValueError);
    BOOST_CHECK_THROW(ReductionKernel(in, "T z", "x", "a + b", "z = a", "0", "named"), nd::ValueError);
    BOOST_CHECK_THROW(ReductionKernel("T x", out, "x", "a + b", "", "0", "named"), nd::ValueError);
  }
  BOOST_TEST(
      message_of<nd::ValueError>([] { ElementwiseKernel("T new", "T z", "z = 1", "named"); }) ==
      "ElementwiseKernel named: the parameter name new is a word of C++ or of the generated text; give it another "
      "name, such as new_");
  BOOST_TEST(message_of<nd::ValueError>([] { ReductionKernel("T x", "T a", "x", "a + b", "a = a", "0", "named"); }) ==
             "ReductionKernel named: an output cannot be named a, which is the reduced value");
}

// Every name that is accepted compiles, whatever macros and functions the headers define.
BOOST_AUTO_TEST_CASE(names_of_parameters_that_headers_use) {
  const std::vector<std::string> names = {
      "n",        "sin",       "max",      "min",    "exp",    "abs",    "NAN",      "INFINITY",  "M_PI",
      "EOF",      "NULL",      "stdin",    "uint",   "stderr", "FP_NAN", "HUGE_VAL", "size_t",    "int64_t",
      "complex",  "CUDART_PI", "real",     "thrust", "std",    "conj",   "blockDim", "threadIdx", "linux",
      "unix",     "final",     "override", "data",   "printf", "clock",  "dim3",     "import",    "atomicAdd",
      "position", "y0",        "signgam",  "size",   "end"};
  const Array x = nd::arange(3.);
  constexpr std::size_t kEach = 7;
  for (std::size_t first = 0; first < names.size(); first += kEach) {
    std::string inputs, outputs, raw, sum = "0", assigned, summed = "0";
    std::vector<nd::Operand> args, raw_args;
    const std::size_t last = std::min(first + kEach, names.size());
    for (std::size_t k = first; k < last; ++k) {
      const char* const comma = k == first ? "" : ", ";
      inputs += catena::concat(comma, "T ", names[k]);
      raw += catena::concat(comma, "raw T ", names[k]);
      outputs += catena::concat(comma, "T ", names[k]);
      sum += " + " + names[k];
      summed += " + " + names[k] + "[i]";
      assigned += names[k] + " = w + 1; ";
      args.emplace_back(x);
      raw_args.emplace_back(x);
    }
    const std::vector<double> all{0, double(last - first), 2 * double(last - first)};
    check_values(ElementwiseKernel(inputs, "T w", "w = " + sum, "accepted_inputs").call(args)[0], all);
    const Array w = nd::empty({3});  // an operand does not own its array
    raw_args.emplace_back(w);
    check_values(ElementwiseKernel(raw, "T w", "w = " + summed, "accepted_raw").call(raw_args)[0], all);
    for (const Array& out :
         ElementwiseKernel("T w", outputs, assigned, "accepted_outputs").call(std::vector<nd::Operand>{x}))
      check_values<double>(out, {1, 2, 3});
  }
  const ReductionKernel sum("T a, raw T b, T NAN", "T M_PI", "a + NAN + b[0]", "a + b", "M_PI = a", "0", "odd_names");
  BOOST_TEST(nd::Array(sum(x, nd::zeros({1}), 2)).item<double>() == 9);
}

BOOST_AUTO_TEST_SUITE_END()
