// Plans of Fourier transforms: which ones are kept, the limits, and cuFFT's calls on a GPU.
#include <boost/test/unit_test.hpp>

#include <optional>
#include <string>
#include <vector>

#include <catena/ndarray/cuda/runtime/graph.h>
#include <catena/ndarray/cuda/vendor/cufft.h>
#include <catena/ndarray/ndarray.h>
#include <catena/ndarray/routines/fft_plans.h>
#include <catena/tests/support/cuda_device/control.h>
#include <catena/tests/support/ndarray_values.h>

using nd::Array;
using nd::fft::PlanCache;
using test::contains;
namespace config = nd::fft::config;

namespace {

bool on_cpu() { return nd::current_device() == nd::cpu_device; }
// Plans are those of the CPU, or of cuFFT.
bool have_plans() { return on_cpu() || nd::cuda::uses_cufft(); }

// Empties the plans of the current device and restores the limits afterwards.
struct CleanCache {
  CleanCache() : size(cache.get_size()), bytes(cache.get_memsize()) { cache.clear(); }
  ~CleanCache() {
    cache.set_size(size);
    cache.set_memsize(bytes);
    cache.clear();
  }
  PlanCache cache = config::get_plan_cache();
  std::int64_t size, bytes;
};

Array ramp(std::int64_t n) { return nd::arange(n, nd::float64) + 1; }

}  // namespace

BOOST_AUTO_TEST_SUITE(fft_plans)

BOOST_FIXTURE_TEST_CASE(plans_are_kept_per_length_and_dtype, CleanCache) {
  BOOST_TEST((cache.device() == nd::current_device()));
  BOOST_TEST(cache.get_size() == (on_cpu() ? 32 : 16));
  BOOST_TEST(cache.get_memsize() == (on_cpu() ? 268435456 : -1));
  BOOST_TEST(cache.get_curr_size() == 0);
  if (!have_plans()) return;
  for (int k = 0; k < 3; ++k) nd::fft::fft(ramp(12));
  BOOST_TEST(cache.get_curr_size() == 1);
  const std::int64_t bytes = cache.get_curr_memsize();
  BOOST_TEST(bytes > 0);
  nd::fft::fft(ramp(12).astype(nd::float32));
  nd::fft::fft(ramp(20));
  BOOST_TEST(cache.get_curr_size() == 3);
  BOOST_TEST(cache.get_curr_memsize() > bytes);
  // The tables of the CPU serve any number of rows.
  nd::fft::fft(nd::ones({2, 12}));
  BOOST_TEST(cache.get_curr_size() == (on_cpu() ? 3 : 4));
  config::clear_plan_cache();
  BOOST_TEST(cache.get_curr_size() == 0);
  BOOST_TEST(cache.get_curr_memsize() == 0);
}

BOOST_FIXTURE_TEST_CASE(the_plans_that_were_used_last_stay, CleanCache) {
  if (!have_plans()) return;
  config::set_plan_cache_size(2);
  BOOST_TEST(config::get_plan_cache_size() == 2);
  for (const std::int64_t n : {30, 40, 30, 50}) nd::fft::fft(ramp(n));  // 40 goes
  BOOST_TEST(cache.get_curr_size() == 2);
  const std::string info = cache.info();
  BOOST_TEST(contains(info, "(50,)"), info);
  BOOST_TEST(contains(info, "(30,)"), info);
  BOOST_TEST(!contains(info, "(40,)"), info);
  BOOST_TEST(info.find("(50,)") < info.find("(30,)"));
  cache.set_size(1);
  BOOST_TEST(cache.get_curr_size() == 1);
  BOOST_TEST(contains(cache.info(), "(50,)"));
  // Without plans the results are the same.
  const auto expected = nd::fft::fft(ramp(50)).real().to_vector<double>();
  cache.set_size(0);
  BOOST_TEST(cache.get_curr_size() == 0);
  BOOST_TEST((nd::fft::fft(ramp(50)).real().to_vector<double>() == expected));
  BOOST_TEST(cache.get_curr_size() == 0);
  BOOST_TEST(cache.get_curr_memsize() == 0);
}

BOOST_FIXTURE_TEST_CASE(a_limit_of_bytes, CleanCache) {
  if (!have_plans()) return;
  nd::fft::fft(ramp(64));
  const std::int64_t one = cache.get_curr_memsize();
  nd::fft::fft(ramp(60));
  config::set_plan_cache_max_memsize(one);
  BOOST_TEST(config::get_plan_cache_max_memsize() == one);
  BOOST_TEST(cache.get_curr_size() == 1);
  BOOST_TEST(contains(cache.info(), "(60,)"));
  // The plan that was used last stays even if it is larger.
  nd::fft::fft(ramp(4096));
  BOOST_TEST(cache.get_curr_size() == 1);
  BOOST_TEST(cache.get_curr_memsize() > one);
}

BOOST_FIXTURE_TEST_CASE(limits_and_numbers_as_text, CleanCache) {
  cache.set_memsize(-1);
  cache.set_size(5);
  BOOST_TEST(contains(cache.info(), "plans of Fourier transforms on " + to_string(cache.device()) +
                                        ": 0 of at most 5, bytes: 0 of any number\n"),
             cache.info());
  if (!have_plans()) return;
  nd::fft::rfft(nd::ones({3, 10}, nd::float32));
  BOOST_TEST(contains(cache.info(), on_cpu() ? "\n  complex64 (5,): " : "\n  real to complex64 (10,), 3 rows: "),
             cache.info());
  cache.show_info();
  config::show_plan_cache_info();
}

