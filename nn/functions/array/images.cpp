// Pixels and channels, patches.
#include <algorithm>

#include <catena/autograd/function_node.h>
#include <catena/autograd/function_options.h>
#include <catena/autograd/functions/array.h>
#include <catena/autograd/input_types.h>
#include <catena/autograd/nn_extension.h>
#include <catena/nn/functions/array.h>
#include <catena/nn/functions/connection/geometry.h>
#include <catena/nn/functions/torch_images.h>

namespace nn {

using autograd::apply_node;
using autograd::Array;
using autograd::Arrays;
using autograd::ConvolutionSpec;
using autograd::Dims;
using autograd::FunctionNode;
using autograd::nn_extension;
using autograd::Shape;
using autograd::Targets;
using autograd::type_check::TypeInfoTuple;

Variable pad(const Variable& x, std::initializer_list<catena::Integer> widths, const PadModeOptions& o) {
  return internal::pad_last(x, widths, o);
}

Variable internal::pad_last(const Variable& x, const std::vector<catena::Integer>& widths, const PadModeOptions& o) {
  const std::int64_t given = std::int64_t(widths.size());
  catena::check<catena::ValueError>(given % 2 == 0 && given / 2 <= x.ndim(), "pad", "there are ", given,
                                    " widths for an array of the shape ", x.shape(),
                                    "; there must be two for each axis, beginning with the last one");
  const std::pair<std::string_view, std::string_view> modes[] = {
      {"constant", "constant"}, {"reflect", "reflect"}, {"replicate", "edge"}, {"circular", "wrap"}};
  const auto* const mode = std::ranges::find(modes, o.mode, &std::pair<std::string_view, std::string_view>::first);
  catena::check<catena::ValueError>(mode != std::end(modes), "pad", "the mode is \"", o.mode,
                                    "\"; the modes are \"constant\", \"reflect\", \"replicate\" and \"circular\"");
  if (o.mode == "reflect")
    for (std::int64_t k = 0; k < given; ++k) {
      const std::int64_t width = widths[std::size_t(k)], length = x.shape(int(x.ndim() - 1 - k / 2));
      catena::check<catena::ValueError>(width < length, "pad", "the width ", width,
                                        " of the mode \"reflect\" is not less than the length of the axis, ", length);
    }
  std::vector<std::pair<std::int64_t, std::int64_t>> sides(std::size_t(x.ndim()), {0, 0});
  for (std::int64_t k = 0; k < given; k += 2)
    sides[std::size_t(x.ndim() - 1 - k / 2)] = {widths[std::size_t(k)], widths[std::size_t(k + 1)]};
  return autograd::pad(x, sides, mode->second, {.constant_values = autograd::Scalar(o.value)});
}

namespace {

void expect_images(const TypeInfoTuple& in_types) {
  using namespace autograd::type_check;
  expect(in_types[0].dtype.kind() == 'f', in_types[0].ndim == 4);
}

void check_block(const char* op, int r) {
  catena::check<catena::ValueError>(r >= 1, op, "blocks of ", r, " pixels; r must be at least 1");
}

// Converts (B, a, b, e, H, W) to (B, c, H, i, W, j). `axes` gives the positions of c, i and j (channel, row and column
// of the block) among a, b and e.
Variable blocks_of_channels(const char* label, const Variable& X, int r, const Shape& channels, const Dims& axes) {
  check_block(label, r);
  autograd::internal::check_input_types(
      label, {X},
      [r](const TypeInfoTuple& in_types) {
        using namespace autograd::type_check;
        expect_images(in_types);
        expect(in_types[0].shape[1] % variable(r * r, "r ** 2") == 0);
      },
      "X");
  const std::int64_t C = X.shape(1) / (r * r);
  Shape apart{X.shape(0)};
  for (const std::int64_t n : channels) apart.push_back(n < 0 ? C : n);
  apart.push_back(X.shape(2));
  apart.push_back(X.shape(3));
  return reshape(transpose(reshape(X, apart), axes), {X.shape(0), C, X.shape(2) * r, X.shape(3) * r});
}

// The reverse: returns (B, C, H, r, W, r) with its axes in the order `axes`.
Variable channels_of_blocks(const char* label, const Variable& X, int r, const Dims& axes) {
  check_block(label, r);
  autograd::internal::check_input_types(
      label, {X},
      [r](const TypeInfoTuple& in_types) {
        using namespace autograd::type_check;
        expect_images(in_types);
        const auto size = variable(r, "r");
        expect(in_types[0].shape[2] % size == 0, in_types[0].shape[3] % size == 0);
      },
      "X");
  const std::int64_t C = X.shape(1), H = X.shape(2) / r, W = X.shape(3) / r;
  return reshape(transpose(reshape(X, {X.shape(0), C, H, r, W, r}), axes), {X.shape(0), C * r * r, H, W});
}

void add_options(const Dims& kernel, const ConvolutionSpec& spec, autograd::internal::FunctionOptions& o) {
  o.integers("size", kernel);
  o.integers("stride", spec.stride);
  o.integers("pad", spec.pad);
  o.integers("dilate", spec.dilate);
  o.integer("cover_all", spec.cover_all);
}

class Im2Col final : public FunctionNode, public autograd::internal::HasOptions {
 public:
  Im2Col(const Dims& kernel, const ConvolutionSpec& spec) : kernel_(kernel), spec_(spec) {}
  std::string label() const override { return "Im2Col"; }
  void options(autograd::internal::FunctionOptions& o) const override { add_options(kernel_, spec_, o); }
  void check_type_forward(const TypeInfoTuple& in_types) const override { expect_images(in_types); }
  Arrays forward(const Arrays& x) override {
    const Array col = nn_extension(x[0]).im2col(x[0], kernel_, spec_);
    return {autograd::reshape(col, {col.shape(0), col.shape(1) * kernel_[0] * kernel_[1], col.shape(4), col.shape(5)})};
  }
  Variables backward(const Targets&, const Variables& gy) override;

