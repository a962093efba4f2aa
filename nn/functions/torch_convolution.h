// Convolutions and linear maps with the names, the order of arguments and the options of torch.nn.functional, as names
// of nn::functional.
//
//   namespace F = nn::functional;
//   F::conv2d(x, w, b, 2, 1)  F::conv2d(x, w, b, {.padding = "same"})  F::conv2d(x, w, {.bias = b, .groups = 4})
//
// A bias of {} is none. Lengths are one for all axes or one for each. x has a batch or not: conv2d takes (N, C, H, W)
// and (C, H, W). Other errors are those of convolution_nd and deconvolution_nd.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <string_view>

#include <catena/nn/functions/connection.h>
#include <catena/nn/functions/loss.h>
#include <catena/nn/functions/modules.h>

namespace nn {

// The lengths of the padding before and after each axis, or a text: "valid" for none, "same" for the padding with which
// a convolution of stride 1 keeps the lengths; where it is odd, the greater part is behind. ValueError for other texts.
class Padding : public Lengths {
 public:
  using Lengths::Lengths;
  Padding(const Lengths& lengths) : Lengths(lengths) {}
  template <std::convertible_to<std::string_view> T> Padding(const T& text) : Lengths(0), same_(is_same(text)) {}
  bool same() const noexcept { return same_; }

 private:
  CATENA_EXPORT static bool is_same(std::string_view text);
  bool same_ = false;
};

struct ConvFuncOptions {
  [[no_unique_address]] catena::Named named = catena::Named();
  Variable bias = {};
  Lengths stride = 1;
  Padding padding = 0;
  Lengths dilation = 1;
  int groups = 1;
};
struct ConvTransposeFuncOptions {
  [[no_unique_address]] catena::Named named = catena::Named();
  Variable bias = {};
  Lengths stride = 1, padding = 0, output_padding = 0;
  int groups = 1;
  Lengths dilation = 1;
};

namespace internal {
CATENA_EXPORT Variable conv(int axes, const Variable& x, const Variable& weight, const Variable& bias,
                            const ConvFuncOptions& options);
CATENA_EXPORT Variable conv_transpose(int axes, const Variable& x, const Variable& weight, const Variable& bias,
                                      const ConvTransposeFuncOptions& options);

template <int axes> struct Conv {
  Variable operator()(const Variable& x, const Variable& weight, const Variable& bias = {},
                      const ConvFuncOptions& options = {}) const {
    return conv(axes, x, weight, bias, options);
  }
  template <std::same_as<ConvFuncOptions> O = ConvFuncOptions>
  Variable operator()(const Variable& x, const Variable& weight, const O& options) const {
    return conv(axes, x, weight, options.bias, options);
  }
  Variable operator()(const Variable& x, const Variable& weight, const Variable& bias, const Lengths& stride,
                      const Padding& padding = 0, const Lengths& dilation = 1, int groups = 1) const {
    return conv(axes, x, weight, bias, {.stride = stride, .padding = padding, .dilation = dilation, .groups = groups});
  }
};
template <int axes> struct ConvTranspose {
  Variable operator()(const Variable& x, const Variable& weight, const Variable& bias = {},
                      const ConvTransposeFuncOptions& options = {}) const {
    return conv_transpose(axes, x, weight, bias, options);
  }
  template <std::same_as<ConvTransposeFuncOptions> O = ConvTransposeFuncOptions>
  Variable operator()(const Variable& x, const Variable& weight, const O& options) const {
    return conv_transpose(axes, x, weight, options.bias, options);
  }
  Variable operator()(const Variable& x, const Variable& weight, const Variable& bias, const Lengths& stride,
                      const Lengths& padding = 0, const Lengths& output_padding = 0, int groups = 1,
                      const Lengths& dilation = 1) const {
    return conv_transpose(axes, x, weight, bias,
                          {.stride = stride,
                           .padding = padding,
                           .output_padding = output_padding,
                           .groups = groups,
                           .dilation = dilation});
  }
};
}  // namespace internal

namespace functions {

// Convolutions over one to three axes: weight (out, in / groups, k1, ...), bias (out). ValueError for padding "same"
// with a stride other than 1.
inline constexpr internal::Conv<1> conv1d;
inline constexpr internal::Conv<2> conv2d;
inline constexpr internal::Conv<3> conv3d;
// The transposed convolutions: weight (in, out / groups, k1, ...). The result is longer by output_padding at its end.
inline constexpr internal::ConvTranspose<1> conv_transpose1d;
inline constexpr internal::ConvTranspose<2> conv_transpose2d;
inline constexpr internal::ConvTranspose<3> conv_transpose3d;

// x W^T + b along the last axis of x, of any rank, if it has the length of the inputs of W (out, in); else, as
// nn::linear, which is Chainer's, of the axes of x but the first as one. b (out) or none.
CATENA_EXPORT Variable linear(const Variable& x, const Variable& weight, const Variable& bias = {});
inline Variable linear(const Variable& x, const Variable& weight, const Variable& bias,
                       std::optional<int> n_batch_axes) {
  return nn::linear(x, weight, bias, n_batch_axes);
}
struct LinearFuncOptions {
  [[no_unique_address]] catena::Named named = catena::Named();
  Variable bias = {};
};
// linear(x, weight, {.bias = b})
template <std::same_as<LinearFuncOptions> O = LinearFuncOptions>
Variable linear(const Variable& x, const Variable& weight, const O& o) {
  return linear(x, weight, o.bias);
}

struct EmbeddingFuncOptions {
  [[no_unique_address]] catena::Named named = catena::Named();
  std::optional<std::int64_t> padding_idx = {};  // this row of the weight gets no gradient; negative: from the end
};
// The rows of weight (V, d) for integers of any shape: (..., d). ValueError for a padding_idx outside [-V, V).
CATENA_EXPORT Variable embedding(const Variable& input, const Variable& weight,
                                 const EmbeddingFuncOptions& options = {});
inline Variable embedding(const Variable& input, const Variable& weight, std::int64_t padding_idx) {
  return embedding(input, weight, EmbeddingFuncOptions{.padding_idx = padding_idx});
}

struct EmbeddingBagFuncOptions {
  [[no_unique_address]] catena::Named named = catena::Named();
  ConstantArray offsets = {};                    // of a vector of indices: where each bag begins; the first is 0
  std::string_view mode = "mean";                // or "sum", "max"; ValueError for others
  Variable per_sample_weights = {};              // factors of the rows, of the shape of the indices; mode "sum" only
  std::optional<std::int64_t> padding_idx = {};  // indices that do not belong to the bag
  bool include_last_offset = false;              // the last offset is the number of indices
};
// The sums, means or maxima of the rows of weight (V, d) of bags of indices: a row of input (B, L) is a bag, or the
// part of a vector from an offset to the next one -> (B, d). An empty bag is 0. ValueError for offsets that do not
// begin with 0 or that decrease. Reads offsets on the host, and with a padding_idx the indices.
CATENA_EXPORT Variable embedding_bag(const Variable& input, const Variable& weight,
                                     const EmbeddingBagFuncOptions& options = {});
inline Variable embedding_bag(const Variable& input, const Variable& weight, const ConstantArray& offsets,
                              EmbeddingBagFuncOptions options = {}) {
  return embedding_bag(input, weight, (options.offsets = offsets, options));
}

}  // namespace functions
}  // namespace nn
