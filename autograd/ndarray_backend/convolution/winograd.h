// Convolutions of 3x3 with stride 1 by Winograd's minimal filtering F(4x4, 3x3) (Lavin & Gray 2016), on processors with
// AVX2. (With AVX-512, oneDNN's implementation is used.) Tiles of 6x6 elements of the input and the filter are
// transformed, multiplied as 36 matrices and transformed back: 36 products per 16 elements of the output instead of
// 144. Rounding errors are about 2e-6 of the largest value instead of 3e-7. Results do not depend on the number of
// threads. Internal to this folder.
#pragma once

#include <cstdint>

#include <catena/autograd/nn_extension.h>

namespace autograd::internal {

inline constexpr int kWinogradPoints = 36;  // elements of a tile of the input
inline constexpr int kWinogradLanes = 16;   // channels that are stored together

// Contiguous images (n, h, w, channels) and their tiles. Tile (y, x) of an image begins at row 4 * y - pad_y, column 4
// * x - pad_x; tiles are numbered row by row. Elements outside the image are zero.
struct WinogradImages {
  std::int64_t h, w, channels;
  std::int64_t tiles_y, tiles_x;
  std::int64_t pad_y, pad_x;
};

// The transformed tiles `begin` to `end` of a block of `count` tiles that begins with tile `first`. Point k is a matrix
// at k * plane, whose row t - first is tile t. `in_panels`: the columns are in panels of kWinogradLanes, one after the
// other.
struct WinogradTiles {
  std::int64_t begin, end;
  std::int64_t first, count;
  std::int64_t plane;
  bool in_panels;
};

struct WinogradKernels {
  // Transform tiles of 6x6 (the input) and of 4x4 (the gradient of the output); `zeros` has one zero per channel.
  void (*transform_input)(const WinogradImages&, const WinogradTiles&, const float* images, const float* zeros,
                          float* to);
  void (*transform_gradient)(const WinogradImages&, const WinogradTiles&, const float* images, const float* zeros,
                             float* to);
  // Transforms back to tiles of 4x4 of the output and adds `bias` (may be null).
  void (*transform_output)(const WinogradImages&, const WinogradTiles&, const float* from, const float* bias,
                           float* images);
  // Transforms the filters of the kWinogradLanes outputs from `output` on to to[k * plane + (panel, input, output)].
  // Element (o, i, y, x) of w is at o * output_step + i * input_step + 3 * y + x; with `turned`, element (2 - y, 2 - x)
  // is used instead.
  void (*transform_filter)(const float* w, std::int64_t output_step, std::int64_t input_step, std::int64_t inputs,
                           std::int64_t output, bool turned, std::int64_t plane, float* to);
  // Computes the rows of gw (outputs, inputs, 3, 3) for the inputs `begin` to `end` from the sums (point, input,
  // output).
  void (*transform_filter_gradient)(const float* sums, std::int64_t plane, std::int64_t inputs, std::int64_t outputs,
                                    std::int64_t begin, std::int64_t end, float* gw);
  // c (rows, outputs) = a (rows, inputs) @ b; the panels of kWinogradLanes columns of b are (inputs, kWinogradLanes).
  void (*multiply)(const float* a, const float* b, float* c, std::int64_t rows, std::int64_t inputs,
                   std::int64_t outputs);
  // Rows `begin` to `end` (multiples of kWinogradLanes) of c (inputs, outputs) = (with `first`) or += a^T @ b over
  // `tiles`; a and b are in panels.
  void (*add_products)(const float* a, const float* b, float* c, std::int64_t tiles, std::int64_t begin,
                       std::int64_t end, std::int64_t outputs, bool first);
};
// Returns null if the processor does not support these kernels.
const WinogradKernels* winograd_kernels();

Array winograd_convolution(const Convolution& c);

}  // namespace autograd::internal
