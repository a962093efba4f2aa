#include <catena/tests/support/ndarray_values.h>

#include <cmath>
#include <cstring>
#include <iostream>

#include <catena/ndarray/core/storage.h>
#include <catena/ndarray/device/device.h>
#include <catena/ndarray/routines/creation.h>
#include <catena/tests/support/cuda_device/control.h>

namespace test {

bool cases_take_turns() {
  return nd::current_device().kind == nd::Device::Kind::cuda && cuda_device::Control::available();
}

Turns::~Turns() {
  if (run_ < asked_)
    std::cout << "thinned out on the software CUDA device: " << what_ << ", " << run_ << " of " << asked_
              << " are run\n";
}

bool Turns::count(bool turn) {
  const bool run = turn || !cases_take_turns();
  ++asked_;
  run_ += run;
  return run;
}

nd::Array array_of(const catena::NpyArray& n) {
  nd::Array a = nd::empty(n.shape, n.dtype.value());
  nd::internal::from_host(a, n.data.data());
  return a;
}

nd::Array scattered(const nd::Array& a, std::mt19937& random) {
  const int rank = a.ndim();
  std::vector<int> order;
  for (int i = 0; i < rank; ++i) order.push_back(i);
  std::shuffle(order.begin(), order.end(), random);
  nd::Strides strides = nd::Strides::filled(rank, 0);
  std::int64_t step = std::int64_t(a.itemsize()), offset = step * std::int64_t(random() % 3);
  for (int i : order) {
    const std::int64_t spread = step * std::int64_t(1 + random() % 3);
    const bool backwards = random() % 2;
    strides[i] = backwards ? -spread : spread;
    if (backwards && a.shape()[i] > 0) offset += spread * (a.shape()[i] - 1);
    step = spread * std::max<std::int64_t>(a.shape()[i], 1);
  }
  const nd::Array block = nd::zeros(nd::Shape{offset + step * 3 + 64}, nd::uint8);
  const nd::Array view = nd::internal::make_view(block, a.shape(), strides, a.size() == 0 ? 0 : offset, a.dtype());
  nd::internal::assign("scattered", view, a);
  return view;
}

nd::Array random_array(const nd::Shape& shape, nd::Dtype dtype, std::mt19937& random) {
  std::vector<double> values(std::size_t(catena::size_of(shape)));
  for (double& v : values)
    v = catena::is_floating(dtype) ? std::ldexp(double(random() % 20001) - 10000, -12)
                                   : double(int(random() % 200) - 100);
  return nd::array(values, shape, {.dtype = dtype});
}

std::vector<std::byte> bytes_of(const nd::Array& a) {
  std::vector<std::byte> bytes(a.nbytes());
  nd::internal::to_host(a, bytes.data());
  return bytes;
}

bool same_bits(const nd::Array& a, const nd::Array& b) {
  return a.shape() == b.shape() && a.dtype() == b.dtype() && bytes_of(a) == bytes_of(b);
}

std::string difference(const nd::Array& actual, const nd::Array& expected, double atol, double rtol, bool signed_zero) {
  if (!(actual.shape() == expected.shape()))
    return catena::concat("shape ", actual.shape(), " instead of ", expected.shape());
  if (actual.dtype() != expected.dtype())
    return catena::concat("dtype ", actual.dtype(), " instead of ", expected.dtype());
  return nd::visit_real_dtype("difference", actual.dtype(), [&](auto tag) -> std::string {
    using E = typename decltype(tag)::type;
    const auto a = actual.to_vector<E>(), e = expected.to_vector<E>();
    for (std::size_t i = 0; i < a.size(); ++i) {
      bool equal;
      if constexpr (std::is_integral_v<E>) {
        equal = a[i] == e[i] || ((atol != 0 || rtol != 0) && close(double(a[i]), double(e[i]), atol, rtol));
      } else {
        equal = close(double(a[i]), double(e[i]), atol, rtol);
        if (signed_zero && double(e[i]) == 0) equal = equal && std::signbit(double(a[i])) == std::signbit(double(e[i]));
      }
      if (!equal) return catena::concat("element ", i, " is ", double(a[i]), " instead of ", double(e[i]));
    }
    return {};
  });
}

bool same_reduction(const nd::Array& a, const nd::Array& b) {
  if (a.device().kind == nd::Device::Kind::cpu || !catena::is_floating(a.dtype())) return same_bits(a, b);
  const double eps = a.dtype() == nd::float64   ? 1e-13
                     : a.dtype() == nd::float32 ? 1e-5
                     : a.dtype() == nd::float16 ? 2e-3
                                                : 1.6e-2;
  return difference(a, b, eps, eps).empty();
}

std::vector<nd::Array> arrays_of(const Golden& golden, const Json& keys) {
  std::vector<nd::Array> list;
  for (const auto& key : keys) list.push_back(array_of(golden.array(key)));
  return list;
}

std::string difference(const nd::Array& actual, const nd::Array& expected, const Json& c) {
  return difference(actual, expected, c["tolerance"][0], c["tolerance"][1], c.value("signed_zero", false));
}

double chi_square(const std::vector<std::int64_t>& outcomes, std::int64_t k) {
  std::vector<double> count(static_cast<std::size_t>(k));
  for (std::int64_t v : outcomes) count.at(static_cast<std::size_t>(v)) += 1;
  const double expected = double(outcomes.size()) / double(k);
  double sum = 0;
  for (double n : count) sum += (n - expected) * (n - expected) / expected;
  return sum;
}

nd::Array range(std::int64_t size, nd::Dtype dtype) { return nd::arange(size, {.dtype = dtype}); }

bool is_no_difference(const std::string& difference) {
  if (!difference.empty()) return false;
  BOOST_TEST(true);
  return true;
}

void report_difference(const std::string& text, const char* file, std::size_t line) {
  namespace tools = boost::test_tools::tt_detail;
  tools::report_assertion(false, boost::unit_test::lazy_ostream::instance() << text, file, line, tools::CHECK,
                          tools::CHECK_MSG, 0);
}

}  // namespace test
