// The interpreter of PTX: rules of single instructions against independent formulas, divergence, and every detector on
// a fault that is planted in the PTX that NVRTC makes of a correct kernel.
#include <boost/test/unit_test.hpp>

#include <bit>
#include <cfenv>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <functional>

#include <catena/ndarray/cuda/compiler/compiler.h>
#include <catena/tests/support/cuda_device/driver_calls.h>

namespace {

using namespace cuda_device;

// A kernel of PTX.
struct Ptx {
  cu_module module = nullptr;
  cu_function function = nullptr;

  Ptx(const std::string& text, const char* name) {
    if (STATUS(module_load_data, &module, text.c_str()) != cu_success) return;
    CU(module_get_function, &function, module, name);
  }
  Ptx(const Ptx&) = delete;
  Ptx& operator=(const Ptx&) = delete;
  ~Ptx() {
    if (module != nullptr) STATUS(module_unload, module);
  }
  template <class... A> void launch(unsigned blocks, unsigned threads, A... arguments) const {
    void* parameters[] = {&arguments..., nullptr};
    CU(launch_kernel, function, blocks, 1, 1, threads, 1, 1, 0, nullptr, parameters, nullptr);
    STATUS(context_synchronize);
  }
};

// The PTX that NVRTC makes of a kernel.
std::string ptx_of(const std::string& text) {
  const nd::cuda::Module made = nd::cuda::compile({text, "kernel.cu", {}, capability(), {}});
  BOOST_REQUIRE(made.ptx);
  return made.code;
}
std::string replaced(std::string text, const std::string& what, const std::string& with, int nth = 0) {
  std::size_t at = text.find(what);
  for (; nth > 0 && at != text.npos; --nth) at = text.find(what, at + 1);
  BOOST_REQUIRE_MESSAGE(at != text.npos, "no " << what << " in\n" << text);
  return text.replace(at, what.size(), with);
}

// ---- single instructions --------------------------------------------------------------------------
// One instruction for each element: a, b and c are 64-bit values in registers of the given widths.
std::string one_instruction(const std::string& body) {
  return ".version 7.8\n.target sm_75\n.address_size 64\n"
         ".visible .entry one(.param .u64 p_in, .param .u64 p_out, .param .u32 p_n)\n{\n"
         ".reg .pred %p<4>;\n.reg .b16 %h<8>;\n.reg .b32 %r<12>;\n.reg .f32 %f<8>;\n.reg .f64 %d<8>;\n.reg .b64 "
         "%l<16>;\n"
         "ld.param.u64 %l10, [p_in];\nld.param.u64 %l11, [p_out];\nld.param.u32 %r10, [p_n];\n"
         "mov.u32 %r6, %ctaid.x;\nmov.u32 %r7, %ntid.x;\nmov.u32 %r8, %tid.x;\nmad.lo.s32 %r9, %r6, %r7, %r8;\n"
         "setp.ge.u32 %p1, %r9, %r10;\n@%p1 bra $END;\n"
         "mul.wide.u32 %l12, %r9, 24;\nadd.s64 %l12, %l10, %l12;\n"
         "ld.global.u64 %l0, [%l12];\nld.global.u64 %l1, [%l12+8];\nld.global.u64 %l2, [%l12+16];\n"
         "cvt.u32.u64 %r0, %l0;\ncvt.u32.u64 %r1, %l1;\ncvt.u32.u64 %r2, %l2;\n"
         "cvt.u16.u64 %h0, %l0;\ncvt.u16.u64 %h1, %l1;\ncvt.u16.u64 %h2, %l2;\n"
         "mov.b32 %f0, %r0;\nmov.b32 %f1, %r1;\nmov.b32 %f2, %r2;\n"
         "mov.b64 %d0, %l0;\nmov.b64 %d1, %l1;\nmov.b64 %d2, %l2;\nmov.u64 %l9, 0;\n" +
         body + "mul.wide.u32 %l13, %r9, 8;\nadd.s64 %l13, %l11, %l13;\nst.global.u64 [%l13], %l9;\n$END:\nret;\n}\n";
}

using Three = std::array<std::uint64_t, 3>;
std::vector<std::uint64_t> run_one(const std::string& body, const std::vector<Three>& values) {
  const OnDevice device;
  const cu_deviceptr in = allocate(values.size() * sizeof(Three)), out = allocate(values.size() * 8);
  CU(copy_to_device, in, values.data(), values.size() * sizeof(Three));
  const Ptx kernel(one_instruction(body), "one");
  BOOST_REQUIRE(kernel.function != nullptr);
  kernel.launch(unsigned((values.size() + 255) / 256), 256, in, out, unsigned(values.size()));
  return download<std::uint64_t>(out, values.size());
}

double value_of_half(std::uint64_t h) {
  const int exponent = int(h >> 10 & 31), fraction = int(h & 1023);
  const double magnitude = exponent == 31  ? (fraction != 0 ? NAN : INFINITY)
                           : exponent == 0 ? std::ldexp(fraction, -24)
                                           : std::ldexp(fraction + 1024, exponent - 25);
  return (h & 0x8000) != 0 ? -magnitude : magnitude;
}
// The nearest half by looking at all of them; ties: the even one.
std::uint64_t nearest_half(double v) {
  std::uint64_t best = 0;
  for (std::uint64_t h = 0; h < 0x7c00; ++h) {
    const double now = std::fabs(value_of_half(h) - std::fabs(v)), then = std::fabs(value_of_half(best) - std::fabs(v));
    if (now < then || (now == then && (h & 1) == 0)) best = h;
  }
  return best | (std::signbit(v) ? 0x8000 : 0);
}

}  // namespace

