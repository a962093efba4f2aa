// Text of arrays in NumPy's format: rows in brackets, aligned columns, floats with the digits needed to identify them
// (at most `precision` behind the point). The format is scientific if the largest magnitude is 1000 times the smallest
// or at least 1e8 (float32: 1e6, float16: 1e3), or the smallest is below 1e-4; long arrays are abbreviated with "...".
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <catena/kernels/base/dtype.h>
#include <catena/kernels/base/shape.h>

namespace catena {

struct PrintOptions {
  int precision = 8;              // digits behind the point
  std::int64_t threshold = 1000;  // arrays with more elements are summarised
  int edgeitems = 3;              // elements shown at each end of an axis in a summary
  int linewidth = 75;
  bool suppress_small = false;  // small numbers do not cause scientific notation
};

// The options of this thread where none are given, as for operator<<.
CATENA_EXPORT const PrintOptions& get_printoptions() noexcept;
// Sets them. ValueError for negative numbers.
CATENA_EXPORT void set_printoptions(const PrintOptions& options);
inline void set_printoptions(int precision) { set_printoptions(PrintOptions{.precision = precision}); }
// Sets them until the end of the scope: nd::printoptions scope({.precision = 3});
class CATENA_EXPORT printoptions {
 public:
  explicit printoptions(const PrintOptions& options);
  printoptions(const printoptions&) = delete;
  printoptions& operator=(const printoptions&) = delete;
  ~printoptions();

 private:
  PrintOptions before_;
};

// The elements of an array that are printed, in C order. In a summary these are its corners: `edgeitems` elements at
// each end of every axis that is longer than twice that number.
struct HostElements {
  Shape shape;  // of the whole array
  Dtype dtype;
  std::vector<std::byte> bytes;
};

struct TextLayout {
  std::string_view separator = " ";  // between elements
  std::size_t prefix = 0;            // length of the text before the first line
  int suffix = 0;                    // length of the text after the last line
};

// Returns the rows of an array of rank 1 or more; "[]" if it has no elements.
CATENA_EXPORT std::string array_text(const HostElements& a, const PrintOptions& options, const TextLayout& layout = {});
// Returns the text of a single element, with the digits that identify it or with at most `precision` digits behind the
// point.
CATENA_EXPORT std::string element_text(const HostElements& a, std::optional<int> precision = {});

// Returns the printed elements of an array. to_host(a, bytes) copies the elements of an array to host memory in C
// order; ends(a, axis, n) returns an array of the first and the last n positions of `a` along an axis.
template <class Array, class ToHost, class Ends>
HostElements host_elements(const Array& a, const PrintOptions& options, ToHost&& to_host, Ends&& ends) {
  HostElements e{a.shape(), a.dtype(), {}};
  Array shown = a;
  for (int axis = 0; a.size() > options.threshold && axis < a.ndim(); ++axis)
    if (e.shape[axis] > 2 * options.edgeitems) shown = ends(shown, axis, options.edgeitems);
  e.bytes.resize(static_cast<std::size_t>(shown.size()) * itemsize(e.dtype));
  to_host(shown, e.bytes.data());
  return e;
}

}  // namespace catena
