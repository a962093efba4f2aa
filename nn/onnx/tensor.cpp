#include <catena/nn/onnx/tensor.h>

#include <array>
#include <cstring>
#include <utility>

#include <catena/kernels/base/error.h>

namespace nn::onnx {

using autograd::Array;
using catena::check;
using catena::Dtype;
using catena::TypeError;
using catena::ValueError;

namespace {

constexpr std::array<std::pair<Dtype, DataType>, catena::kNumDtypes> kTypes = {{
    {Dtype::bool_, DataType::bool_},
    {Dtype::int8, DataType::int8},
    {Dtype::uint8, DataType::uint8},
    {Dtype::int16, DataType::int16},
    {Dtype::uint16, DataType::uint16},
    {Dtype::int32, DataType::int32},
    {Dtype::uint32, DataType::uint32},
    {Dtype::int64, DataType::int64},
    {Dtype::uint64, DataType::uint64},
    {Dtype::float16, DataType::float16},
    {Dtype::float32, DataType::float_},
    {Dtype::float64, DataType::double_},
    {Dtype::bfloat16, DataType::bfloat16},
    {Dtype::complex64, DataType::complex64},
    {Dtype::complex128, DataType::complex128},
}};

// The number of elements, which may not be more than memory can hold.
std::uint64_t count_of(const Tensor& tensor) {
  std::uint64_t count = 1;
  bool empty = false;
  for (const std::int64_t d : tensor.dims) {
    check<ValueError>(d >= 0, "to_array", "the tensor ", tensor.name, " has an axis of length ", d);
    if (d == 0) empty = true;
    else
      check<ValueError>(!__builtin_mul_overflow(count, std::uint64_t(d), &count) && count < (std::uint64_t(1) << 56),
                        "to_array", "the tensor ", tensor.name, " has an axis of length ", d,
                        ", with which its shape is too large");
  }
  return empty ? 0 : count;
}

// The bytes of a list whose entries have `width` bytes each in the array: the low bytes of an entry.
template <class T> std::string low_bytes(const std::vector<T>& list, std::size_t width) {
  std::string bytes(list.size() * width, '\0');
  for (std::size_t i = 0; i < list.size(); ++i) std::memcpy(bytes.data() + i * width, &list[i], width);
  return bytes;
}

std::string bytes_of(const Tensor& tensor, Dtype dtype) {
  const std::size_t width = catena::itemsize(dtype);
  switch (dtype) {
    case Dtype::float32:
    case Dtype::complex64: return low_bytes(tensor.float_data, sizeof(float));
    case Dtype::float64:
    case Dtype::complex128: return low_bytes(tensor.double_data, sizeof(double));
    case Dtype::int64: return low_bytes(tensor.int64_data, width);
    case Dtype::uint32:
    case Dtype::uint64: return low_bytes(tensor.uint64_data, width);
    default: return low_bytes(tensor.int32_data, width);
  }
}

}  // namespace

Dtype dtype_of(DataType type) {
  for (const auto& [dtype, data_type] : kTypes)
    if (data_type == type) return dtype;
  catena::fail<TypeError>("onnx", "no array has elements of type ", std::int32_t(type), " of TensorProto.DataType");
}

DataType data_type_of(Dtype dtype) noexcept { return kTypes[std::size_t(dtype)].second; }

Tensor to_tensor(const Array& a, const std::string& name) {
  Tensor tensor;
  tensor.dims.assign(a.shape().begin(), a.shape().end());
  tensor.data_type = data_type_of(a.dtype());
  tensor.name = name;
  tensor.raw_data.resize(std::size_t(a.size()) * catena::itemsize(a.dtype()));
  autograd::to_host(a, tensor.raw_data.data());
  return tensor;
}

Array to_array(const Tensor& tensor) {
  check<ValueError>(tensor.data_location == Tensor::Location::default_, "to_array", "the tensor ", tensor.name,
                    " has external data, which onnx::read(path) reads");
  const Dtype dtype = dtype_of(tensor.data_type);
  const std::uint64_t wanted = count_of(tensor) * catena::itemsize(dtype);
  const std::string listed = tensor.raw_data.empty() ? bytes_of(tensor, dtype) : std::string();
  const std::string& bytes = tensor.raw_data.empty() ? listed : tensor.raw_data;
  check<ValueError>(bytes.size() == wanted, "to_array", "the tensor ", tensor.name, " of shape ",
                    catena::Shape(tensor.dims), " and dtype ", dtype, " has ", bytes.size(), " bytes instead of ",
                    wanted);
  return autograd::from_host(bytes.data(), catena::Shape(tensor.dims), dtype);
}

}  // namespace nn::onnx
