// Functions that all plans share: layouts of operands, parameters, grids. Internal to ndarray/cuda.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <span>

#include <catena/kernels/base/shape.h>
#include <catena/ndarray/cuda/plans/plan.h>

namespace nd::cuda {

inline constexpr std::int64_t kMax31 = std::numeric_limits<std::int32_t>::max();

inline std::int64_t ceil_divide(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }
inline std::int64_t distance(std::int64_t stride) { return stride < 0 ? -stride : stride; }

// Returns the number of blocks for `items` pieces of work of one block each: enough to fill the device `waves` times;
// the kernels loop over the rest.
std::uint32_t blocks(std::int64_t items, int processors, int waves);

// Number of blocks among which the elements of few outputs are divided: enough to fill any device. It is the same for
// all devices, so that the order of combination, and with it every bit of a sum, does not depend on the device.
inline constexpr std::int64_t kBlocks = 512;

// True if the byte offsets of all elements of the operand fit a signed integer of 32 bits.
bool fits_int32(const catena::Shape& shape, const catena::Strides& strides);

// One element for the whole loop of n elements.
bool is_fixed(const catena::BoundOperand& o, std::int64_t n);
// One element for all positions along the axes.
bool is_fixed_along(const catena::BoundOperand& o, const catena::Dims& axes);

// Appends data[N] and cell[N]: an immediate operand has a null address, and its value is in the cell.
void put_operands(ParameterBlock& p, std::span<const catena::BoundOperand> operands);

// The axes of a shape that several operands share, divided into kept and reduced ones, each merged.
struct SplitAxes {
  catena::Shape kept, reduced;
  std::array<catena::Strides, catena::kMaxOperands + 1> kept_stride, reduced_stride;
};
SplitAxes split_axes(const catena::Shape& shape, const catena::Dims& axes,
                     std::span<const catena::Strides* const> strides);
// fits_int32() for each of the first `operands` operands, and fewer than 2^31 positions.
bool all_fit_int32(const SplitAxes& s, std::size_t operands);

void put_axes(ParameterBlock& p, const catena::Dims& v, int rank, std::int64_t fill);

// Replaces a loop without axes by a loop over one axis of length 1.
void at_least_one_axis(catena::Shape& shape, std::span<catena::Strides> strides);

// Returns the exact rank, or 0 (known at run time) if it exceeds `limit`.
std::uint8_t rank_class(int rank, int limit);
// Returns the number of axes that the parameters of a kernel of that rank class can hold.
inline int axes_of(std::uint8_t rank) { return rank != 0 ? rank : int(catena::device::kGenericRank); }

// Plans a launch that sets words of the scratch memory to 0.
LaunchPlan plan_clear(std::int64_t words, std::size_t offset, int processors);

}  // namespace nd::cuda
