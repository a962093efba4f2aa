// A convolution as oneDNN describes it, and its parts. Internal to this folder.
#pragma once

#include <array>
#include <vector>

#include <catena/autograd/ndarray_backend/onednn/modules/versions.h>
#include <catena/autograd/nn_extension.h>

namespace autograd::internal::onednn {

using Pass = Convolution::Pass;

// The cache key: all parameters on which a primitive depends.
struct Key {
  std::array<std::int64_t, 26> v{};
  friend bool operator==(const Key&, const Key&) = default;
};

// A part of a convolution, computed as a convolution on one thread. A convolution is split over the batch and, if there
// are fewer images than threads, also into bands of rows (of the first spatial axis). If the filter is larger than the
// activations, it is split over the channels of the output instead, so that each thread reads its share of the filter.
struct Part {
  std::int64_t image, images;      // first image, number of images
  std::int64_t src_row, src_rows;  // rows of the input (or of its gradient) that the band uses
  std::int64_t dst_row, dst_rows;  // rows of the output
  std::int64_t output, outputs;    // channels of the output
};
enum class Split { outputs, rows, images };

class Problem {
 public:
  // `last`: an operand is channels-last.
  Problem(const Convolution& c, bool last);

  Key key() const;
  // Returns the parts for all threads; empty if this kind of split does not suit the problem.
  std::vector<Part> parts(Split split) const;
  // Returns the convolution of one part.
  Problem part(const Part& part) const;
  // False for parts for which oneDNN has no primitive: rows whose windows contain only padding.
  bool is_computable() const { return src[2] > 0 && dst[2] > 0 && g.pad[0] >= 0; }
  // True if Winograd's minimal filtering F(4x4, 3x3) (Lavin & Gray 2016) is faster than a direct convolution. It needs
  // a quarter of the multiplications, but the transformation of the filter must be amortised over many positions. Its
  // rounding errors are about 1e-6 of the largest value instead of 3e-7.
  bool suits_winograd() const { return winograd_tiles() >= kWinogradTiles; }
  // Returns the number of elements of the filter per pair of channels.
  std::int64_t window() const;
  int rank() const { return int(g.stride.size()); }

  Pass pass;
  bool has_bias;
  memory::dims src, weights, dst;
  Geometry g;
  std::int64_t groups;
  bool lies_last;  // true if an operand is channels-last; set only where groups depend on it

 private:
  static constexpr std::int64_t kWinogradTiles = 128;

  std::int64_t reach() const;  // the number of rows of a window along the first spatial axis
  std::int64_t winograd_tiles() const;
  std::int64_t threads() const;
  bool splits_outputs() const;
  std::int64_t groups_of_images() const;
  Part all() const;
  void take_output_rows(Part& part, std::int64_t first, std::int64_t last) const;
  void take_input_rows(Part& part, std::int64_t first, std::int64_t last) const;
};

}  // namespace autograd::internal::onednn