BOOST_AUTO_TEST_CASE(conversions_of_half_precision) {
  std::vector<Three> all;
  for (std::uint64_t h = 0; h < 65536; ++h) all.push_back({h, 0, 0});
  const std::vector<std::uint64_t> wide =
      run_one("cvt.f32.f16 %f3, %h0;\nmov.b32 %r3, %f3;\ncvt.u64.u32 %l9, %r3;\n", all);
  std::size_t wrong = 0;
  for (std::uint64_t h = 0; h < 65536; ++h) {
    const bool nan = (h & 0x7fff) > 0x7c00;
    const auto expected = nan ? 0x7fffffffu : std::bit_cast<std::uint32_t>(float(value_of_half(h)));
    wrong += wide[h] != expected;
  }
  BOOST_CHECK_EQUAL(wrong, 0u);

  // Values between two halves, at the middle of them, and beside it.
  std::vector<Three> floats;
  for (std::uint64_t h = 1; h < 0x7bff; h += 61) {
    const float middle = float((value_of_half(h) + value_of_half(h + 1)) / 2);
    for (float v : {middle, std::nextafter(middle, 0.0f), std::nextafter(middle, 1e9f), -middle})
      floats.push_back({std::bit_cast<std::uint32_t>(v), 0, 0});
  }
  const std::vector<std::uint64_t> narrow = run_one("cvt.rn.f16.f32 %h3, %f0;\ncvt.u64.u16 %l9, %h3;\n", floats);
  for (std::size_t k = 0; k < floats.size(); ++k) {
    const float v = std::bit_cast<float>(std::uint32_t(floats[k][0]));
    BOOST_REQUIRE_EQUAL(narrow[k], nearest_half(v));
  }
  // Overflow, infinity, NaN and the sign of zero.
  const auto bits = [](float v) { return Three{std::bit_cast<std::uint32_t>(v), 0, 0}; };
  const std::vector<std::uint64_t> special =
      run_one("cvt.rn.f16.f32 %h3, %f0;\ncvt.u64.u16 %l9, %h3;\n",
              {bits(65519), bits(65520), bits(-INFINITY), bits(NAN), bits(-0.0f), bits(-NAN)});
  const std::vector<std::uint64_t> expected = {0x7bff, 0x7c00, 0xfc00, 0x7fff, 0x8000, 0x7fff};
  BOOST_CHECK_EQUAL_COLLECTIONS(special.begin(), special.end(), expected.begin(), expected.end());
}

