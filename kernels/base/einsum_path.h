// The notation of einsum, and the order in which its operands are contracted, for the libraries that compute it:
// nothing here reads an element. Internal.
#pragma once

#include <bitset>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <catena/kernels/base/shape.h>

namespace catena::einsum {

// An axis: A to Z are 0 to 25, a to z 26 to 51, and the axes of the ellipsis follow, the last one first, so that those
// of operands with fewer axes there are the last ones.
using Labels = std::vector<int>;
inline constexpr int kLetters = 52, kLabels = kLetters + kMaxRank, kEllipsis = -1;
using LabelSet = std::bitset<kLabels>;
CATENA_EXPORT LabelSet set_of(const Labels& labels);

// The axes of each operand, those of the result, and the length of each label.
struct Subscripts {
  std::vector<Labels> operands;
  Labels output;
  std::vector<std::int64_t> lengths;  // kLabels of them; 1 for labels that do not occur
};

CATENA_EXPORT std::string name_of(int label);  // "i", or "..." for an axis of the ellipsis

// Reads "ij,jk->ik" for operands of these shapes; without "->" the result has the axes of the ellipsis, then the labels
// that occur once, in the order of the alphabet with capitals first. ValueError for what is not such a text, for
// operands that do not fit it, and for lengths that differ (a length of 1 broadcasts).
CATENA_EXPORT Subscripts read(std::string_view subscripts, std::span<const Shape> shapes);
// The text for lists of labels, in which kEllipsis stands for the ellipsis. ValueError for labels outside of 0 to 51.
CATENA_EXPORT std::string text_of(std::span<const Labels> operands, const Labels* output);

// The contractions one after the other: the positions of operands in the list of those that are left, whose result
// becomes the last of the list.
using Path = std::vector<Dims>;
CATENA_EXPORT Path in_order(std::size_t operands);
CATENA_EXPORT Path greedy(const Subscripts& subscripts);  // the pair that leaves the least behind, again and again
CATENA_EXPORT Path
optimal(const Subscripts& subscripts);  // the fewest multiplications; time and memory grow by 3^operands
CATENA_EXPORT Path
automatic(const Subscripts& subscripts);  // the optimal one for up to 6 operands, otherwise the greedy one
// ValueError unless the path leaves one array.
CATENA_EXPORT void check(const Path& path, std::size_t operands);

// The multiplications of all contractions of a path, and the number of elements of the largest intermediate result.
struct Cost {
  double multiplications = 0, largest = 0;
};
CATENA_EXPORT Cost cost_of(const Path& path, const Subscripts& subscripts);

}  // namespace catena::einsum
