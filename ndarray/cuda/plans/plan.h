// Folder ndarray/cuda/plans/: from a bound call to its launches. There is one file per family of kernels, with the plan
// (key, parameters, grid, scratch memory) and the text of the kernel. execute.cpp launches the plans; attention.cpp,
// depthwise.cpp and multi_tensor.cpp launch their own.
//
// The parameters of a launch are the structs of kernels/device/parameters.h and *_parameters.h. The code that reads
// them is in kernels/device/<family>.h, with these exceptions: reduce in reduction.h, compress and offsets in
// nonzero.h, sorts of long rows in radix.h, recurrences in recurrence.h.
//
// The functions of this header do not use a device and have no side effects, except that they may call BlockCounters.
// The plan of a reduction determines the order of combination, which does not depend on the device.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <type_traits>

#include <catena/kernels/base/small_vector.h>
#include <catena/kernels/device/parameters.h>
#include <catena/kernels/registry/bound_call.h>
#include <catena/kernels/registry/fft.h>
#include <catena/ndarray/cuda/plans/codegen.h>

namespace nd::cuda {

// The parameters of a launch: first a head of kernels/device/parameters.h, then its arrays in their order. The
// buffer holds the largest parameters; unused bytes are neither cleared nor copied.
class ParameterBlock {
 public:
  ParameterBlock() noexcept {}
  ParameterBlock(const ParameterBlock& o) noexcept { *this = o; }
  ParameterBlock& operator=(const ParameterBlock& o) noexcept {
    if (this == &o) return *this;
    std::memcpy(bytes_.data(), o.bytes_.data(), o.size_);
    std::copy_n(o.in_scratch_.data(), o.num_in_scratch_, in_scratch_.data());
    size_ = o.size_;
    num_in_scratch_ = o.num_in_scratch_;
    return *this;
  }

  const std::byte* data() const { return bytes_.data(); }
  std::size_t size() const { return size_; }
  template <class Head>
  requires std::is_class_v<Head>
  void put_head(const Head& head) {
    static_assert(std::is_trivially_copyable_v<Head> && sizeof(Head) % 8 == 0);
    append(&head, sizeof head);
  }
  // The member of the head points into the scratch memory, at that offset (see set_scratch).
  template <class Head, class Pointer> void put_scratch(Pointer Head::*member, std::size_t offset) {
    static_assert(std::is_pointer_v<Pointer>);
    const Head head{};
    const auto at = reinterpret_cast<const std::byte*>(&(head.*member)) - reinterpret_cast<const std::byte*>(&head);
    in_scratch_.at(num_in_scratch_++) = {static_cast<std::size_t>(at), offset};
  }
  void put(std::int64_t v) { append(&v, sizeof v); }
  void put(const void* p) { append(&p, sizeof p); }
  // ValueError if the largest block is full.
  void append(const void* bytes, std::size_t n) { std::memcpy(extend(n), bytes, n); }
  // Adds zeros up to a multiple of `to`.
  void align(std::size_t to) {
    const std::size_t n = (to - size_ % to) % to;
    std::memset(extend(n), 0, n);
  }
  // Supplies the scratch memory.
  CATENA_EXPORT void set_scratch(void* memory);

 private:
  std::byte* extend(std::size_t n) {
    if (n > bytes_.size() - size_) [[unlikely]]
      fail_full(n);
    std::byte* at = bytes_.data() + size_;
    size_ += n;
    return at;
  }
  [[noreturn]] CATENA_EXPORT void fail_full(std::size_t more) const;

