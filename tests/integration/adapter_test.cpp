// The promises of the adapter beyond the contract: devices and streams are nd's, calls allocate nothing but the result,
// overlap is resolved.
#include <boost/test/unit_test.hpp>

#include <catena/autograd/backend/backend.h>
#include <catena/catena.h>
#include <catena/kernels/registry/bind.h>
#include <catena/kernels/registry/families.h>
#include <catena/tests/support/allocations.h>
#include <catena/tests/support/backend_calls.h>

using namespace autograd;

namespace {

template <class F> long allocations_of(F&& f) {
  for (int i = 0; i < 8; ++i) f();  // fills the pool, the header cache and the static tables
  const long before = test::allocations;
  for (int i = 0; i < 100; ++i) f();
  return test::allocations - before;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(adapter)

BOOST_AUTO_TEST_CASE(it_is_the_default_backend_of_programs_that_include_catena) {
  BOOST_TEST(&default_backend() == &ndarray_backend());
  BOOST_TEST(ndarray_backend().name() == "ndarray");
  BOOST_TEST((default_backend().default_device() == nd::current_device()));
  BOOST_TEST((arrays::ones({1}).device() == nd::current_device()));
  BOOST_TEST((&Array(nd::ones({1})).backend() == &ndarray_backend()));
}

// The result of a kernel is an nd::Array to the framework, too.
BOOST_AUTO_TEST_CASE(results_of_kernels_given_as_text) {
  const nd::DeviceScope cpu(nd::cpu_device);
  const nd::ElementwiseKernel twice("T x", "T y", "y = 2 * x", "adapter_twice");
  Array a = twice(nd::ones({2}));
  BOOST_TEST(to_vector<double>(a) == (std::vector<double>{2, 2}));
  a = twice(nd::full({2}, 3.0));
  const Variable v(twice(nd::full({1}, 4.0)));
  BOOST_TEST(to_vector<double>(a) == (std::vector<double>{6, 6}));
  BOOST_TEST(to_vector<double>(v.data()) == (std::vector<double>{8}));
}

BOOST_AUTO_TEST_CASE(operations_on_small_arrays_allocate_nothing_from_the_heap) {
  if (!test::free_lists_in_use()) return;
  const nd::DeviceScope cpu(nd::cpu_device);
  const Array a = arrays::ones({10, 10}), b = arrays::ones({10}), m = arrays::ones({10, 10});
  Array c = arrays::ones({10, 10});
  BOOST_TEST(allocations_of([&] { a + m; }) == 0);
  BOOST_TEST(allocations_of([&] { a + b; }) == 0);
  BOOST_TEST(allocations_of([&] { a * 2; }) == 0);
  BOOST_TEST(allocations_of([&] { c += a; }) == 0);
  BOOST_TEST(allocations_of([&] { apply(catena::kernels::exp, {a}); }) == 0);
  BOOST_TEST(allocations_of([&] { sum(a, 0); }) == 0);
  BOOST_TEST(allocations_of([&] { row_wise(catena::kernels::softmax, {{a}}, 1); }) == 0);
  BOOST_TEST(allocations_of([&] { reshape(transpose(a), {5, 20}); }) == 0);
  BOOST_TEST(allocations_of([&] { astype(a, Dtype::float16); }) == 0);
}

BOOST_AUTO_TEST_CASE(overlapping_operands_of_every_call) {
  Array a = reshape(arrays::arange(12, Dtype::float32), {3, 4});
  // gather onto its own source
  const Array reversed = array<int>({2, 1, 0}, {3, 1});
  test::calls::gather(a, {&reversed, 1}, {0}, {3, 4}, {-1, 1}, a);
  BOOST_TEST(to_vector<float>(a) == (std::vector<float>{8, 9, 10, 11, 4, 5, 6, 7, 0, 1, 2, 3}));
  // scatter of its own elements
  test::calls::scatter(catena::ScatterMode::set, a, {&reversed, 1}, {0}, {3, 4}, {-1, 1}, *a.get());
  BOOST_TEST(to_vector<float>(a) == (std::vector<float>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}));
  // indices that are written over
  Array i = array<std::int64_t>({2, 0, 1}, {3});
  test::calls::scatter(catena::ScatterMode::set, i, {&i, 1}, {0}, {3}, {-1},
                       *array<std::int64_t>({10, 20, 30}, {3}).get());
  BOOST_TEST(to_vector<int>(i) == (std::vector<int>{20, 30, 10}));
  // rows into a shifted view of the input
  Array x = arrays::arange(6, Dtype::float32);
  const Array in = slice(x, 0, 0, 5), out = slice(x, 0, 1, 6);
  const std::vector<float> expected = to_vector<float>(row_wise(catena::kernels::softmax, {{copy(in)}}, 0)[0]);
  const Input input(*in.get());
  const auto& softmax = catena::kernels::softmax;
  test::calls::row_wise(softmax, catena::choose_loop_by_output(softmax, Dtype::float32), {5}, {0}, {&input, 1},
                        {&out, 1});
  BOOST_TEST(to_vector<float>(out) == expected);
}

BOOST_AUTO_TEST_CASE(freed_memory_returns_to_the_pool_of_nd) {
  const nd::DeviceScope cpu(nd::cpu_device);
  const std::size_t before = nd::memory_pool().used_bytes();
  {
    const Array a = arrays::ones({1 << 16});
    BOOST_TEST(nd::memory_pool().used_bytes() >= before + (4u << 16));
  }
  BOOST_TEST(nd::memory_pool().used_bytes() == before);
}

BOOST_AUTO_TEST_CASE(arrays_follow_the_current_device_of_nd) {
  const nd::Device gpu{nd::Device::Kind::cuda, 0};
  {
    const nd::DeviceScope cpu(nd::cpu_device);
    BOOST_TEST((arrays::ones({3}).device() == nd::cpu_device));
  }
  if (!nd::is_available(nd::Device::Kind::cuda)) {
    const auto unavailable = [](const catena::RuntimeError& e) {
      return std::string(e.what()).starts_with("CUDA is unavailable: ");
    };
    BOOST_CHECK_EXCEPTION(nd::DeviceScope{gpu}, catena::RuntimeError, unavailable);
    BOOST_CHECK_EXCEPTION(arrays::ones({3}, Dtype::float32, gpu), catena::RuntimeError, unavailable);
    BOOST_TEST((arrays::ones({3}).device() == nd::cpu_device));
    return;
  }
  const nd::DeviceScope scope(gpu);
  const Array a = arrays::ones({3});
  BOOST_TEST((a.device() == gpu));
  const nd::Stream stream;
  const nd::StreamScope use(stream);
  const Array b = to_device(a + 1, {});
  BOOST_TEST(to_vector<float>(b) == std::vector<float>(3, 2.f));
  BOOST_CHECK_THROW(a + b, catena::ValueError);
}

BOOST_AUTO_TEST_SUITE_END()
