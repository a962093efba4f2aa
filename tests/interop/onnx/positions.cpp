// Elements by position, diagonals, transforms, determinants, and regions of images.
#include <catena/tests/interop/onnx/networks.h>

#include <catena/autograd/functions/fft.h>
#include <catena/autograd/functions/linalg.h>

namespace onnx_networks {
namespace {

using namespace autograd;

Variables writes(const Variable& x, const Variable& index, const Variable& src, const Variable& rows) {
  return {scatter(x, 1, index, src),
          scatter(x, 1, index, 2.5),
          scatter_add(x, 1, index, src),
          index_add(x, 0, rows, src(_, Slice(0, 1)) * 2),
          scatter_add(x, {rows.data()}, src(_, Slice(0, 1))),
          scatter_add(transpose(x), {Slice(), rows.data()}, transpose(src(_, Slice(0, 1)))),
          scatter_add(x, {rows.data(), rows.data()}, Variable(autograd::arrays::ones({2})))};
}

Variables reads(const Variable& x, const Variable& a, const Variable& b) {
  return {get_item(x, {a.data(), b.data()}),
          get_item(x, {_, a.data(), b.data()}),
          get_item(x, {a.data(), _, b.data()}),
          get_item(x, {Slice(1, {}), a.data(), b.data()}),
          get_item(x, {a.data(), std::vector<int>{1, 0, -1}}),
          nn::select_item(reshape(x, {3, -1}), a)};
}

Variables diagonals(const Variable& x, const Variable& v) {
  return {diagonal(x),
          diagonal(x, 1, 1, 2),
          diagonal(x, -1, 2, 1),
          diag_embed(v),
          diag_embed(v, 1),
          diag_embed(v, -2),
          tril(x),
          triu(x, 1),
          as_strided(v, {2, 2}, {1, 2}, 1),
          nn::pad_sequence({v(0), v(1)(Slice(0, 2))}, 5, -1.0),
          einsum("nii->n", x(_, _, Slice(0, 3)))};
}

Variables choices(const Variable& x, const Variable& ids) {
  return {one_hot(ids, 6), one_hot(ids, 6, Dtype::float64), hardmax(x, 1), straight_through(sign(x), x),
          logit(sigmoid(x))};
}

Variables windows(const Variable& x) {
  return {nn::fold(nn::unfold(x, 3, {.stride = 2, .pad = 1}), {7, 6}, 3, {.stride = 2, .pad = 1}),
          nn::fold(nn::unfold(x, {2, 3}), {7, 6}, {2, 3})};
}

Variables transforms(const Variable& x, const Variable& y) {
  const auto [re, im] = pairs::fft({x, y});
  const auto [back, zero] = pairs::ifft({re, im});
  const auto [half, half_im] = pairs::rfft(x);
  const auto [of_row, of_row_im] = pairs::fft({x(0), y(0)});
  return {re,
          im,
          back,
          zero,
          half,
          half_im,
          pairs::irfft({half, half_im}),
          pairs::irfft({half, half_im}, 7),
          of_row,
          of_row_im,
          pairs::ifft({of_row}).imag};
}

Variables determinants(const Variable& a) {
  const Variable product = matmul(a, a, false, true);
  const auto [sign, logabsdet] = slogdet(a);
  return {det(a),
          sign,
          logabsdet,
          batch_det(a),
          logdet(product),
          matrix_power(a, 3),
          outer(a(0, 0), a(1, 0)),
          multi_dot({a(0), a(1), a(0)}),
          kron(a(0), a(1)),
          trace(a(0))};
}

Variables samples(const Variable& x, const Variable& grid) {
  Variables all;
  for (const char* padding : {"zeros", "border", "reflection"})
    for (const bool aligned : {true, false})
      all.push_back(nn::spatial_transformer_sampler(x, grid, {.padding_mode = padding, .align_corners = aligned}));
  all.push_back(nn::spatial_transformer_sampler(x, grid, {.mode = "nearest"}));
  return all;
}

Variables regions(const Variable& x, const Variable& rois, const Variable& images) {
  return {nn::roi_average_align_2d(x, rois, images, {2, 3}),
          nn::roi_average_align_2d(x, rois, images, 2, {.spatial_scale = 0.5, .sampling_ratio = 2}),
          nn::roi_average_align_2d(x, rois, images, {3, 2}, {.sampling_ratio = 2, .aligned = true}),
          nn::roi_max_pooling_2d(x, rois, images, {2, 3}, 0.5), nn::roi_max_pooling_2d(x, rois, images, 2, 1)};
}

Variable corners(const std::vector<float>& values, std::int64_t columns) {
  return Variable(array(values, {std::int64_t(values.size()) / columns, columns}));
}

}  // namespace

void add_positions(Writer& w) {
  const Variable rows(array(std::vector<std::int64_t>{1, 0}, {2}));
  w.add("writes", writes, {{random({2, 5}), numbers({2, 3}, 5), random({2, 3}, 2), rows}});
  const auto position = [](std::vector<std::int64_t> v) {
    const auto n = std::int64_t(v.size());
    return Variable(array(v, {n}));
  };
  w.add("reads_by_arrays", reads, {{random({3, 3, 4}), position({0, 2, 1}), position({1, 1, -1})}});
  const std::vector<Variables> squares = {{random({2, 3, 4}), random({2, 3})}};
  w.add("diagonals", diagonals, squares);
  w.add("choices", choices, {{random({2, 4, 3}), numbers({2, 3}, 6)}, {random({5, 4, 3}), numbers({5, 3}, 6)}},
        dynamic_batch());
  w.add("windows", windows, {{random({2, 3, 7, 6})}, {random({1, 3, 7, 6})}}, dynamic_batch());
  const std::vector<Variables> signals = {{random({3, 6}), random({3, 6}, 0.5)}, {random({4, 6}), random({4, 6}, 2)}};
  w.add("transforms", transforms, signals, dynamic_batch());
  ExportOptions newer = dynamic_batch();
  newer.opset_version = 20;
  w.add("transforms_opset_20", transforms, signals, newer);
  w.add("determinants", determinants, {{random({2, 3, 3})}});
  const std::vector<Variables> images = {{random({2, 3, 5, 4}), random({2, 2, 3, 6}, 0.7)},
                                         {random({1, 3, 5, 4}), random({1, 2, 3, 6}, 0.7)}};
  w.add("grid_samples", samples, images, dynamic_batch());
  w.add("grid_samples_opset_20", samples, images, newer);
  w.add("regions", regions,
        {{random({2, 3, 9, 8}), corners({0, 1, 6, 7, 2.5f, 2, 8, 5, 3, 0, 4, 8}, 4), position({0, 1, 1})}});
  w.add("roi_pooling", [](const Variable& x, const Variable& rois) { return nn::roi_pooling_2d(x, rois, 2, 3, 0.5); },
        {{random({2, 3, 6, 6}), corners({0, 0, 1, 7, 9, 1, 2, 2, 4, 5, 1, 6, 0, 11, 11}, 5)}});
  w.add("nms",
        [](const Variable& boxes, const Variable& scores) {
          const Variable kept = nn::nms(boxes, scores, 0.5);
          return Variables{kept, get_item(boxes, {kept.data()})};
        },
        {{corners({0, 0, 4, 4, 0, 1, 4, 5, 5, 5, 8, 8, 0, 0, 4, 4.5f, 5, 5, 8, 7}, 4), positive(Shape{5})}});
}

}  // namespace onnx_networks
