// Convolutions of 3x3 with stride 1 by Winograd's minimal filtering F(4x4, 3x3) (Lavin & Gray 2016), on processors with
// AVX2. (With AVX-512, oneDNN has it.) Tiles of 6x6 elements of the input and the filter are transformed, multiplied as
// 36 matrices and transformed back: 36 products per 16 elements of the output instead of 144. Rounding errors are about
// 2e-6 of the largest value instead of 3e-7. Results do not depend on the number of threads. Internal to this folder.
#pragma once

#include <cstdint>

#include <catena/autograd/nn_extension.h>

namespace autograd::internal {

inline constexpr int kWinogradPoints = 36;  // elements of a tile of the input
inline constexpr int kWinogradLanes = 16;   // channels that are kept together

// Images (n, h, w, channels), contiguous, and their tiles: tile t of an image row of tiles begins at row 4 * y - pad_y,
// column 4 * x - pad_x. Elements outside of the image are zero.
struct WinogradImages {
  std::int64_t h, w, channels;
  std::int64_t tiles_y, tiles_x;
  std::int64_t pad_y, pad_x;
};

// Transformed tiles `begin` to `end` of a block of `count` tiles from `first` on: point k is a matrix at k * plane, of
// which tile t is row t - first. `in_panels`: its columns are panels of kWinogradLanes, one after the other.
struct WinogradTiles {
  std::int64_t begin, end;
  std::int64_t first, count;
  std::int64_t plane;
  bool in_panels;
};

struct WinogradKernels {
  // Of tiles of 6x6 (the input) and of 4x4 (the gradient of the output); `zeros`: as many as there are channels.
  void (*transform_input)(const WinogradImages&, const WinogradTiles&, const float* images, const float* zeros,
                          float* to);
  void (*transform_gradient)(const WinogradImages&, const WinogradTiles&, const float* images, const float* zeros,
                             float* to);
  // Tiles of 4x4 of the output, plus `bias` (may be null).
  void (*transform_output)(const WinogradImages&, const WinogradTiles&, const float* from, const float* bias,
                           float* images);
  // The filters of the kWinogradLanes outputs from `output` on, at to[k * plane + (panel, input, output)]. Element (o,
  // i, y, x) of w is at o * output_step + i * input_step + 3 * y + x, or, `turned`, the one at (2 - y, 2 - x).
  void (*transform_filter)(const float* w, std::int64_t output_step, std::int64_t input_step, std::int64_t inputs,
                           std::int64_t output, bool turned, std::int64_t plane, float* to);
  // Rows of gw (outputs, inputs, 3, 3) from the sums (point, input, output) for the inputs `begin` to `end`.
  void (*transform_filter_gradient)(const float* sums, std::int64_t plane, std::int64_t inputs, std::int64_t outputs,
                                    std::int64_t begin, std::int64_t end, float* gw);
  // c (rows, outputs) = a (rows, inputs) @ b, whose panels of kWinogradLanes columns are (inputs, kWinogradLanes).
  void (*multiply)(const float* a, const float* b, float* c, std::int64_t rows, std::int64_t inputs,
                   std::int64_t outputs);
  // Rows `begin` to `end` (multiples of kWinogradLanes) of c (inputs, outputs) = or += a^T @ b over `tiles`, both in
  // panels.
  void (*add_products)(const float* a, const float* b, float* c, std::int64_t tiles, std::int64_t begin,
                       std::int64_t end, std::int64_t outputs, bool first);
};
// Null where the processor does not suit.
const WinogradKernels* winograd_kernels();

// Null where the algorithm does not apply, or is slower.
Array winograd_convolution(const Array& x, const Array& w, const Array& b, const Shape& y_shape,
                           const ConvolutionSpec& spec);
Array winograd_convolution_backward_data(const Array& w, const Array& gy, const Shape& x_shape,
                                         const ConvolutionSpec& spec);
Array winograd_convolution_backward_filter(const Array& x, const Array& gy, const Shape& w_shape,
                                           const ConvolutionSpec& spec);

}  // namespace autograd::internal
