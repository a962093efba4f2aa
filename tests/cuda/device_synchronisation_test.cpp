// D18: which functions wait for the device: those whose result is on the host, or that check on the host what they have
// found. All others enqueue and return; nd::array() of host values may do either.
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <functional>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#include <catena/ndarray/ndarray.h>
#include <catena/tests/support/cuda_device/control.h>

namespace {

using nd::Array;

struct Named {
  const char* name;
  std::function<void()> f;
};

// The times that the host waits during f, once everything that it needs has been compiled.
std::size_t waits_of(const std::function<void()>& f) {
  f();
  cuda_device::Control control;
  control.reset_records();
  f();
  return control.synchronisations().size();
}

bool waits_are_counted() {
  if (cuda_device::Control::available()) return true;
  std::cout << "skipped: only the software CUDA device counts the waits\n";
  return false;
}

struct OnGpu {
  const nd::DeviceScope on{nd::Device{nd::Device::Kind::cuda, 0}};
  const Array a = nd::arange(12.0).reshape(3, 4), v = nd::arange(1.0, 5.0), one = nd::array({3}),
              i = nd::array({2, 0, 1}), m = a > 5, square = nd::eye(3) * 4;
};

BOOST_AUTO_TEST_SUITE(device_synchronisation)

BOOST_FIXTURE_TEST_CASE(what_gives_host_values_waits, OnGpu) {
  if (!waits_are_counted()) return;
  std::ostringstream out;
  const std::vector<Named> functions{
      {"to_host", [&] { a.to_host(); }},
      {"asnumpy", [&] { nd::asnumpy(a); }},
      {"tolist", [&] { a.tolist(); }},
      {"tofile", [&] { a.tofile(out); }},
      {"dumps", [&] { a.dumps(); }},
      {"save", [&] { nd::save(out, a); }},
      {"savez",
       [&] {
         nd::savez(out, {{"a", a}});
       }},
      {"print", [&] { out << a; }},
      {"array_repr", [&] { nd::array_repr(a); }},
      {"truth", [&] { static_cast<void>(bool(one)); }},
      {"int", [&] { static_cast<void>(int(one)); }},
      {"double", [&] { static_cast<void>(double(one)); }},
      {"oct", [&] { nd::oct(one); }},
      {"hex", [&] { nd::hex(one); }},
      {"nonzero", [&] { nd::nonzero(a); }},
      {"flatnonzero", [&] { nd::flatnonzero(a); }},
      {"argwhere", [&] { nd::argwhere(a); }},
      {"mask get", [&] { const Array b = a(m); }},
      {"count_nonzero", [&] { static_cast<void>(nd::count_nonzero(a)); }},
      {"bincount", [&] { nd::bincount(i); }},
      {"nanmax", [&] { nd::nanmax(a); }},  // which warns where there is nothing but NaN
      {"nanmin", [&] { nd::nanmin(a); }},
      {"cholesky", [&] { nd::linalg::cholesky(square); }},
      {"qr", [&] { nd::linalg::qr(square); }},
      {"svd", [&] { nd::linalg::svd(square); }},
      {"copy_to_host",
       [&] {
         double x[4];
         v.data().copy_to_host(x, sizeof x);
       }},
  };
  for (const Named& n : functions) BOOST_TEST(waits_of(n.f) > 0u, n.name << " does not wait");
}

// A few bytes go through a pinned buffer, for which the driver does not wait on its own.
BOOST_FIXTURE_TEST_CASE(reading_a_number_waits_once, OnGpu) {
  if (!waits_are_counted()) return;
  BOOST_TEST(waits_of([&] { static_cast<void>(double(one)); }) == 1u);
  BOOST_TEST(waits_of([&] { a.tolist(); }) == 1u);
  BOOST_TEST(waits_of([&] { const Array b = a(m); }) == 1u);
  BOOST_TEST(waits_of([&] { nd::bincount(i); }) == 1u);
  BOOST_TEST((a.to_vector<double>() == std::vector<double>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}));
  // Longer than the buffer.
  const Array many = nd::arange(5000.0);
  BOOST_TEST(double(nd::sum(many.to_host())) == 5000.0 * 4999 / 2);
}

