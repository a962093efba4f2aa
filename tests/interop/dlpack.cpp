// A library for dlpack_test.py: functions of C, called through ctypes, that make and take tensors of DLPack.
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include <catena/ndarray/ndarray.h>
#include <catena/ndarray/routines/dlpack.h>

namespace {

std::string error_text;
std::vector<nd::Array> taken;

// Calls f; the message of an exception becomes the result of last_error(), and that of the call `failed`.
template <class R, class F> R guarded(R failed, F&& f) {
  try {
    error_text.clear();
    return f();
  } catch (const std::exception& e) {
    error_text = e.what();
    return failed;
  }
}

// The numbers 0 to 23 as an array of shape (2, 3, 4), and views of it.
nd::Array sample(const char* dtype, int layout) {
  const nd::Array a = nd::arange(24).astype(dtype).reshape(2, 3, 4);
  switch (layout) {
    case 1: return a.T();
    case 2: return a(1, nd::Slice(nd::None, nd::None, -1));
    case 3: return a(0, 2, 1);
    case 4: return a(nd::Slice(1, 1));
    default: return a;
  }
}

}  // namespace

extern "C" {

[[gnu::visibility("default")]] const char* last_error() { return error_text.c_str(); }

// A DLManagedTensorVersioned, or for major = 0 a DLManagedTensor, that the caller owns.
[[gnu::visibility("default")]] void* export_sample(const char* dtype, int layout, int major) {
  return guarded<void*>(nullptr, [&]() -> void* {
    nd::DlpackTensor t = nd::to_dlpack(sample(dtype, layout), {.max_version = {std::uint32_t(major), 0}});
    if (major == 0) return t.release<nd::dlpack::ManagedTensor>();
    return t.release<nd::dlpack::ManagedTensorVersioned>();
  });
}

// The number of an array over the elements of the tensor, or -1. copy: -1 for the default, 0, 1.
[[gnu::visibility("default")]] int take(void* tensor, int major, int copy) {
  return guarded(-1, [&] {
    nd::FromDlpackOptions options;
    if (copy >= 0) options.copy = copy == 1;
    taken.push_back(major == 0 ? nd::from_dlpack(static_cast<nd::dlpack::ManagedTensor*>(tensor), options)
                               : nd::from_dlpack(static_cast<nd::dlpack::ManagedTensorVersioned*>(tensor), options));
    return static_cast<int>(taken.size()) - 1;
  });
}
// Shape and dtype as text.
[[gnu::visibility("default")]] const char* describe(int array) {
  static std::string text;
  const nd::Array& a = taken[std::size_t(array)];
  text = catena::concat(a.shape(), " ", a.dtype());
  return text.c_str();
}
// Writes the elements in C order; complex numbers as pairs.
[[gnu::visibility("default")]] void elements(int array, double* to) {
  const nd::Array& a = taken[std::size_t(array)];
  if (catena::is_complex_dtype(a.dtype())) {
    const std::vector<nd::complex128_t> values = a.to_vector<nd::complex128_t>();
    for (const nd::complex128_t& z : values) *to++ = z.re, *to++ = z.im;
  } else {
    const std::vector<double> values = a.to_vector<double>();
    std::copy(values.begin(), values.end(), to);
  }
}
[[gnu::visibility("default")]] void fill(int array, double value) { taken[std::size_t(array)].fill(value); }
[[gnu::visibility("default")]] void drop(int array) { taken[std::size_t(array)] = nd::Array(); }
}