BOOST_AUTO_TEST_CASE(wrong_limits) {
  BOOST_TEST(test::message_of<nd::ValueError>([] { config::set_plan_cache_size(-2); }) ==
             "set_size: the limit is -2, must be at least 0, or -1 for no limit");
  BOOST_TEST(test::message_of<nd::ValueError>([] { config::set_plan_cache_max_memsize(-5); }) ==
             "set_memsize: the limit is -5, must be at least 0, or -1 for no limit");
}

// ---- cuFFT ----------------------------------------------------------------------------------------
BOOST_FIXTURE_TEST_CASE(one_call_transforms_all_rows_and_axes, CleanCache) {
  if (on_cpu() || !cuda_device::Control::available()) return;
  const cuda_device::Control control;
  const auto calls_of = [&](const char* entry, auto&& f) {
    const auto before = control.calls(entry);
    f();
    return control.calls(entry) - before;
  };
  const Array x = nd::random::uniform(-1, 1, {5, 3, 4, 6}), z = x.astype(nd::complex128);
  BOOST_TEST(calls_of("cufftExecZ2Z", [&] { nd::fft::fft(z); }) == 1u);
  BOOST_TEST(calls_of("cufftExecZ2Z", [&] { nd::fft::fft2(z); }) == 1u);
  BOOST_TEST(calls_of("cufftExecZ2Z", [&] { nd::fft::fftn(z, {.axes = {0, 1, 3}}); }) == 1u);
  BOOST_TEST(calls_of("cufftExecZ2Z", [&] { nd::fft::fftn(z); }) == 2u);  // three axes, and the fourth
  BOOST_TEST(calls_of("cufftExecD2Z", [&] { nd::fft::rfft2(x); }) == 1u);
  BOOST_TEST(calls_of("cufftExecZ2D", [&] { nd::fft::irfft2(z); }) == 1u);
  BOOST_TEST(calls_of("cufftExecC2C", [&] { nd::fft::ifftn(z.astype(nd::complex64), {.axes = {2, 1}}); }) == 1u);
  BOOST_TEST(calls_of("cufftExecR2C", [&] { nd::fft::rfft(x.astype(nd::float32)); }) == 1u);
  BOOST_TEST(calls_of("cufftExecC2R", [&] { nd::fft::irfft(z.astype(nd::complex64)); }) == 1u);
  BOOST_TEST(calls_of("cufftMakePlanMany64", [&] { nd::fft::fft2(z), nd::fft::ifft2(z); }) == 0u);  // one plan for both
  // An axis that occurs twice is transformed twice.
  BOOST_TEST(calls_of("cufftExecZ2Z", [&] { nd::fft::fftn(z, {.axes = {1, 1}}); }) == 2u);
  const nd::cuda::OwnTransforms own;
  BOOST_TEST(calls_of("cufftExecZ2Z", [&] { nd::fft::fftn(z); }) == 0u);
}

BOOST_FIXTURE_TEST_CASE(four_axes_and_lengths_are_those_of_own_kernels, CleanCache) {
  if (on_cpu()) return;
  const Array x = nd::random::uniform(-1, 1, {2, 3, 4, 6}),
              z = x + nd::random::uniform(-1, 1, {2, 3, 4, 6}) * nd::complex128_t{0, 1};
  const auto transforms = [&] {
    return std::vector<Array>{nd::fft::fftn(z),
                              nd::fft::ifftn(z, {.norm = "ortho"}),
                              nd::fft::rfftn(x, {.norm = "forward"}),
                              nd::fft::irfftn(z),
                              nd::fft::fftn(z, {.s = nd::Shape{5, 2, 7}, .axes = {2, 0, 3}}),
                              nd::fft::rfftn(x, {.s = nd::Shape{4, 5}, .axes = {1, 2}}),
                              nd::fft::irfftn(z, {.s = nd::Shape{3, 9}, .axes = {0, 1}, .norm = "ortho"})};
  };
  const std::vector<Array> got = transforms();
  const nd::cuda::OwnTransforms own;
  const std::vector<Array> expected = transforms();
  for (std::size_t k = 0; k < got.size(); ++k) BOOST_TEST_CONTEXT("transform " << k) {
      BOOST_TEST(got[k].shape() == expected[k].shape());
      BOOST_TEST((got[k].dtype() == expected[k].dtype()));
      BOOST_TEST(bool(nd::allclose(got[k], expected[k], {.rtol = 1e-12, .atol = 1e-12})));
    }
}

// The input of a transform to real numbers is not overwritten, whatever the library does with its own.
BOOST_AUTO_TEST_CASE(inputs_stay) {
  const Array z = ramp(9).astype(nd::complex128).reshape(1, 9);
  const auto before = z.real().to_vector<double>();
  nd::fft::irfft(z);
  nd::fft::irfft2(z);
  nd::fft::hfft(z);
  BOOST_TEST((z.real().to_vector<double>() == before));
}

// A graph repeats the call after its plan has been dropped.
BOOST_FIXTURE_TEST_CASE(a_recorded_transform, CleanCache) {
  if (on_cpu()) return;
  const Array x = ramp(16);
  std::optional<Array> y;
  nd::cuda::Graph graph([&] { y = nd::fft::rfft(x); });
  cache.clear();
  nd::copyto(x, ramp(16) * 2);
  graph.replay();
  BOOST_TEST((y->real().to_vector<double>() == nd::fft::rfft(x).real().to_vector<double>()));
}

BOOST_AUTO_TEST_SUITE_END()
