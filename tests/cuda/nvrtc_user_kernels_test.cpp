// The sources of user-defined kernels, compiled by the real compiler in every form that operands can have. Needs no GPU
// and no driver.
#include <boost/test/unit_test.hpp>

#include <cstdlib>
#include <iostream>

#include <catena/kernels/base/error.h>
#include <catena/ndarray/cuda/compiler/compiler.h>
#include <catena/ndarray/cuda/runtime/library.h>
#include <catena/ndarray/user_kernel/user_kernel.h>
#include <catena/tests/support/user_intrinsic_calls.h>

namespace {

using namespace nd;
using Form = BoundParameter::Form;

bool compiler_found() {
  try {
    cuda::nvrtc();
    return true;
  } catch (const RuntimeError& e) {
    const char* toolkit = std::getenv("CATENA_TEST_CUDA_TOOLKIT");
    BOOST_TEST((toolkit == nullptr || *toolkit == '\0'),
               "there is a toolkit in " << toolkit << " and no compiler: " << e.what());
    std::cout << "skipped: " << e.what() << "\n";
    return false;
  }
}

KernelText text_of(KernelText::Kind kind, const std::string& in, const std::string& out) {
  KernelText text;
  text.kind = kind;
  text.name = "user";
  text.parameters = parse_parameters("user", in);
  text.nin = text.parameters.size();
  for (KernelParameter& p : parse_parameters("user", out, true)) text.parameters.push_back(p);
  return text;
}

// Compiles for the architectures; nothing may spill, and what is left in the log is not an error of ours.
void check(const KernelText& text, const KernelVariant& variant) {
  const GeneratedUserKernel generated = generate_user_kernel(text, variant);
  for (const int arch : {80, 90, cuda::nvrtc().architectures.back()}) {
    const cuda::Module module =
        cuda::compile({.source = generated.source, .name = describe(text), .arch = arch, .avoid_spills = true});
    BOOST_TEST(!module.code.empty());
    BOOST_TEST(module.resources.size() == (generated.second.empty() ? 1u : 2u));
    BOOST_TEST(!cuda::spills(module.resources), generated.entry);
    if (!generated.accumulator.empty()) BOOST_TEST(module.code.find(generated.accumulator) != std::string::npos);
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(nvrtc_user_kernels)

BOOST_AUTO_TEST_CASE(elementwise_kernels_of_every_dtype_and_form) {
  if (!compiler_found()) return;
  KernelText text = text_of(KernelText::Kind::elementwise, "T x, raw T table, T s", "T z, raw T out");
  text.preamble = "__device__ T same(T v) { return v; }";
  text.loop_prep = "long long seen = 0";
  text.after_loop = "if (seen > n) out[1] = T(0)";
  text.operation =
      "z = same(x) + table[i] + s; seen += _ind.size(); const int at[2] = {0, 1}; out[i] = max(T(z), T(table[at])); "
      "++seen";
  for (int d = 0; d < catena::kNumDtypes; ++d) {
    const auto dtype = static_cast<Dtype>(d);
    for (const bool index32 : {true, false}) {
      KernelVariant variant;
      variant.rank = index32 ? 1 : 3;
      variant.index32 = index32;
      variant.parameters.push_back({dtype, index32 ? Form::flat : Form::strided, 0});
      variant.parameters.push_back({dtype, index32 ? Form::raw_contiguous : Form::raw, 2});
      variant.parameters.push_back({dtype, Form::scalar, 0});
      variant.parameters.push_back({dtype, Form::strided, 0});
      variant.parameters.push_back({dtype, Form::raw_contiguous, static_cast<std::uint8_t>(index32 ? 0 : 1)});
      if (dtype == bool_) text.operation = "z = x && table[i] && s && out[0]";
      else if (d == 1)
        text.operation =
            "z = same(x) + table[i] + s; seen += _ind.size(); const int at[2] = {0, 1}; out[i] = z + table[at]";
      else if (catena::is_complex_dtype(dtype)) text.operation = "z = same(x) * table[i] + conj(s); out[i] = z - x / s";
      check(text, variant);
    }
  }
}

BOOST_AUTO_TEST_CASE(functions_that_kernels_call) {
  if (!compiler_found()) return;
  for (const Dtype dtype : {float16, bfloat16}) {
    KernelText text =
        text_of(KernelText::Kind::elementwise, "T x, T y, int32 k", "T z, int64 w, raw T sum, raw int64 whole");
    text.operation =
        "z = sqrt(x) * exp(y) + INFINITY * M_PI - NAN + rsqrt(x) + pow(x, y) + min(x, y) + max(x, 1) + min(2.5, y) + "
        "abs(x);"
        "z += 1; z -= x; z *= 2.0; z /= y; ++z; --z; z = copysign(x, y); z = nextafter(x, y); z = k; T t = x < y ? x : "
        "y; z = t;"
        "w = isnan(x) + isinf(x) + isfinite(y) + signbit(x) + (x == y) + (x < 1) + int(x); atomicAdd(&sum[0], x); "
        "atomicAdd(&whole[0], w);"
        "ptrdiff_t p = i; size_t q = n; w += p + q; w = min(w, i) + max(k, 3) + __popc(k)";
    KernelVariant variant;
    for (const Dtype d : {dtype, dtype, int32, dtype, int64}) variant.parameters.push_back({d, Form::flat, 0});
    for (const Dtype d : {dtype, int64}) variant.parameters.push_back({d, Form::raw_contiguous, 1});
    check(text, variant);
  }
}

BOOST_AUTO_TEST_CASE(intrinsics_and_a_parameter_called_n) {
  if (!compiler_found()) return;
  KernelText text = text_of(KernelText::Kind::elementwise, "float64 x, int32 n", "float64 y");
  text.operation = test::every_intrinsic_of_x() + "; y += n";
  KernelVariant variant;
  for (const Dtype d : {float64, int32, float64}) variant.parameters.push_back({d, Form::flat, 0});
  check(text, variant);
}

BOOST_AUTO_TEST_CASE(reductions_of_every_form) {
  if (!compiler_found()) return;
  KernelText text = text_of(KernelText::Kind::reduction, "T x, U scale, raw T table", "T y, int64 count");
  text.map = "x * scale + table[_j]";
  text.reduce = "a + b";
  text.post_map = "y = sqrt(float(a)); count = _in_ind.size() / _out_ind.size() + _i + _out_ind.get()[0]";
  text.identity = "0";
  for (const Dtype dtype : {int8, int64, float16, bfloat16, float32, float64})
    for (const bool index32 : {true, false})
      for (const std::string type : {"", "double"}) {
        text.reduce_type = type;
        KernelVariant variant;
        variant.rank = index32 ? 1 : 2;
        variant.reduced_rank = index32 ? 2 : 1;
        variant.index32 = index32;
        variant.parameters.push_back({dtype, Form::strided, 0});
        variant.parameters.push_back({float32, Form::scalar, 0});
        variant.parameters.push_back({dtype, index32 ? Form::raw : Form::raw_contiguous, 3});
        variant.parameters.push_back({dtype, Form::strided, 0});
        variant.parameters.push_back({int64, Form::strided, 0});
        check(text, variant);
      }
}

BOOST_AUTO_TEST_CASE(errors_show_the_source) {
  if (!compiler_found()) return;
  KernelText text = text_of(KernelText::Kind::elementwise, "T x", "T z");
  text.operation = "x = 1; z = x";
  KernelVariant variant;
  for (int k = 0; k < 2; ++k) variant.parameters.push_back({float32, Form::flat, 0});
  try {
    check(text, variant);
    BOOST_ERROR("an input was written");
  } catch (const CompileError& e) {
    BOOST_TEST(std::string(e.what()).find("ElementwiseKernel user: NVRTC cannot compile it for sm_80") == 0u, e.what());
    BOOST_TEST(std::string(e.what()).find("x = 1; z = x") != std::string::npos);
  }
}

BOOST_AUTO_TEST_SUITE_END()
