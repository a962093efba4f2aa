// The calculations on which sparse matrices rest, on any device. Arrays are C-contiguous and on one device; indices are
// int32 or int64, one dtype per call. No function waits for the device.
#pragma once

#include <string_view>

#include <catena/ndarray/core/array.h>

namespace nd::sparse::kernels {

// The product of compressed rows and a dense vector or matrix of the same dtype.
Array multiply(const Array& data, const Array& indices, const Array& indptr, const Array& x);
// The sum of the entries of each row.
Array sum_rows(const Array& data, const Array& indptr);
// The row of each of n entries.
Array number_rows(const Array& indptr, std::int64_t n);

// keys[order] ascends (stable), and the elements `key` begin at starts[key]; starts has one element more than there are
// keys. The keys are 0 to `keys_end` - 1.
struct Groups {
  Array order, starts;
};
Groups group(const Array& keys, std::int64_t keys_end);
// The order alone, which takes no memory for each key.
Array sorted_order(const Array& keys, std::int64_t keys_end);

// Int32, or int64 if one of the numbers needs it.
Dtype index_dtype(std::int64_t rows, std::int64_t columns, std::int64_t entries);
// Contiguous and of that dtype.
Array converted(const Array& a, Dtype dtype);
// 0 and the sums of the elements 0 to i.
Array offsets(const Array& counts, Dtype dtype);
// The promotion of both, of which float16 and bfloat16 are float32.
Dtype result_dtype(Dtype a, Dtype b);
// TypeError if matrices cannot have such elements.
void check_dtype(std::string_view op, Dtype dtype);
void check_device(std::string_view op, Device a, Device b);

}  // namespace nd::sparse::kernels
