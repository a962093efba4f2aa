// Conversion of loops and operands to parameters, for all plans. Internal to ndarray/cuda.
#pragma once

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

// True if all elements of the operand are less than 2^31 bytes away from its first one.
bool near(const catena::Shape& shape, const catena::Strides& strides);

void put_axes(ParameterBlock& p, const catena::Dims& v, int rank, std::int64_t fill);

// Replaces a loop without axes by a loop over one axis of length 1.
void at_least_one_axis(catena::Shape& shape, std::span<catena::Strides> strides);

// Returns the exact rank, or 0 (known at run time) if it exceeds `limit`.
std::uint8_t rank_class(int rank, int limit);
// Returns the number of axes that the parameters of a kernel of that rank class can hold.
inline int axes_of(std::uint8_t rank) { return rank != 0 ? rank : int(catena::device::kGenericRank); }

// Plans running sums, in place, of rows of counts at `offset` of the scratch memory.
LaunchPlan plan_offsets(Dtype dtype, std::int64_t rows, std::int64_t count, std::size_t offset, int processors);

}  // namespace nd::cuda