// The elements are counted by one kernel, from which the host reads their number, and written by another.
BOOST_FIXTURE_TEST_CASE(selections_launch_two_kernels_and_wait_once, OnGpu) {
  if (!waits_are_counted()) return;
  for (const std::int64_t n : {12, 2046, 2049, 300'000}) {
    const Array x = nd::arange(double(n)).reshape(3, -1), mask = x % 3. != 0., strided = x.T();
    const std::vector<Named> functions{
        {"nonzero of a mask", [&] { nd::nonzero(mask); }},
        {"nonzero of numbers", [&] { nd::nonzero(x); }},
        {"nonzero of a view", [&] { nd::nonzero(strided); }},
        {"mask get", [&] { const Array b = x(mask); }},
    };
    for (const Named& f : functions) {
      BOOST_TEST(waits_of(f.f) == 1u, f.name << " of " << n);
      BOOST_TEST(cuda_device::Control().launches().size() == 2u, f.name << " of " << n);
    }
  }
}

// Work of other streams goes on while a number is read: the host waits for the stream of the array. Only synchronize()
// waits for the device.
BOOST_FIXTURE_TEST_CASE(readers_wait_for_their_stream_alone, OnGpu) {
  if (!waits_are_counted()) return;
  cuda_device::Control control;
  const auto waits_for_all = [&](const std::function<void()>& f) {
    f();
    control.reset_records();
    f();
    const std::vector<std::string> waits = control.synchronisations();
    BOOST_TEST(!waits.empty());
    return std::count(waits.begin(), waits.end(), "cuCtxSynchronize");
  };
  BOOST_TEST(waits_for_all([&] { static_cast<void>(double(one)); }) == 0);
  BOOST_TEST(waits_for_all([&] { a.to_host(); }) == 0);
  BOOST_TEST(waits_for_all([&] { nd::nonzero(a); }) == 0);
  BOOST_TEST(waits_for_all([&] { nd::bincount(i); }) == 0);
  BOOST_TEST(
      waits_for_all([&] { nd::current_stream(a.device()), nd::Stream::null_stream(a.device()).synchronize(); }) == 0);
  BOOST_TEST(waits_for_all([&] { nd::synchronize(a.device()); }) == 1);
}

BOOST_FIXTURE_TEST_CASE(everything_else_does_not, OnGpu) {
  if (!waits_are_counted()) return;
  const Array host = nd::arange(6.0).to_device(nd::cpu_device), target = nd::zeros({3, 4});
  const std::vector<Named> functions{
      {"zeros",
       [&] {
         nd::zeros({2, 3});
       }},
      {"arange", [&] { nd::arange(100); }},
      {"linspace", [&] { nd::linspace(0, 1, 5); }},
      {"eye", [&] { nd::eye(4); }},
      {"to_device", [&] { host.to_device(a.device()); }},
      {"copy", [&] { a.copy(nd::Order::F); }},
      {"astype", [&] { a.astype(nd::float32); }},
      {"fill", [&] { target.fill(2); }},
      {"add", [&] { static_cast<void>(a + v); }},
      {"exp", [&] { nd::exp(a); }},
      {"in place", [&] { target(nd::ellipsis) += a; }},
      {"assignment", [&] { target(nd::Slice(0, 2)) = a(nd::Slice(1, 3)); }},
      {"sum", [&] { a.sum(); }},
      {"mean of an axis", [&] { a.mean(0); }},
      {"var", [&] { a.var(); }},
      {"argmax", [&] { a.argmax(1); }},
      {"amax", [&] { nd::amax(a); }},
      {"cumsum", [&] { a.cumsum(1); }},
      {"sort", [&] { nd::sort(v); }},
      {"argsort", [&] { nd::argsort(v); }},
      {"take", [&] { nd::take(a, i, 0); }},
      {"index array", [&] { const Array b = a(i); }},
      {"scatter", [&] { target(i) = 1; }},
      {"scatter_add", [&] { target.scatter_add(i, 1); }},
      {"where of three", [&] { nd::where(m, a, 0); }},
      {"concatenate",
       [&] {
         nd::concatenate({a, a});
       }},
      {"split", [&] { nd::split(a, 2, 1); }},
      {"transpose", [&] { a.transpose(); }},
      {"matmul", [&] { nd::matmul(a, v); }},
      {"dot", [&] { nd::dot(v, v); }},
      {"norm", [&] { nd::linalg::norm(v); }},
      {"random", [&] { nd::random::random_sample({10}); }},
      {"normal", [&] { nd::random::standard_normal({10}); }},
      {"drop", [&] { Array temporary = nd::empty({1 << 16}); }},
  };
  for (const Named& n : functions) {
    const std::size_t waits = waits_of(n.f);
    BOOST_TEST(waits == 0u, n.name << " waits " << waits << " times");
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
