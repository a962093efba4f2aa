// Adds counts of positions to an array: the last step of a scatter of one integer (gather_scatter.cpp).
#pragma once

#include <cstddef>
#include <cstdint>

namespace nd::cpu {

// Adds `value` times the sum of the counts in all tables to each of n numbers. The numbers are `step` bytes apart, the
// tables `length` counts apart. For unsigned integers of every width.
template <class U>
void add_counts(std::byte* to, std::int64_t step, U value, const std::uint32_t* counts, std::int64_t tables,
                std::int64_t length, std::int64_t n);

}  // namespace nd::cpu