  struct InScratch {
    std::size_t at, offset;
  };
  std::size_t size_ = 0, num_in_scratch_ = 0;
  std::array<InScratch, 8> in_scratch_;
  alignas(16) std::array<std::byte, catena::device::kParameterBytes> bytes_;
};

// The pointers refer to data of the planned call.
struct LaunchPlan {
  KernelKey key;  // loaded_kernel() sets arch and toolchain
  // The computation: a program, or a kernel with the programs around it. Neither is set for families that the key alone
  // describes.
  const catena::Program* program = nullptr;
  const catena::KernelDef* kernel = nullptr;
  int loop = 0;
  FusedPrograms fused = {};
  ParameterBlock parameters;
  std::uint32_t grid_x = 0, grid_y = 1;  // grid_x 0: no launch
  std::uint32_t block_x = catena::device::kBlock;
};

CATENA_EXPORT GeneratedKernel generate(const LaunchPlan& plan);

// Launches on one stream, in order, with common scratch memory (aligned to 256 bytes; any content).
struct Sequence {
  catena::SmallVector<LaunchPlan, 1> launches;
  std::size_t scratch_bytes = 0;
  CATENA_EXPORT void set_scratch(void* memory);
  // Reserves `bytes` bytes of scratch memory and returns their offset.
  std::size_t reserve(std::size_t bytes);
};

// `processors` is the number of multiprocessors of the device. The number of blocks is limited to several times the
// number that fills them.
CATENA_EXPORT LaunchPlan plan_elementwise(const catena::Program& program,
                                          std::span<const catena::BoundOperand> operands, const catena::Shape& loop,
                                          int processors);

// For a program whose positions along the first axis of the loop are computed in order. grid_x is 0 where one launch is
// not possible or slower than one per position.
CATENA_EXPORT LaunchPlan plan_recurrence(const catena::bound::Elementwise& call, int processors);

// Returns device memory with kCounters zeros, or null. No other kernel uses the memory while the kernel of the plan
// runs, which leaves zeros in it.
using BlockCounters = catena::Function<std::uint32_t*()>;
inline constexpr std::uint32_t kCounters = 4096;
// ValueError for more operands than kMaxOperands, or more unmergeable axes than the parameters can hold for that number
// of operands. If several blocks share the elements of an output, `counters` is called; with its memory the last block
// combines their results, and without it a further launch does.
CATENA_EXPORT Sequence plan_reduce(const catena::bound::Reduce& call, int processors,
                                   const BlockCounters& counters = {});

CATENA_EXPORT LaunchPlan plan_row_wise(const catena::bound::RowWise& call, int processors);

// If several values have one destination, any one of them stays, as in NumPy; the CPU backend keeps the last one.
// IndexError for index arrays that are not of integers, or for indices into an empty axis; ValueError for more than 15
// index arrays.
CATENA_EXPORT LaunchPlan plan_gather(const catena::bound::Gather& call, int processors);
CATENA_EXPORT LaunchPlan plan_scatter(const catena::bound::Scatter& call, int processors);

// The kernel writes an index outside the IndexRule of the call to `record`, with `name`, which must outlive the record.
CATENA_EXPORT LaunchPlan plan_index_check(const catena::bound::CheckIndices& call, catena::device::IndexRecord* record,
                                          const char* name, int processors);

// `device_offset` is null, or device memory with a number that is added to the offset when the kernel runs. TypeError
// for a dtype that the kind of random numbers does not support.
CATENA_EXPORT LaunchPlan plan_random(const catena::bound::Random& call, const std::uint64_t* device_offset,
                                     int processors);

CATENA_EXPORT Sequence plan_matmul(const catena::bound::Matmul& call, int processors);

CATENA_EXPORT Sequence plan_scan(const catena::bound::Scan& call, int processors);
// If several blocks count, `counters` is called; with its memory the last block adds up the counts, and without it a
// further launch does.
CATENA_EXPORT Sequence plan_count_pieces(const catena::bound::CountPieces& call, int processors,
                                         const BlockCounters& counters = {});
CATENA_EXPORT LaunchPlan plan_nonzero(const catena::bound::Nonzero& call, int processors);
CATENA_EXPORT LaunchPlan plan_compress(const catena::bound::Compress& call, int processors);
// Only for complex numbers and lengths without prime factors above 31 (bound::Fft).
CATENA_EXPORT Sequence plan_fft(const catena::bound::Fft& call, int processors);
// Uses one launch for up to kManyPieces pieces that have one stride along the axes before the joined one and one along
// the axes after it. Pieces with more strides are copied by separate launches.
CATENA_EXPORT Sequence plan_join(const catena::bound::Join& call, int processors);
// ValueError for rows of 2^32 or more elements. Rows of `longest` or more elements are sorted with wider counts of
// elements; smaller values than the default are for tests.
CATENA_EXPORT Sequence plan_sort(const catena::bound::Sort& call, int processors,
                                 std::int64_t longest = std::int64_t(1) << 30);

}  // namespace nd::cuda
