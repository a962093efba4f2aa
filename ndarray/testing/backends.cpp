#include <catena/ndarray/testing/backends.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <typeinfo>

#include <cxxabi.h>

#include <catena/ndarray/device/device.h>
#include <catena/ndarray/routines/indexing.h>
#include <catena/ndarray/routines/math.h>
#include <catena/ndarray/routines/sorting.h>

namespace nd::testing::internal {
namespace {

using catena::concat;

Device device_under_test(const BackendOptions& options) {
  if (options.device) return *options.device;
  if (device_count(Device::Kind::cuda) > 0) return {Device::Kind::cuda, 0};
  static std::atomic<bool> said = false;
  if (!said.exchange(true)) std::puts("nd::testing: there is no CUDA device, so the CPU is compared with itself");
  return cpu_device;
}

// The outcome of a call: results, or an exception and the name of its class.
struct Outcome {
  std::vector<Array> results;
  std::exception_ptr error;
  std::string text;

  Outcome(const Body& body, Device device, const std::vector<Dtype>& dtypes) {
    const DeviceScope scope(device);
    try {
      results = body(device, dtypes);
      for (Array& a : results) a = a.is_null() ? a : a.to_host();
    } catch (const std::exception& e) {
      error = std::current_exception();
      text = concat(name_of_class(typeid(e)), ": ", e.what());
    } catch (...) {
      error = std::current_exception();
      text = "an exception that is no std::exception";
    }
  }

  static std::string name_of_class(const std::type_info& type) {
    int status = 0;
    char* const name = abi::__cxa_demangle(type.name(), nullptr, nullptr, &status);
    const std::string text = name != nullptr ? name : type.name();
    std::free(name);
    return text;
  }
  std::string name() const { return text.substr(0, text.find(": ")); }
};

[[noreturn]] void fail(std::string_view op, const std::string& text) { throw AssertionError(concat(op, ": ", text)); }

void check_same_error(std::string_view op, const Outcome& reference, const Outcome& tested) {
  if (!tested.error) fail(op, "only the reference throws: " + reference.text);
  if (!reference.error) fail(op, "only the device under test throws: " + tested.text);
  if (reference.name() != tested.name())
    fail(op, concat("different errors, on the reference ", reference.text, ", on the device under test ", tested.text));
}

bool is_unsigned(Dtype t) { return kind_of(t) == DtypeKind::unsigned_; }

// True if conversions of negative numbers to unsigned ones may be part of the result.
bool mixes_signs(const std::vector<Dtype>& dtypes) {
  const auto is_signed = [](Dtype t) { return kind_of(t) == DtypeKind::signed_ || kind_of(t) == DtypeKind::floating; };
  return std::any_of(dtypes.begin(), dtypes.end(), is_unsigned) && std::any_of(dtypes.begin(), dtypes.end(), is_signed);
}

}  // namespace

void compare_backends(std::string_view name, const Body& body, const BackendOptions& options, const Rule& rule) {
  const Device device = device_under_test(options);
  const Outcome reference(body, cpu_device, options.dtypes), tested(body, device, options.dtypes);
  if (reference.error || tested.error) {
    check_same_error(name, reference, tested);
    if (!options.accept_error.accepts(tested.error)) fail(name, "both calls throw " + tested.text);
    return;
  }
  const DeviceScope host(cpu_device);
  if (reference.results.size() != tested.results.size())
    fail(name, concat("the reference gives ", reference.results.size(), " arrays, the device under test ",
                      tested.results.size()));
  if (reference.results.empty()) fail(name, "the body returns nothing");
  std::vector<Array> true_values;
  for (std::size_t i = 0; i < tested.results.size(); ++i) {
    Array x = tested.results[i], y = reference.results[i];
    if (x.is_null() || y.is_null()) fail(name, "the body returns a null array");
    if (!(x.shape() == y.shape())) fail(name, concat("shape ", y.shape(), " of the reference is not ", x.shape()));
    if (options.type_check && x.dtype() != y.dtype())
      fail(name, concat("dtype ", y.dtype(), " of the reference is not ", x.dtype()));
    if (mixes_signs(options.dtypes) && is_unsigned(x.dtype())) {
      if (true_values.empty()) {
        std::vector<Dtype> dtypes = options.dtypes;
        std::replace_if(dtypes.begin(), dtypes.end(), is_unsigned, Dtype::int64);
        true_values = body(cpu_device, dtypes);
      }
      const Array places = flatnonzero(true_values[i] >= 0);
      x = x.take(places);
      y = y.take(places);
    }
    rule(x, y);
  }
}

void compare_errors(const Body& body, const BackendOptions& options) {
  const Outcome reference(body, cpu_device, options.dtypes), tested(body, device_under_test(options), options.dtypes);
  if (!reference.error && !tested.error) fail("numpy_cupy_raises", "neither call throws");
  check_same_error("numpy_cupy_raises", reference, tested);
}

}  // namespace nd::testing::internal