BOOST_AUTO_TEST_CASE(conversions_to_integers_clamp) {
  const auto f = [](float v) { return Three{std::bit_cast<std::uint32_t>(v), 0, 0}; };
  const auto convert = [&](const std::string& form, const std::string& to, const std::vector<Three>& values) {
    return run_one(
        "cvt." + form + " " + to + ", %f0;\n" + (to[1] == 'r' ? "cvt.u64.u32 %l9, %r3;\n" : "mov.b64 %l9, %l3;\n"),
        values);
  };
  const std::vector<Three> values = {f(2.5f), f(-2.5f), f(3e9f), f(-3e9f), f(NAN), f(5e9f), f(-0.7f)};
  using List = std::vector<std::uint64_t>;
  BOOST_TEST(convert("rzi.s32.f32", "%r3", values) == (List{2, 0xfffffffe, 0x7fffffff, 0x80000000, 0, 0x7fffffff, 0}),
             boost::test_tools::per_element());
  BOOST_TEST(
      convert("rni.s32.f32", "%r3", values) == (List{2, 0xfffffffe, 0x7fffffff, 0x80000000, 0, 0x7fffffff, 0xffffffff}),
      boost::test_tools::per_element());
  BOOST_TEST(
      convert("rmi.s32.f32", "%r3", values) == (List{2, 0xfffffffd, 0x7fffffff, 0x80000000, 0, 0x7fffffff, 0xffffffff}),
      boost::test_tools::per_element());
  BOOST_TEST(convert("rpi.u32.f32", "%r3", values) == (List{3, 0, 3000000000u, 0, 0, 0xffffffff, 0}),
             boost::test_tools::per_element());
  BOOST_TEST(convert("rzi.s64.f32", "%l3", {f(NAN), f(1e30f), f(-1e30f)}) ==
                 (List{0x8000000000000000u, 0x7fffffffffffffffu, 0x8000000000000000u}),
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(rounding_modes) {
  std::vector<Three> values;
  for (int k = 1; k < 200; ++k)
    values.push_back(
        {std::bit_cast<std::uint32_t>(float(k) * 0.37f), std::bit_cast<std::uint32_t>(float(k) * -1.913f), 0});
  for (const auto& [word, mode] : {std::pair{"rn", FE_TONEAREST}, std::pair{"rz", FE_TOWARDZERO},
                                   std::pair{"rm", FE_DOWNWARD}, std::pair{"rp", FE_UPWARD}}) {
    const std::vector<std::uint64_t> results =
        run_one("div." + std::string(word) + ".f32 %f3, %f0, %f1;\nmov.b32 %r3, %f3;\ncvt.u64.u32 %l9, %r3;\n", values);
    for (std::size_t k = 0; k < values.size(); ++k) {
      // The quotient of floats in long double, rounded once more, is the quotient rounded once.
      const auto a = (long double)std::bit_cast<float>(std::uint32_t(values[k][0]));
      const auto b = (long double)std::bit_cast<float>(std::uint32_t(values[k][1]));
      const long double exact = a / b;
      float expected = float(exact);
      if (mode == FE_TOWARDZERO && std::fabs((long double)expected) > std::fabs(exact))
        expected = std::nextafter(expected, 0.0f);
      if (mode == FE_DOWNWARD && expected > exact) expected = std::nextafter(expected, -INFINITY);
      if (mode == FE_UPWARD && expected < exact) expected = std::nextafter(expected, INFINITY);
      BOOST_REQUIRE_EQUAL(results[k], std::bit_cast<std::uint32_t>(expected));
    }
  }
}

BOOST_AUTO_TEST_CASE(integers_and_bits) {
  const std::vector<Three> values = {{0x80000000u, 0xffffffffu, 7}, {0x12345678, 0x9abcdef0, 0x3}, {5, 0, 9}};
  using List = std::vector<std::uint64_t>;
  const auto run = [&](const std::string& line) { return run_one(line + "\ncvt.u64.u32 %l9, %r3;\n", values); };
  BOOST_TEST(run("mul.hi.s32 %r3, %r0, %r1;") == (List{0, 0xf8cc93d6, 0}), boost::test_tools::per_element());
  BOOST_TEST(run("mul.hi.u32 %r3, %r0, %r1;") == (List{0x7fffffff, 0x0b00ea4e, 0}), boost::test_tools::per_element());
  BOOST_TEST(run("prmt.b32 %r3, %r0, %r1, 0x4567;") == (List{0xffffffff, 0xf0debc9a, 0}),
             boost::test_tools::per_element());
  BOOST_TEST(run("shf.l.wrap.b32 %r3, %r0, %r1, %r2;") == (List{0xffffffc0, 0xd5e6f780, 0}),
             boost::test_tools::per_element());
  BOOST_TEST(run("lop3.b32 %r3, %r0, %r1, %r2, 0x96;") == (List{0x7ffffff8, 0x8888888b, 0xc}),
             boost::test_tools::per_element());
  BOOST_TEST(run("bfe.s32 %r3, %r0, 4, 8;") == (List{0, 0x67, 0}), boost::test_tools::per_element());
  BOOST_TEST(run("bfe.s32 %r3, %r0, 28, 8;") == (List{0xfffffff8, 1, 0}), boost::test_tools::per_element());
  BOOST_TEST(run("bfi.b32 %r3, %r2, %r0, 8, 4;") == (List{0x80000700, 0x12345378, 0x905}),
             boost::test_tools::per_element());
  BOOST_TEST(
      run("mad.lo.cc.u32 %r3, %r0, %r1, %r1;\nmadc.hi.u32 %r3, %r0, %r1, 0;") == (List{0x80000000, 0x0b00ea4e, 0}),
      boost::test_tools::per_element());
}

// ---- approximate instructions ---------------------------------------------------------------------
namespace {

using Wide = long double;

// A form with the error that the PTX ISA (section 9.7.3) allows, from the operands, the exact result and the unit in
// the last place of that. Where it allows none but names a format (the forms of 1.11.20 bits), that of float32 in the
// format.
struct Approximation {
  const char* form;
  Wide (*exact)(Wide a, Wide b);
  Wide (*allowed)(Wide a, Wide exact, Wide unit);
  double low, high;
  int digits = 23;  // of the result's fraction
};
const Approximation kApproximations[] = {
    {"ex2.approx.ftz.f32", [](Wide a, Wide) { return std::exp2(a); }, [](Wide, Wide, Wide u) { return 2.5L * u; }, -20,
     20},
    {"lg2.approx.f32", [](Wide a, Wide) { return std::log2(a); },
     [](Wide a, Wide e, Wide) { return 0x1p-22L * (a > 0.5 && a < 2 ? 1 : std::fabs(e)); }, 0.01, 9},
    {"sin.approx.f32", [](Wide a, Wide) { return std::sin(a); }, [](Wide, Wide, Wide) { return std::exp2(-20.5L); }, -6,
     6},
    {"cos.approx.f32", [](Wide a, Wide) { return std::cos(a); }, [](Wide, Wide, Wide) { return std::exp2(-20.5L); }, -6,
     6},
    {"tanh.approx.f32", [](Wide a, Wide) { return std::tanh(a); },
     [](Wide, Wide e, Wide) { return 0x1p-11L * std::fabs(e); }, -4, 4},
    {"rcp.approx.ftz.f32", [](Wide a, Wide) { return 1 / a; }, [](Wide, Wide, Wide u) { return u; }, 0.01, 9},
    {"rsqrt.approx.f32", [](Wide a, Wide) { return 1 / std::sqrt(a); },
     [](Wide, Wide e, Wide) { return std::exp2(-22.9L) * e; }, 0.01, 9},
    {"sqrt.approx.f32", [](Wide a, Wide) { return std::sqrt(a); }, [](Wide, Wide e, Wide) { return 0x1p-23L * e; },
     0.01, 9},
    {"div.approx.f32", [](Wide a, Wide b) { return a / b; }, [](Wide, Wide, Wide u) { return 2 * u; }, -5, 5},
    {"div.full.f32", [](Wide a, Wide b) { return a / b; }, [](Wide, Wide, Wide u) { return 2 * u; }, -5, 5},
    {"rcp.approx.ftz.f64", [](Wide a, Wide) { return 1 / a; }, [](Wide, Wide, Wide u) { return u; }, 0.01, 9, 20},
    {"rsqrt.approx.ftz.f64", [](Wide a, Wide) { return 1 / std::sqrt(a); },
     [](Wide, Wide e, Wide) { return std::exp2(-19.9L) * e; }, 0.01, 9, 20},
    {"rsqrt.approx.f64", [](Wide a, Wide) { return 1 / std::sqrt(a); }, [](Wide, Wide, Wide u) { return u; }, 0.01, 9,
     52},
};

bool perturbs() { return std::getenv("CATENA_SOFTWARE_CUDA_PTX_PERTURB") != nullptr; }
Wide unit_of(Wide v, int digits) { return std::ldexp(Wide(1), std::ilogb(v) - digits); }

void check(const Approximation& c) {
  const bool wide = std::strstr(c.form, "f64") != nullptr;
  constexpr std::size_t n = 2000;
  std::vector<Three> operands;
  for (std::size_t k = 0; k < n; ++k) {
    const double a = c.low + (c.high - c.low) * (double(k) + 0.37) / n, b = 0.3 + double(k * 7919 % n) / n;
    operands.push_back({wide ? std::bit_cast<std::uint64_t>(a) : std::bit_cast<std::uint32_t>(float(a)),
                        std::bit_cast<std::uint32_t>(float(b)), 0});
  }
  const std::string second = std::string(c.form).starts_with("div") ? ", %f1" : "";
  const std::vector<std::uint64_t> results =
      run_one(c.form + (wide ? std::string(" %d3, %d0;\nmov.b64 %l9, %d3;\n")
                             : " %f3, %f0" + second + ";\nmov.b32 %r3, %f3;\ncvt.u64.u32 %l9, %r3;\n"),
              operands);
  double worst = 0;
  std::size_t moved = 0, unfinished = 0;
  for (std::size_t k = 0; k < n; ++k) {
    const auto value = [&](std::uint64_t bits) {
      return wide ? Wide(std::bit_cast<double>(bits)) : Wide(std::bit_cast<float>(std::uint32_t(bits)));
    };
    const std::uint64_t used = c.digits == 20 ? operands[k][0] & 0xffffffff00000000u : operands[k][0];
    const Wide a = value(used), exact = c.exact(a, Wide(std::bit_cast<float>(std::uint32_t(operands[k][1]))));
    const Wide off = std::fabs(value(results[k]) - exact), unit = unit_of(exact, c.digits);
    worst = std::max(worst, double(off / c.allowed(a, exact, unit)));
    moved += off > unit * 0.5000001L;
    unfinished += c.digits == 20 && (results[k] & 0xffffffffu) != 0;
  }
  BOOST_TEST(worst <= 1, c.form << " is off by " << worst << " of what is allowed");
  BOOST_TEST(unfinished == 0u, c.form << " has more bits than its format");
  // Exact and rounded once, or, in the mode of inexact approximations, most results are not.
  BOOST_TEST((perturbs() ? moved > n / 2 : moved == 0), c.form << ": " << moved << " of " << n << " results are moved");
}

}  // namespace

BOOST_AUTO_TEST_CASE(approximations_are_within_their_documented_error) {
  for (const Approximation& c : kApproximations) check(c);
}

BOOST_AUTO_TEST_CASE(approximations_of_special_operands) {
  // libdevice builds powers of two of float64 from ex2.approx of whole numbers: exact in every mode.
  std::vector<Three> whole;
  for (int k = -126; k < 128; ++k) whole.push_back({std::bit_cast<std::uint32_t>(float(k)), 0, 0});
  const std::vector<std::uint64_t> powers =
      run_one("ex2.approx.ftz.f32 %f3, %f0;\nmov.b32 %r3, %f3;\ncvt.u64.u32 %l9, %r3;\n", whole);
  for (int k = -126; k < 128; ++k)
    BOOST_CHECK_EQUAL(powers[std::size_t(k + 126)], std::bit_cast<std::uint32_t>(std::ldexp(1.0f, k)));
  const auto d = [](double v) { return Three{std::bit_cast<std::uint64_t>(v), 0, 0}; };
  const std::vector<Three> special = {d(INFINITY), d(-INFINITY), d(0), d(-0.0), d(4e-310), d(-4e-310), d(NAN), d(-NAN)};
  constexpr std::uint64_t infinity = 0x7ff0000000000000u, sign = std::uint64_t(1) << 63, nan = 0x7fffffff00000000u;
  using List = std::vector<std::uint64_t>;
  BOOST_TEST(run_one("rcp.approx.ftz.f64 %d3, %d0;\nmov.b64 %l9, %d3;\n", special) ==
                 (List{0, sign, infinity, infinity | sign, infinity, infinity | sign, nan, nan}),
             boost::test_tools::per_element());
  BOOST_TEST(run_one("rsqrt.approx.ftz.f64 %d3, %d0;\nmov.b64 %l9, %d3;\n", special) ==
                 (List{0, nan, infinity, infinity | sign, infinity, infinity | sign, nan, nan}),
             boost::test_tools::per_element());
}

// libdevice makes functions of float64 from approximations of 20 bits: with those at the ends of their allowed errors
// the functions must still keep the errors that the CUDA C++ Programming Guide has for them, in units from the rounded
// result ("Mathematical Functions", table of double precision).
BOOST_AUTO_TEST_CASE(functions_of_float64_keep_their_documented_errors) {
  struct Function {
    const char* call;
    int units;
    Wide (*exact)(Wide);
  };
  const Function functions[] = {
      {"tanh(x)", 1, [](Wide x) { return std::tanh(x); }},
      {"erf(x)", 2, [](Wide x) { return std::erf(x); }},
      {"log(x)", 1, [](Wide x) { return std::log(x); }},
      {"log1p(x)", 1, [](Wide x) { return std::log1p(x); }},
      {"atan(x)", 2, [](Wide x) { return std::atan(x); }},
      {"asinh(x)", 3, [](Wide x) { return std::asinh(x); }},
      {"cosh(x)", 1, [](Wide x) { return std::cosh(x); }},
      {"tan(x)", 2, [](Wide x) { return std::tan(x); }},
      {"cbrt(x)", 1, [](Wide x) { return std::cbrt(x); }},
      {"rsqrt(x)", 1, [](Wide x) { return 1 / std::sqrt(x); }},
      {"erfc(x)", 5, [](Wide x) { return std::erfc(x); }},
      {"lgamma(x)", 4, [](Wide x) { return std::lgamma(x); }},
      {"tgamma(x)", 10, [](Wide x) { return std::tgamma(x); }},
  };
  constexpr std::size_t n = 1000, count = std::size(functions);
  std::string text =
      "extern \"C\" __global__ void k(const double* in, double* out) {\n"
      "  const int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
      "  if (i >= 1000) return;\n"
      "  const double x = in[i];\n";
  for (std::size_t f = 0; f < count; ++f)
    text += "  out[" + std::to_string(f * n) + " + i] = " + functions[f].call + ";\n";
  const OnDevice device;
  const cu_deviceptr in = allocate(n * 8), out = allocate(n * count * 8);
  std::vector<double> x;
  for (std::size_t k = 0; k < n; ++k) x.push_back(0.013 + 6.1 * double(k) / n);
  CU(copy_to_device, in, x.data(), n * 8);
  const Ptx kernel(ptx_of(text + "}\n"), "k");
  BOOST_REQUIRE(kernel.function != nullptr);
  kernel.launch(4, 256, in, out);
  const std::vector<double> results = download<double>(out, n * count);
  for (std::size_t f = 0; f < count; ++f) {
    double worst = 0;
    for (std::size_t k = 0; k < n; ++k) {
      const Wide exact = functions[f].exact(x[k]);
      worst = std::max(worst, double(std::fabs(results[f * n + k] - exact) / unit_of(exact, 52)));
    }
    BOOST_TEST(worst <= functions[f].units + 0.5, functions[f].call << " is off by " << worst << " units");
  }
}

// ---- divergence -----------------------------------------------------------------------------------
BOOST_AUTO_TEST_CASE(lanes_diverge_and_meet) {
  const OnDevice device;
  const Ptx kernel(
      ptx_of("extern \"C\" __global__ void k(int* out) {\n"
             "  int i = threadIdx.x, sum = 0;\n"
             "  for (int j = 0; j < i % 7; ++j) { if ((i + j) % 3 == 0) continue; if (j == 5) break; sum += j * i; }\n"
             "  if (i % 5 == 1) return;\n"
             "  out[i] = sum + __popc(__ballot_sync(__activemask(), i % 2));\n"
             "}\n"),
      "k");
  const cu_deviceptr out = allocate(64 * 4);
  kernel.launch(1, 64, out);
  const std::vector<int> values = download<int>(out, 64);
  for (int i = 0; i < 64; ++i) {
    if (i % 5 == 1) continue;
    int sum = 0, odd = 0;
    for (int j = 0; j < i % 7; ++j) {
      if ((i + j) % 3 == 0) continue;
      if (j == 5) break;
      sum += j * i;
    }
    for (int lane = i / 32 * 32; lane < i / 32 * 32 + 32; ++lane) odd += lane % 5 != 1 && lane % 2;
    BOOST_CHECK_EQUAL(values[std::size_t(i)], sum + odd);
  }
}

BOOST_AUTO_TEST_CASE(a_warp_barrier_waits_for_the_other_path) {
  const OnDevice device;
  const Ptx kernel(ptx_of("extern \"C\" __global__ void k(int* out) {\n"
                          "  __shared__ int s[32];\n"
                          "  int i = threadIdx.x;\n"
                          "  if (i < 16) { s[i] = i * 3; __syncwarp(); out[i] = s[i + 16]; }\n"
                          "  else { s[i] = i * 5; __syncwarp(); out[i] = s[i - 16]; }\n"
                          "}\n"),
                   "k");
  const cu_deviceptr out = allocate(32 * 4);
  kernel.launch(1, 32, out);
  const std::vector<int> values = download<int>(out, 32);
  for (int i = 0; i < 32; ++i) BOOST_CHECK_EQUAL(values[std::size_t(i)], i < 16 ? (i + 16) * 5 : (i - 16) * 3);
}

// ---- planted faults -------------------------------------------------------------------------------
namespace {

constexpr const char* kSum =
    "extern \"C\" __global__ void k(const int* in, int* out) {\n"
    "  __shared__ int part[4];\n"
    "  int v = in[threadIdx.x];\n"
    "  for (int d = 16; d > 0; d /= 2) v += __shfl_down_sync(0xffffffffu, v, d);\n"
    "  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = v;\n"
    "  __syncthreads();\n"
    "  if (threadIdx.x == 0) out[0] = part[0] + part[1] + part[2] + part[3];\n"
    "}\n";

// The result of the kernel above, and what was reported.
struct Outcome {
  int sum = 0;
  std::string report;
};
Outcome run_sum(const std::string& text, std::size_t bytes = 128 * 4, unsigned shift = 0, unsigned threads = 128) {
  OnDevice device;
  device.control.set_report_mode(OnReport::error);
  Outcome outcome;
  const cu_deviceptr in = allocate(bytes + 16), out = allocate(4);
  std::vector<int> values(bytes / 4);
  for (std::size_t k = 0; k < values.size(); ++k) values[k] = int(k);
  CU(copy_to_device, in, values.data(), bytes);
  {
    const Ptx kernel(text, "k");
    if (kernel.function != nullptr) kernel.launch(1, threads, in + shift, out);
    if (kernel.function == nullptr || STATUS(context_synchronize) != cu_success)
      outcome.report = device.control.last_report();
  }
  device.control.clear_faults();
  if (outcome.report.empty()) outcome.sum = download<int>(out, 1)[0];
  return outcome;
}
void check_reported(const Outcome& outcome, const std::string& part) {
  BOOST_CHECK_MESSAGE(outcome.report.find(part) != std::string::npos, "reported: " << outcome.report);
}
int sum_of_all() { return 127 * 128 / 2; }

}  // namespace

BOOST_AUTO_TEST_CASE(the_kernel_without_a_fault) {
  const Outcome outcome = run_sum(ptx_of(kSum));
  BOOST_CHECK_EQUAL(outcome.report, "");
  BOOST_CHECK_EQUAL(outcome.sum, sum_of_all());
}

BOOST_AUTO_TEST_CASE(a_barrier_removed_is_a_race_or_an_unwritten_read) {
  const std::string text = ptx_of(kSum);
  check_reported(run_sum(replaced(text, "bar.sync", "//bar.sync")), "of shared memory that");
  // Where the bytes have been written before, it is a race between two warps.
  const std::string twice = replaced(kSum, "__syncthreads();",
                                     "__syncthreads();\nv += part[threadIdx.x / 32 ^ 1];\n"
                                     "__syncthreads();\nif (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = v;\n"
                                     "__syncthreads();");
  BOOST_CHECK_EQUAL(run_sum(ptx_of(twice)).report, "");
  check_reported(run_sum(replaced(ptx_of(twice), "bar.sync", "//bar.sync", 1)), "without a barrier in between");
}

BOOST_AUTO_TEST_CASE(a_shuffle_turned_round_gives_another_sum) {
  const Outcome outcome = run_sum(replaced(ptx_of(kSum), "shfl.sync.down", "shfl.sync.up"));
  BOOST_CHECK(!outcome.report.empty() || outcome.sum != sum_of_all());
}

BOOST_AUTO_TEST_CASE(a_member_mask_without_the_lane_itself) {
  check_reported(run_sum(replaced(ptx_of(replaced(kSum, "0xffffffffu", "0x7fffffffu")), "", "")), "member mask");
}

BOOST_AUTO_TEST_CASE(members_that_never_arrive) {
  const std::string text =
      replaced(kSum, "  for (int d",
               "  if (threadIdx.x % 32 == 7) { out[0] = 1; while (in[0] == 0) __syncwarp(0x81); }\n  for (int d");
  check_reported(run_sum(ptx_of(text)), "never reach it");
}

BOOST_AUTO_TEST_CASE(a_divergent_barrier) {
  const std::string text =
      replaced(kSum, "  __syncthreads();", "  if (in[threadIdx.x] % 2) { __syncthreads(); out[0] = v; }");
  check_reported(run_sum(ptx_of(text)), "divergent barrier");
}

BOOST_AUTO_TEST_CASE(an_access_past_an_allocation) { check_reported(run_sum(ptx_of(kSum), 300), "PAST the end"); }

BOOST_AUTO_TEST_CASE(a_misaligned_access) { check_reported(run_sum(ptx_of(kSum), 512, 2), "not aligned"); }

BOOST_AUTO_TEST_CASE(an_access_past_shared_memory) {
  check_reported(run_sum(replaced(ptx_of(kSum), "[16]", "[12]")), "static and 0 dynamic bytes exist");
}

BOOST_AUTO_TEST_CASE(an_unknown_instruction_is_named_with_its_line) {
  const Outcome outcome = run_sum(replaced(ptx_of(kSum), "bar.sync", "frobnicate.sync"));
  check_reported(outcome, "unknown instruction: frobnicate.sync");
  check_reported(outcome, "line ");
}

// ---- bits without a value -------------------------------------------------------------------------
namespace {

// Structures with padding, copied as a whole within shared memory; the statement at the end sees the copies.
std::string copies(const std::string& members, const std::string& at_the_end) {
  return "struct Padded { " + members +
         " };\n"
         "extern \"C\" __global__ void k(const int* in, int* out) {\n"
         "  __shared__ Padded a[128], b[128];\n"
         "  const int i = threadIdx.x;\n"
         "  a[i].tag = 1;\n"
         "  a[i].number = in[i];\n"
         "  __syncthreads();\n"
         "  b[i] = a[i ^ 1];\n"
         "  __syncthreads();\n"
         "  if (i != 0) return;\n  " +
         at_the_end + "\n}\n";
}
const std::string kAddNumbers =
    "double s = 0; for (int j = 0; j < 128; ++j) s += b[j].number * b[j].tag; out[0] = int(s);";

// One thread writes the first byte of shared memory and reads four.
std::string reads_unwritten(const std::string& body) {
  return ".version 7.8\n.target sm_75\n.address_size 64\n"
         ".visible .entry k(.param .u64 p_in, .param .u64 p_out)\n{\n"
         ".reg .pred %p<4>;\n.reg .b16 %h<4>;\n.reg .b32 %r<8>;\n.reg .f32 %f<4>;\n.reg .b64 %l<4>;\n"
         ".shared .align 4 .b8 s[8];\n.local .align 4 .b8 depot[8];\n"
         "ld.param.u64 %l0, [p_out];\nmov.u32 %r0, 5;\nst.shared.u8 [s], %r0;\nld.shared.u32 %r1, [s];\n" +
         body + "\nst.global.u32 [%l0], %r3;\nret;\n}\n";
}

}  // namespace

BOOST_AUTO_TEST_CASE(padding_that_is_copied_is_no_read_of_it) {
  for (const char* members : {"char tag; double number;", "char tag; int number;", "short number; bool tag;",
                              "long long number; int tag;", "char tag; double number; char more[120];"}) {
    const Outcome outcome = run_sum(ptx_of(copies(members, kAddNumbers)));
    BOOST_CHECK_MESSAGE(outcome.report.empty(), members << " reported: " << outcome.report);
    BOOST_CHECK_EQUAL(outcome.sum, sum_of_all());
  }
}

BOOST_AUTO_TEST_CASE(a_member_that_was_not_written_is_found_in_the_copy) {
  const std::string text = ptx_of(copies("char tag; double number;", kAddNumbers));
  check_reported(run_sum(replaced(text, "st.shared.f64", "//st.shared.f64")), "uses what was read at");
  // Where nothing is computed with it, too.
  const std::string stored = ptx_of(copies("char tag; int number;", "out[0] = b[5].number;"));
  BOOST_CHECK_EQUAL(run_sum(stored).sum, 4);
  check_reported(run_sum(replaced(stored, "st.shared.u32", "//st.shared.u32")), "writes 4 bytes of what was read at");
}

BOOST_AUTO_TEST_CASE(padding_that_is_compared_is_a_read_of_it) {
  const std::string text = copies("char tag; double number;", "out[0] = reinterpret_cast<const long long*>(b)[2] > 0;");
  check_reported(run_sum(ptx_of(text)), "uses what was read at");
}

BOOST_AUTO_TEST_CASE(bits_without_a_value_are_followed) {
  const std::pair<const char*, int> defined[] = {
      {"and.b32 %r3, %r1, 255;", 5},
      {"or.b32 %r3, %r1, 0xffffff00;", int(0xffffff05)},
      {"shl.b32 %r2, %r1, 24;\nshr.u32 %r3, %r2, 24;", 5},
      {"bfe.u32 %r3, %r1, 0, 8;", 5},
      {"bfi.b32 %r3, %r1, 0, 8, 8;", 5 << 8},
      {"prmt.b32 %r3, %r1, 0, 0x4440;", 5},
      {"cvt.u32.u8 %r3, %r1;", 5},
      {"xor.b32 %r2, %r1, 1;\nnot.b32 %r2, %r2;\nand.b32 %r3, %r2, 255;", 251},
      {"mov.b64 %l1, {%r0, %r1};\nmov.b64 {%r2, %r4}, %l1;\nadd.s32 %r2, %r2, 1;\nand.b32 %r3, %r4, 255;", 5},
      {"setp.eq.s32 %p1, %r0, 5;\nselp.b32 %r2, %r0, %r1, %p1;\nadd.s32 %r3, %r2, 1;", 6},
      {"shfl.sync.idx.b32 %r2, %r1, 0, 31, 1;\nand.b32 %r3, %r2, 255;", 5},
      {"st.shared.u32 [s+4], %r1;\nld.shared.u8 %r2, [s+4];\nadd.s32 %r3, %r2, 1;", 6},
      {"st.local.u32 [depot], %r1;\nld.local.u8 %r2, [depot];\nadd.s32 %r3, %r2, 1;", 6},
      {"st.local.u32 [depot], %r1;\nst.local.u32 [depot], %r0;\nld.local.u32 %r2, [depot];\nadd.s32 %r3, %r2, 1;", 6},
      {"mov.u32 %r1, 7;\nadd.s32 %r3, %r1, 1;", 8},
      {"mov.u32 %r3, %r1;\nand.b32 %r3, %r3, 255;", 5},
  };
  for (const auto& [body, value] : defined) {
    const Outcome outcome = run_sum(reads_unwritten(body), 512, 0, 1);
    BOOST_CHECK_MESSAGE(outcome.report.empty(), body << " reported: " << outcome.report);
    BOOST_CHECK_EQUAL(outcome.sum, value);
  }
  for (const char* body : {
           "add.s32 %r3, %r1, 0;",
           "setp.eq.s32 %p1, %r1, 5;\nselp.b32 %r3, 1, 0, %p1;",
           "cvt.rn.f32.u32 %f1, %r1;\nmov.b32 %r3, %f1;",
           "and.b32 %r2, %r1, 511;\nadd.s32 %r3, %r2, 0;",
           "or.b32 %r2, %r1, 255;\nadd.s32 %r3, %r2, 0;",
           "shr.u32 %r2, %r1, 8;\nadd.s32 %r3, %r2, 0;",
           "cvt.s32.s16 %r2, %r1;\nadd.s32 %r3, %r2, 0;",
           "xor.b32 %r2, %r1, %r1;\nadd.s32 %r3, %r2, 0;",
           "mov.b64 %l1, {%r0, %r1};\nadd.s64 %l1, %l1, 1;\ncvt.u32.u64 %r3, %l1;",
           "setp.ne.s32 %p1, %r0, 5;\nselp.b32 %r2, %r0, %r1, %p1;\nadd.s32 %r3, %r2, 1;",
           "shfl.sync.idx.b32 %r2, %r1, 0, 31, 1;\nadd.s32 %r3, %r2, 0;",
           "st.shared.u32 [s+4], %r1;\nld.shared.u8 %r2, [s+5];\nadd.s32 %r3, %r2, 1;",
           "st.local.u32 [depot], %r1;\nld.local.u8 %r2, [depot+1];\nadd.s32 %r3, %r2, 1;",
           "ld.shared.u32 %r3, [s+4];",
           "cvt.u64.u32 %l1, %r1;\nadd.s64 %l0, %l0, %l1;\nmov.u32 %r3, 0;",
           "ld.shared.u32 %r3, [%r1];",
           "atom.shared.add.u32 %r3, [s], 1;",
       }) {
    BOOST_TEST_CONTEXT(body)
    check_reported(run_sum(reads_unwritten(body), 512, 0, 1), "of shared memory that the block has not written");
  }
}

BOOST_AUTO_TEST_CASE(the_alignment_of_what_a_parameter_points_to_is_not_its_own) {
  const OnDevice device;
  const Ptx kernel(
      ".version 7.8\n.target sm_75\n.address_size 64\n"
      ".visible .entry k(.param .u32 p_n, .param .u64 .ptr .global .align 1 p_out)\n{\n.reg .b32 %r<2>;\n.reg .b64 "
      "%l<2>;\nld.param.u32 %r0, [p_n];\nld.param.u64 %l0, [p_out];\nst.global.u32 [%l0], %r0;\nret;\n}\n",
      "k");
  const cu_deviceptr out = allocate(4);
  kernel.launch(1, 1, 77u, out);
  BOOST_CHECK_EQUAL(download<int>(out, 1)[0], 77);
}