 private:
  Dims kernel_;
  ConvolutionSpec spec_;
};

class Col2Im final : public FunctionNode, public autograd::internal::HasOptions {
 public:
  Col2Im(const Shape& image, const Dims& kernel, const ConvolutionSpec& spec)
      : image_(image), kernel_(kernel), spec_(spec) {}
  std::string label() const override { return "Col2Im"; }
  void options(autograd::internal::FunctionOptions& o) const override { add_options(kernel_, spec_, o); }
  Arrays forward(const Arrays& in) override {
    const Shape& s = in[0].shape();
    const Array col = autograd::reshape(in[0], {image_[0], image_[1], kernel_[0], kernel_[1], s[2], s[3]});
    return {nn_extension(col).col2im(col, {image_[2], image_[3]}, spec_)};
  }
  Variables backward(const Targets&, const Variables& ggx) override {
    return apply_node<Im2Col>({ggx[0]}, kernel_, spec_);
  }

 private:
  Shape image_;
  Dims kernel_;
  ConvolutionSpec spec_;
};

Variables Im2Col::backward(const Targets&, const Variables& gy) {
  return apply_node<Col2Im>({gy[0]}, input_shape(0), kernel_, spec_);
}

}  // namespace

Variable depth2space(const Variable& X, int r) {
  return blocks_of_channels("Depth2Space", X, r, {r, r, -1}, {0, 3, 4, 1, 5, 2});
}
Variable space2depth(const Variable& X, int r) { return channels_of_blocks("Space2Depth", X, r, {0, 3, 5, 1, 2, 4}); }
Variable pixel_shuffle(const Variable& X, int r) {
  return blocks_of_channels("PixelShuffle", X, r, {-1, r, r}, {0, 1, 4, 2, 5, 3});
}
Variable pixel_unshuffle(const Variable& X, int r) {
  return channels_of_blocks("PixelUnshuffle", X, r, {0, 1, 3, 5, 2, 4});
}

Variable im2col(const Variable& x, Pair ksize, const ConvolutionOptions& o) {
  const ConvolutionSpec spec{.stride = {o.stride.y, o.stride.x},
                             .pad = {o.pad.y, o.pad.x},
                             .dilate = {o.dilate.y, o.dilate.x},
                             .cover_all = o.cover_all};
  return apply_node<Im2Col>({x}, Dims{ksize.y, ksize.x}, spec)[0];
}

namespace {
ConvolutionSpec spec_of(const FoldOptions& o) {
  return {.stride = {o.stride.y, o.stride.x}, .pad = {o.pad.y, o.pad.x}, .dilate = {o.dilate.y, o.dilate.x}};
}
}  // namespace

Variable unfold(const Variable& x, Pair ksize, const FoldOptions& o) {
  internal::check_geometry("unfold", o, 2);
  const Variable col = apply_node<Im2Col>({x}, Dims{ksize.y, ksize.x}, spec_of(o))[0];
  return reshape(col, {col.shape(0), col.shape(1), col.shape(2) * col.shape(3)});
}

Variable fold(const Variable& x, Pair output_size, Pair ksize, const FoldOptions& o) {
  internal::check_geometry("fold", o, 2);
  catena::check<catena::ValueError>(output_size.y > 0 && output_size.x > 0 && ksize.y > 0 && ksize.x > 0, "fold",
                                    "the sizes (", output_size.y, ", ", output_size.x, ") and (", ksize.y, ", ",
                                    ksize.x, ") must be positive");
  const std::int64_t h = autograd::get_conv_outsize(output_size.y, ksize.y, o.stride.y, o.pad.y, false, o.dilate.y),
                     w = autograd::get_conv_outsize(output_size.x, ksize.x, o.stride.x, o.pad.x, false, o.dilate.x);
  autograd::internal::check_input_types(
      "Fold", {x},
      [&](const TypeInfoTuple& in_types) {
        using namespace autograd::type_check;
        expect(in_types[0].dtype.kind() == 'f', in_types[0].ndim == 3);
        expect(
            in_types[0].shape[1] % variable(ksize.y * ksize.x, "kh * kw") == 0,
            in_types[0].shape[2] == variable(std::max<std::int64_t>(h, 0) * std::max<std::int64_t>(w, 0), "oh * ow"));
      },
      "x");
  const Shape image{x.shape(0), x.shape(1) / (ksize.y * ksize.x), output_size.y, output_size.x};
  return apply_node<Col2Im>({reshape(x, {x.shape(0), x.shape(1), h, w})}, image, Dims{ksize.y, ksize.x}, spec_of(o))[0];
}

}  // namespace nn
