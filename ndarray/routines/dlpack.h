// Arrays of other libraries in the same process, without a copy: DLPack (PyTorch, NumPy, CuPy, JAX, TensorFlow...).
//
// A tensor of DLPack is a structure with the address of the elements and a deleter. Whoever holds it calls the deleter,
// once. There are two structures: DLManagedTensorVersioned since DLPack 1.0, and DLManagedTensor before. The functions
// here take and give the types of <dlpack/dlpack.h> or those of namespace nd::dlpack, which have the same layout, so
// that no program needs that header.
//
// Order on CUDA. Work that has been enqueued may still be running when an array changes hands. `stream` of the options
// orders both sides without a wait of the host: the stream that uses the elements next waits for the one before it. An
// owner that frees memory must likewise know that no kernel uses it any more: streams that work on an array of the
// other library are synchronised before its last handle goes, unless both libraries work on one stream.
#pragma once

#include <cstdint>
#include <optional>
#include <type_traits>
#include <utility>

#include <catena/ndarray/core/array.h>
#include <catena/ndarray/device/types.h>

namespace nd {

// The structures of DLPack 1, with the layout of <dlpack/dlpack.h>.
namespace dlpack {
// The version of a versioned tensor.
struct Version {
  std::uint32_t major = 1, minor = 0;
};
// Where the elements are.
struct Device {
  std::int32_t device_type;  // 1: CPU, 2: CUDA, 3: page-locked host memory, 13: managed memory of CUDA
  std::int32_t device_id;
};
// The type of the elements.
struct DataType {
  std::uint8_t code;  // 0: signed, 1: unsigned, 2: floating, 4: bfloat16, 5: complex, 6: bool
  std::uint8_t bits;
  std::uint16_t lanes;
};
// The elements and their layout.
struct Tensor {
  void* data;
  Device device;
  std::int32_t ndim;
  DataType dtype;
  std::int64_t* shape;
  std::int64_t* strides;  // in elements; null: C order
  std::uint64_t byte_offset;
};
// A tensor with a deleter, which its user calls at the end: DLManagedTensor, DLManagedTensorVersioned.
struct ManagedTensor {
  Tensor dl_tensor;
  void* manager_ctx;
  void (*deleter)(ManagedTensor* self);
};
struct ManagedTensorVersioned {
  Version version;
  void* manager_ctx;
  void (*deleter)(ManagedTensorVersioned* self);
  std::uint64_t flags;
  Tensor dl_tensor;
};
// The bits of `flags`.
inline constexpr std::uint64_t read_only = 1;
inline constexpr std::uint64_t is_copied = 2;
}  // namespace dlpack

struct FromDlpackOptions {
  std::optional<Device> device = {};  // of the result; default: where the tensor is
  // true: always a copy; false: ValueError where one would be needed. Default: a copy for another device and of a
  // read-only tensor, because every array can be written.
  std::optional<bool> copy = {};
  // The stream on which the elements were computed: the current stream waits for its work. Default: no order.
  std::optional<StreamRef> stream = {};
};
struct ToDlpackOptions {
  std::optional<Device> device = {};  // of the tensor; default: that of the array
  std::optional<bool> copy = {};      // as above; the tensor of a copy has the flag is_copied
  // The stream on which the elements will be used: it waits for the work of the current stream. Default: no order.
  std::optional<StreamRef> stream = {};
  // The newest version that the receiver reads. The tensor has the old structure if it is below 1.0.
  dlpack::Version max_version = {1, 0};
};

namespace internal {
template <class T>
concept DlpackUnversioned = std::is_standard_layout_v<T> && sizeof(T) == sizeof(dlpack::ManagedTensor) &&
                            requires(T& t) {
  t.dl_tensor.byte_offset;
  t.deleter(&t);
};
template <class T>
concept DlpackVersioned = std::is_standard_layout_v<T> && sizeof(T) == sizeof(dlpack::ManagedTensorVersioned) &&
                          requires(T& t) {
  t.version.major;
  t.flags;
  t.dl_tensor.byte_offset;
  t.deleter(&t);
};
CATENA_EXPORT Array from_dlpack(dlpack::ManagedTensor* tensor, const FromDlpackOptions& options);
CATENA_EXPORT Array from_dlpack(dlpack::ManagedTensorVersioned* tensor, const FromDlpackOptions& options);
[[noreturn]] CATENA_EXPORT void throw_dlpack_structure(bool is_versioned);
}  // namespace internal

// An exported tensor with its owner: calls the deleter unless release() has given the tensor away.
class CATENA_EXPORT DlpackTensor {
 public:
  explicit DlpackTensor(dlpack::ManagedTensor* adopt) noexcept : unversioned_(adopt) {}
  explicit DlpackTensor(dlpack::ManagedTensorVersioned* adopt) noexcept : versioned_(adopt) {}
  DlpackTensor(DlpackTensor&& o) noexcept
      : unversioned_(std::exchange(o.unversioned_, nullptr)), versioned_(std::exchange(o.versioned_, nullptr)) {}
  DlpackTensor& operator=(DlpackTensor&& o) noexcept {
    std::swap(unversioned_, o.unversioned_);
    std::swap(versioned_, o.versioned_);
    return *this;
  }
  ~DlpackTensor();

