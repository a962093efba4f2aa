// The operands of a multi-tensor kernel over many tensors, in the layout that the kernel reads. A caller that updates
// the same tensors repeatedly keeps the table between calls: update() compares each operand with its entry and writes
// only the differences. A step thus costs one comparison per operand, and one written word for a gradient in new
// memory.
//
// The table owns no tensor: between calls its addresses may dangle, and every call passes all operands again.
//
// Thread safety: a table is used by one thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <catena/kernels/base/array_header.h>
#include <catena/kernels/registry/call.h>

namespace catena {

// The backend's copy of a table in device memory.
class CATENA_EXPORT TensorTableCopy {
 public:
  virtual ~TensorTableCopy();
};

class CATENA_EXPORT TensorTable {
 public:
  // The unit of parallel work: elements [chunk * kChunk, (chunk + 1) * kChunk) of a tensor.
  static constexpr std::int64_t kChunk = 16 * 1024;
  struct Chunk {
    std::int32_t tensor, chunk;
  };

  // Takes the kernel, the loop, the operands and the indices of the hyperparameters from the call. TypeError for a
  // tensor that is not C-contiguous or not of the loop's dtype; ValueError for operands that differ in size or device,
  // a number of operands that is not a multiple of the kernel's, and hyperparameter indices out of range.
  void update(const call::MultiTensor& call);

  std::size_t tensors() const noexcept { return tensors_; }
  Device device() const noexcept { return device_; }
  // Entry t: the addresses of the operands, the number of elements, the index of the hyperparameters.
  std::span<const std::int64_t> entry(std::size_t t) const noexcept {
    return {words_.data() + t * row_words_, row_words_};
  }
  std::byte* data(std::size_t t, int operand) const noexcept {
    return reinterpret_cast<std::byte*>(entry(t)[std::size_t(operand)]);
  }
  std::int64_t elements(std::size_t t) const noexcept { return entry(t)[row_words_ - 2]; }
  std::int64_t hyper(std::size_t t) const noexcept { return entry(t)[row_words_ - 1]; }
  std::span<const std::int64_t> words() const noexcept { return words_; }  // all entries
  std::span<const Chunk> chunks() const noexcept { return chunks_; }

  // version() is incremented when any word changes, layout_version() when anything except an address changes: kernel,
  // loop, number of tensors, sizes, hyperparameter indices, device.
  std::uint64_t version() const noexcept { return version_; }
  std::uint64_t layout_version() const noexcept { return layout_version_; }

  std::unique_ptr<TensorTableCopy> copy;  // set by the backend

 private:
  void start(const call::MultiTensor& call);
  void update_row(const call::MultiTensor& call, std::size_t t);
  void set_layout(std::int64_t& word, std::int64_t value);
  void divide();

  const KernelDef* kernel_ = nullptr;
  int loop_ = 0;
  Device device_;
  std::size_t tensors_ = 0, row_words_ = 0;
  std::vector<std::int64_t> words_;
  std::vector<Chunk> chunks_;
  std::uint64_t version_ = 0, layout_version_ = 0;
  std::uint64_t divided_ = 0;  // the layout for which the chunks were computed
};

}  // namespace catena
