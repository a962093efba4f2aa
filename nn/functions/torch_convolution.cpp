#include <catena/nn/functions/torch_convolution.h>

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include <catena/autograd/functions/array.h>
#include <catena/autograd/functions/reduction.h>
#include <catena/nn/functions/composed.h>
#include <catena/nn/functions/torch_batches.h>

namespace nn {

using autograd::Dims;
using autograd::Dtype;
using autograd::Shape;
using catena::check;
using catena::ValueError;

bool Padding::is_same(std::string_view text) {
  check<ValueError>(text == "same" || text == "valid", "convolution", "padding is \"", text,
                    "\"; it is \"same\", \"valid\" or a number of elements");
  return text == "same";
}

namespace internal {
namespace {

Pair pair_of(const char* op, const char* name, const Lengths& lengths) {
  const Dims both = lengths.of(op, name, 2);
  return {int(both[0]), int(both[1])};
}

Variable convolved(const char* op, int axes, const Variable& x, const Variable& weight, const Variable& bias,
                   const ConvFuncOptions& o) {
  if (axes == 2)
    return convolution_2d(x, weight, bias,
                          ConvolutionOptions{.stride = pair_of(op, "stride", o.stride),
                                             .pad = pair_of(op, "padding", o.padding),
                                             .dilate = pair_of(op, "dilation", o.dilation),
                                             .groups = o.groups});
  const ConvolutionNdOptions options{.stride = o.stride, .pad = o.padding, .dilate = o.dilation, .groups = o.groups};
  return axes == 1 ? convolution_1d(x, weight, bias, options) : convolution_3d(x, weight, bias, options);
}

}  // namespace

SamePadding same_padding(const char* op, const Dims& kernel, const Lengths& stride, const Lengths& dilation) {
  const int axes = kernel.size();
  const Dims steps = stride.of(op, "stride", axes), taps = dilation.of(op, "dilation", axes);
  SamePadding result{Dims::filled(axes, 0), Dims::filled(axes, 0)};
  for (int a = 0; a < axes; ++a) {
    check<ValueError>(steps[a] == 1, op, "padding is \"same\" and stride ", steps, "; it must be 1");
    const std::int64_t all = taps[a] * (kernel[a] - 1);
    result.both[a] = all / 2;
    result.behind[a] = all % 2;
  }
  return result;
}

Variable padded_behind(const Variable& x, const Dims& behind) {
  const auto is_zero = [](std::int64_t n) { return n == 0; };
  if (std::all_of(behind.begin(), behind.end(), is_zero)) return x;
  std::vector<std::pair<std::int64_t, std::int64_t>> sides(std::size_t(x.ndim()), {0, 0});
  const int first = x.ndim() - behind.size();
  for (int a = 0; a < behind.size(); ++a) sides[std::size_t(first + a)].second = behind[a];
  return autograd::pad(x, sides, "constant");
}

Variable conv(int axes, const Variable& x, const Variable& weight, const Variable& bias, const ConvFuncOptions& o) {
  const std::string op = catena::concat("conv", axes, "d");
  if (weight && weight.ndim() != axes + 2)
    throw catena::InvalidType(catena::concat("weight.ndim == ", axes + 2),
                              catena::concat(weight.ndim(), " != ", axes + 2),
                              catena::concat("Invalid operation is performed in: ", op, "\n\n"));
  return with_batch(op.c_str(), x, axes, [&](const Variable& batch) {
    if (!o.padding.same()) return convolved(op.c_str(), axes, batch, weight, bias, o);
    Dims kernel;
    for (int a = 0; a < axes; ++a) kernel.push_back(weight.shape(2 + a));
    const SamePadding same = same_padding(op.c_str(), kernel, o.stride, o.dilation);
    ConvFuncOptions given = o;
    given.padding = Lengths(same.both);
    return convolved(op.c_str(), axes, padded_behind(batch, same.behind), weight, bias, given);
  });
}

Variable conv_transpose(int axes, const Variable& x, const Variable& weight, const Variable& bias,
                        const ConvTransposeFuncOptions& o) {
  const std::string op = catena::concat("conv_transpose", axes, "d");
  return with_batch(op.c_str(), x, axes, [&](const Variable& batch) {
    const Dims more = o.output_padding.of(op, "output_padding", axes);
    DeconvolutionNdOptions options{.stride = o.stride, .pad = o.padding, .dilate = o.dilation, .groups = o.groups};
    if (std::any_of(more.begin(), more.end(), [](std::int64_t n) { return n != 0; }) && weight &&
        weight.ndim() == axes + 2) {
      Dims kernel;
      for (int a = 0; a < axes; ++a) kernel.push_back(weight.shape(2 + a));
      options.outsize = transposed_size(op.c_str(), batch, kernel, o);
    }
    if (axes == 1) return deconvolution_1d(batch, weight, bias, options);
    if (axes == 3) return deconvolution_3d(batch, weight, bias, options);
    DeconvolutionOptions of_images{.stride = pair_of(op.c_str(), "stride", o.stride),
                                   .pad = pair_of(op.c_str(), "padding", o.padding),
                                   .dilate = pair_of(op.c_str(), "dilation", o.dilation),
                                   .groups = o.groups};
    if (options.outsize) of_images.outsize = pair_of(op.c_str(), "output size", *options.outsize);
    return deconvolution_2d(batch, weight, bias, of_images);
  });
}

Lengths transposed_size(const char* op, const Variable& x, const Dims& kernel, const ConvTransposeFuncOptions& o) {
  const int axes = kernel.size();
  const Dims stride = o.stride.of(op, "stride", axes), padding = o.padding.of(op, "padding", axes),
             dilation = o.dilation.of(op, "dilation", axes), more = o.output_padding.of(op, "output_padding", axes);
  Dims size;
  for (int a = 0; a < axes; ++a) {
    check<ValueError>(more[a] >= 0 && (more[a] < stride[a] || more[a] < dilation[a]), op, "output_padding is ", more,
                      "; it must be at least 0 and less than the stride ", stride, " or the dilation ", dilation);
    size.push_back((x.shape(2 + a) - 1) * stride[a] - 2 * padding[a] + dilation[a] * (kernel[a] - 1) + more[a] + 1);
  }
  return Lengths(size);
}

}  // namespace internal

namespace functions {

Variable linear(const Variable& x, const Variable& weight, const Variable& bias) {
  const bool last = x && weight && x.ndim() > 2 && weight.ndim() == 2 && x.shape(x.ndim() - 1) == weight.shape(1);
  if (x && weight && x.ndim() == 1 && weight.ndim() == 2)
    return nn::linear(autograd::expand_dims(x, 0), weight, bias).reshape(weight.shape(0));
  return nn::linear(x, weight, bias, last ? std::optional<int>(-1) : std::nullopt);
}

namespace {

std::optional<std::int64_t> row_of(const char* op, const std::optional<std::int64_t>& padding_idx,
                                   const Variable& weight) {
  if (!padding_idx || !weight || weight.ndim() != 2) return padding_idx;
  const std::int64_t rows = weight.shape(0);
  check<ValueError>(*padding_idx >= -rows && *padding_idx < rows, op, "padding_idx is ", *padding_idx,
                    ", and the weight has ", rows, " rows");
  return *padding_idx < 0 ? *padding_idx + rows : *padding_idx;
}

// Which rows belong to each bag, in one list of positions for each, filled up to the length of the longest bag.
struct Bags {
  std::vector<std::int64_t> positions;  // among the indices
  std::vector<bool> present;
  std::int64_t number = 0, longest = 0;
};

std::vector<std::int64_t> ends_of(const Variable& input, const EmbeddingBagFuncOptions& o) {
  constexpr const char* kOp = "embedding_bag";
  const std::int64_t n = input.size();
  if (input.ndim() == 2) {
    check<ValueError>(!o.offsets, kOp, "offsets are for a vector of indices, and the input has the shape ",
                      input.shape());
    std::vector<std::int64_t> ends;
    for (std::int64_t i = 0; i <= input.shape(0); ++i) ends.push_back(i * input.shape(1));
    return ends;
  }
  check<ValueError>(input.ndim() == 1 && o.offsets, kOp, "the input has the shape ", input.shape(),
                    "; it is a matrix, or a vector with offsets");
  std::vector<std::int64_t> ends = autograd::to_vector<std::int64_t>(o.offsets);
  if (!o.include_last_offset) ends.push_back(n);
  check<ValueError>(!ends.empty() && ends[0] == 0 && std::is_sorted(ends.begin(), ends.end()) && ends.back() <= n, kOp,
                    "the offsets must begin with 0, not decrease, and not exceed the number of indices ", n);
  return ends;
}

// `ids` may be empty unless there is an index to be ignored.
Bags bags_of(const std::vector<std::int64_t>& ends, const std::vector<std::int64_t>& ids,
             const std::optional<std::int64_t>& ignored) {
  Bags bags;
  bags.number = std::int64_t(ends.size()) - 1;
  for (std::size_t b = 0; b + 1 < ends.size(); ++b) bags.longest = std::max(bags.longest, ends[b + 1] - ends[b]);
  for (std::size_t b = 0; b + 1 < ends.size(); ++b)
    for (std::int64_t k = 0; k < bags.longest; ++k) {
      const std::int64_t at = ends[b] + k;
      const bool inside = at < ends[b + 1];
      bags.positions.push_back(inside ? at : 0);
      bags.present.push_back(inside && !(ignored && ids[std::size_t(at)] == *ignored));
    }
  return bags;
}

Variable reduced_bags(const Variable& rows, const Bags& bags, std::string_view mode) {
  const Dtype dtype = rows.dtype();
  std::vector<double> present(bags.present.begin(), bags.present.end());
  std::vector<double> divisors, filled;
  for (std::int64_t b = 0; b < bags.number; ++b) {
    const auto first = bags.present.begin() + b * bags.longest;
    const auto count = double(std::count(first, first + bags.longest, true));
    divisors.push_back(std::max(count, 1.0));
    filled.push_back(count > 0);
  }
  const auto constant = [&](const std::vector<double>& values, const Shape& shape) {
    return autograd::as_variable(autograd::astype(autograd::array(values, shape, rows.device()), dtype));
  };
  const Variable mask = constant(present, {bags.number, bags.longest, 1});
  if (mode != "max") {
    const Variable sums = sum(rows * mask, 1);
    return mode == "sum" ? sums : sums / constant(divisors, {bags.number, 1});
  }
  const Array is_absent = nn::internal::equal(autograd::broadcast_to(mask.data(), rows.shape()), 0);
  const Variable absent =
      autograd::masked_fill(rows, autograd::as_variable(is_absent), -std::numeric_limits<double>::infinity());
  const Variable first = autograd::expand_dims(autograd::argmax(absent, 1), 1);
  return autograd::squeeze(autograd::take_along_axis(rows, first, 1), 1) * constant(filled, {bags.number, 1});
}

}  // namespace

Variable embedding(const Variable& input, const Variable& weight, const EmbeddingFuncOptions& o) {
  return embed_id(input, weight, EmbedIDOptions{.padding_idx = row_of("embedding", o.padding_idx, weight)});
}

Variable embedding_bag(const Variable& input, const Variable& weight, const EmbeddingBagFuncOptions& o) {
  constexpr const char* kOp = "embedding_bag";
  check<ValueError>(o.mode == "mean" || o.mode == "sum" || o.mode == "max", kOp, "the mode is \"", o.mode,
                    "\"; the modes are \"mean\", \"sum\" and \"max\"");
  check<ValueError>(!o.per_sample_weights || (o.mode == "sum" && o.per_sample_weights.shape() == input.shape()), kOp,
                    "per_sample_weights are for the mode \"sum\" and have the shape of the input, ", input.shape());
  const std::optional<std::int64_t> ignored = row_of(kOp, o.padding_idx, weight);
  std::vector<std::int64_t> ids;
  if (ignored) ids = autograd::to_vector<std::int64_t>(input.data());
  const Bags bags = bags_of(ends_of(input, o), ids, ignored);
  const Shape shape{bags.number, bags.longest};
  if (bags.positions.empty())
    return Variable(autograd::arrays::zeros({bags.number, weight.shape(1)}, weight.dtype(), weight.device()));
  const Array positions = autograd::array(bags.positions, shape, input.device());
  const auto chosen = [&](const Variable& of) {
    return autograd::get_item(autograd::reshape(of, {-1}), {autograd::IndexItem(positions)});
  };
  Variable rows = embed_id(chosen(input), weight);
  if (o.per_sample_weights) rows = rows * autograd::expand_dims(chosen(o.per_sample_weights), -1);
  return reduced_bags(rows, bags, o.mode);
}

}  // namespace functions
}  // namespace nn
