// Counts of positions become sums: the last step of a scatter of one integer (gather_scatter.cpp).
#pragma once

#include <cstddef>
#include <cstdint>

namespace nd::cpu {

// Adds `value` to each of n numbers, `step` bytes apart, as often as all tables together have counted it; the tables
// are `length` counts apart. For unsigned integers of every width.
template <class U>
void add_counts(std::byte* to, std::int64_t step, U value, const std::uint32_t* counts, std::int64_t tables,
                std::int64_t length, std::int64_t n);

}  // namespace nd::cpu