  bool is_versioned() const noexcept { return versioned_ != nullptr; }
  bool is_null() const noexcept { return versioned_ == nullptr && unversioned_ == nullptr; }  // after release()
  const dlpack::Tensor& tensor() const noexcept {
    return versioned_ != nullptr ? versioned_->dl_tensor : unversioned_->dl_tensor;
  }
  // release<DLManagedTensorVersioned>(), release<DLManagedTensor>(): the tensor, for whose deleter the caller is
  // responsible from now on. TypeError if the tensor has the other structure; it stays here then.
  template <internal::DlpackVersioned T> T* release() {
    if (versioned_ == nullptr) internal::throw_dlpack_structure(false);
    return reinterpret_cast<T*>(std::exchange(versioned_, nullptr));
  }
  template <internal::DlpackUnversioned T> T* release() {
    if (unversioned_ == nullptr) internal::throw_dlpack_structure(true);
    return reinterpret_cast<T*>(std::exchange(unversioned_, nullptr));
  }

 private:
  dlpack::ManagedTensor* unversioned_ = nullptr;
  dlpack::ManagedTensorVersioned* versioned_ = nullptr;
};

// Returns an array over the elements of a tensor of another library. The array takes over the tensor: its deleter is
// called when the last view of the array is destroyed, on the thread that destroys it, or before the function returns
// if the elements are copied (which waits for the device). If the function throws, the tensor still belongs to the
// caller.
//
// TypeError for elements that no dtype has (also several lanes) and for devices other than the CPU and CUDA; ValueError
// for a version of DLPack after 1, a null tensor, a negative length, a rank above kMaxRank, an address that is not
// aligned for its elements and options that cannot be met; RuntimeError "CUDA is unavailable" for memory of CUDA.
template <internal::DlpackUnversioned T> Array from_dlpack(T* tensor, const FromDlpackOptions& options = {}) {
  return internal::from_dlpack(reinterpret_cast<dlpack::ManagedTensor*>(tensor), options);
}
template <internal::DlpackVersioned T> Array from_dlpack(T* tensor, const FromDlpackOptions& options = {}) {
  return internal::from_dlpack(reinterpret_cast<dlpack::ManagedTensorVersioned*>(tensor), options);
}
CATENA_EXPORT Array from_dlpack(DlpackTensor tensor, const FromDlpackOptions& options = {});

// Returns a tensor over the elements of an array, which it keeps alive. The array counts as written, because the
// receiver may write. ValueError if options.copy is false and options.device is another device than that of the array,
// and for a stream of another device.
CATENA_EXPORT DlpackTensor to_dlpack(const Array& a, const ToDlpackOptions& options = {});

// The device as DLPack writes it: (1, 0) for the CPU, (2, number) for CUDA. (Python's __dlpack_device__.)
CATENA_EXPORT dlpack::Device dlpack_device(const Array& a);

}  // namespace nd
