// PyTorch's names of devices, seeds, settings and memory of CUDA. Without a CUDA device they answer for one that is not
// there.
#include <catena/autograd/ndarray_backend/torch_cuda.h>

#include <vector>

#include <catena/autograd/config.h>
#include <catena/autograd/ndarray_backend/torch_creation.h>
#include <catena/kernels/base/parallel.h>
#include <catena/ndarray/ndarray.h>
#include <catena/nn/clipping.h>
#include <catena/tests/support/training_fixtures.h>

using namespace test;
namespace cuda = autograd::cuda;
namespace backends = autograd::backends;

namespace {

const auto each = boost::test_tools::per_element();
std::vector<double> drawn() { return values(autograd::rand({3}).data()); }

}  // namespace

BOOST_AUTO_TEST_SUITE(torch_cuda)

BOOST_AUTO_TEST_CASE(devices_by_name) {
  BOOST_TEST((autograd::device("cpu") == autograd::Device{}));
  BOOST_TEST((autograd::device("cuda:1") == autograd::Device{autograd::Device::Kind::cuda, 1}));
  BOOST_TEST((autograd::device(autograd::Device{}) == autograd::Device{}));
  BOOST_CHECK_THROW(autograd::device("gpu"), catena::ValueError);
  BOOST_TEST(cuda::is_available() == nd::cuda::available());
  BOOST_TEST((cuda::device_count() > 0) == cuda::is_available());
  if (cuda::is_available()) {
    BOOST_TEST(cuda::current_device() >= 0);
    BOOST_TEST(!cuda::get_device_name(0).empty());
  } else {
    BOOST_CHECK_THROW(cuda::current_device(), catena::RuntimeError);
    BOOST_CHECK_THROW(cuda::get_device_name(0), catena::RuntimeError);
  }
  cuda::synchronize();
}

BOOST_AUTO_TEST_CASE(seeds_and_states) {
  for (const auto set :
       {+[](std::uint64_t s) { cuda::manual_seed(s); }, +[](std::uint64_t s) { cuda::manual_seed_all(s); },
        +[](std::uint64_t s) { autograd::manual_seed(s); }}) {
    set(7);
    const std::vector<double> first = drawn(), second = drawn();
    set(7);
    BOOST_TEST(drawn() == first, each);
    BOOST_TEST(drawn() == second, each);
    set(8);
    BOOST_TEST(drawn() != first);
  }
  const auto state = autograd::get_rng_state();
  const std::vector<double> now = drawn();
  drawn();
  autograd::set_rng_state(state);
  BOOST_TEST(drawn() == now, each);
}

BOOST_AUTO_TEST_CASE(settings) {
  const autograd::using_config scope({.cudnn_deterministic = false, .use_cudnn = "auto"});
  backends::cudnn::deterministic = true;
  BOOST_TEST(bool(backends::cudnn::deterministic));
  BOOST_TEST(autograd::config().cudnn_deterministic);
  BOOST_TEST(autograd::are_deterministic_algorithms_enabled());
  autograd::use_deterministic_algorithms(false);
  BOOST_TEST(!backends::cudnn::deterministic);
  BOOST_TEST(!autograd::config().cudnn_deterministic);
  backends::cudnn::enabled = false;
  BOOST_TEST((autograd::config().use_cudnn == autograd::UseCudnn::kNever));
  BOOST_TEST(!backends::cudnn::enabled);
  backends::cudnn::enabled = true;
  BOOST_TEST((autograd::config().use_cudnn == autograd::UseCudnn::kAuto));
  backends::cudnn::benchmark = true;
  BOOST_TEST(backends::cudnn::benchmark);
  const int threads = autograd::get_num_threads();
  BOOST_TEST(threads == catena::max_threads());
  autograd::set_num_threads(1);
  BOOST_TEST(catena::max_threads() == 1);
  autograd::set_num_threads(threads);
  BOOST_TEST(autograd::get_num_threads() == threads);
  const bool before = backends::cuda::matmul::allow_tf32;
  autograd::set_float32_matmul_precision("high");
  BOOST_TEST(bool(backends::cuda::matmul::allow_tf32));
  BOOST_TEST(bool(backends::cudnn::allow_tf32));
  BOOST_TEST(autograd::get_float32_matmul_precision() == "high");
  autograd::set_float32_matmul_precision("highest");
  BOOST_TEST(!backends::cuda::matmul::allow_tf32);
  BOOST_TEST(autograd::get_float32_matmul_precision() == "highest");
  BOOST_CHECK_THROW(autograd::set_float32_matmul_precision("low"), catena::ValueError);
  backends::cuda::matmul::allow_tf32 = before;
  {
    const cuda::amp::autocast half;
    BOOST_TEST((autograd::autocast_dtype() == autograd::Dtype::float16));
  }
  {
    const cuda::amp::autocast none(false);
    BOOST_TEST(!autograd::autocast_dtype().has_value());
  }
  const cuda::amp::autocast named({.dtype = autograd::Dtype::bfloat16});
  BOOST_TEST((autograd::autocast_dtype() == autograd::Dtype::bfloat16));
}

BOOST_AUTO_TEST_CASE(memory_of_the_pool) {
  cuda::empty_cache();
  cuda::reset_peak_memory_stats();
  if (!cuda::is_available()) {
    BOOST_TEST(cuda::memory_allocated() == 0u);
    BOOST_TEST(cuda::max_memory_allocated(0) == 0u);
    BOOST_TEST(cuda::memory_reserved() + cuda::max_memory_reserved() == 0u);
    return;
  }
  constexpr std::size_t kBytes = std::size_t(8) << 20;
  const std::size_t before = cuda::memory_allocated(0);
  {
    const nd::DeviceScope device(autograd::device("cuda"));
    const nd::Array x = nd::zeros({std::int64_t(kBytes / 8)}, nd::float64);
    BOOST_TEST(cuda::memory_allocated(0) >= before + kBytes);
  }
  cuda::synchronize();
  BOOST_TEST(cuda::max_memory_allocated(0) >= before + kBytes);
  BOOST_TEST(cuda::max_memory_reserved(0) >= cuda::max_memory_allocated(0));
  BOOST_TEST(cuda::memory_reserved(0) >= cuda::memory_allocated(0));
}

BOOST_AUTO_TEST_CASE(norms_are_numbers_and_tensors) {
  Variable w(floats({3, 4}, {2}));
  autograd::sum(w * w).backward();
  const auto norm = nn::utils::clip_grad_norm_(std::vector<Variable>{w}, 1.0);
  BOOST_TEST(std::abs(norm - 10) < 1e-6);
  BOOST_TEST(std::abs(norm.item<float>() - 10) < 1e-5f);
  BOOST_TEST(norm.item() == double(norm));
  const double left = nn::utils::get_total_norm({w.grad()});
  BOOST_TEST(std::abs(left - 1) < 1e-6);
}

BOOST_AUTO_TEST_SUITE_END()
