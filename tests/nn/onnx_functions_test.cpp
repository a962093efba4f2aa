// Losses, functions of positions, transforms and regions in ONNX files: exported and read again, they give the same
// results, also for other values, labels and lengths. Their results in onnxruntime are compared by
// tests/interop/onnx_test.py.
#include <catena/nn/onnx/export.h>

#include <catena/autograd/functions/array.h>
#include <catena/autograd/functions/fft.h>
#include <catena/autograd/functions/linalg.h>
#include <catena/nn/functions/array.h>
#include <catena/nn/functions/evaluation.h>
#include <catena/nn/functions/pooling.h>
#include <catena/nn/functions/probability_loss.h>
#include <catena/nn/onnx/import.h>
#include <catena/tests/support/training_fixtures.h>

using namespace test;
using nn::onnx::Model;

namespace {

using Call = catena::Function<Variables(const Variables&)>;

Variable numbers(const Shape& shape, double scale = 1) {
  std::vector<float> v;
  for (std::int64_t i = 0; i < catena::size_of(shape); ++i) v.push_back(float(scale * (double(i * 37 % 23) / 11 - 1)));
  return Variable(floats(v, shape));
}
Variable integers(const std::vector<std::int64_t>& v, Dtype dtype = Dtype::int32) {
  return Variable(autograd::astype(autograd::array(v, {std::int64_t(v.size())}), dtype));
}

bool has_operator(const Model& m, const std::string& type) {
  for (const auto& n : m.graph->node)
    if (n.op_type == type) return true;
  return false;
}

// Exports with the first call, and compares all calls.
Model check(const Call& f, const std::vector<Variables>& calls, const nn::onnx::ExportOptions& o = {}) {
  const Model model = nn::onnx::export_model(f, calls[0], o);
  nn::onnx::ImportedModel again{model};
  for (const Variables& inputs : calls) {
    const Variables expected = f(inputs), found = again.forward(inputs);
    BOOST_REQUIRE(found.size() == expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i) BOOST_TEST_CONTEXT("output " << i) {
        BOOST_TEST((found[i].shape() == expected[i].shape()));
        BOOST_TEST((found[i].dtype() == expected[i].dtype()));
        const auto a = values(found[i].data()), b = values(expected[i].data());
        for (std::size_t k = 0; k < std::min(a.size(), b.size()); ++k)
          BOOST_TEST((a[k] == b[k] || std::abs(a[k] - b[k]) < 2e-5 * std::max(1.0, std::abs(b[k]))),
                     a[k] << " instead of " << b[k]);
      }
  }
  return model;
}

Array class_weight() { return floats({0.5f, 2, 1, 1.5f}, {4}); }

}  // namespace

BOOST_AUTO_TEST_SUITE(onnx_functions)

BOOST_AUTO_TEST_CASE(losses_of_labels) {
  const Call losses = [](const Variables& in) -> Variables {
    const Variable &x = in[0], &t = in[1];
    return {nn::softmax_cross_entropy(x, t),
            nn::softmax_cross_entropy(x, t, {.normalize = false}),
            nn::softmax_cross_entropy(x, t, {.class_weight = class_weight(), .reduce = "no"}),
            nn::softmax_cross_entropy(x, t, {.class_weight = class_weight(), .normalize_by_weight = true}),
            nn::softmax_cross_entropy(x, t, {.reduce = "sum", .label_smoothing = 0.1}),
            nn::softmax_cross_entropy(x, t, {.class_weight = class_weight(), .label_smoothing = 0.1}),
            nn::nll_loss(nn::log_softmax(x), t, {.class_weight = class_weight()}),
            nn::softmax_focal_loss(x, t, {.class_weight = class_weight()}),
            nn::accuracy(x, t, -1),
            nn::accuracy(x, t)};
  };
  for (const Dtype dtype : {Dtype::int32, Dtype::int64, Dtype::int16}) {
    const Model m = check(losses,
                          {{numbers({3, 4}), integers({2, -1, 0}, dtype)},
                           {numbers({5, 4}, 3), integers({3, 0, -1, -1, 1}, dtype)},
                           {numbers({2, 4}, 3), integers({-1, -1}, dtype)}},
                          {.dynamic_batch = true});
    BOOST_TEST(has_operator(m, "SoftmaxCrossEntropyLoss"));
    BOOST_TEST(has_operator(m, "NegativeLogLikelihoodLoss"));
  }
  const Call bits = [](const Variables& in) -> Variables {
    return {nn::sigmoid_cross_entropy(in[0], in[1]), nn::sigmoid_cross_entropy(in[0], in[1], {.normalize = false}),
            nn::sigmoid_cross_entropy(in[0], in[1], {.reduce = "no"}), nn::binary_accuracy(in[0], in[1])};
  };
  check(bits, {{numbers({4}, 30), integers({1, 0, -1, 1})}, {numbers({2}), integers({-1, -1})}},
        {.dynamic_batch = true});
  const Call margins = [](const Variables& in) -> Variables {
    return {nn::hinge(in[0], in[1]), nn::hinge(in[0], in[1], {.norm = "L2", .reduce = "sum"}),
            nn::softmax_cross_entropy(in[0], in[1], {.ignore_label = 2})};
  };
  check(margins, {{numbers({3, 4}), integers({2, 1, 0})}, {numbers({1, 4}), integers({3})}}, {.dynamic_batch = true});
}

BOOST_AUTO_TEST_CASE(losses_of_numbers) {
  const Call losses = [](const Variables& in) -> Variables {
    const Variable &x = in[0], &y = in[1], q = sigmoid(y);
    return {nn::mean_squared_error(x, y),
            nn::mean_absolute_error(x, y),
            nn::huber_loss(x, y, 0.5),
            nn::huber_loss(x, y, 0.5, "mean"),
            nn::smooth_l1(x, y, 0.3),
            nn::triplet(x, y, x * y),
            nn::binary_cross_entropy_with_logits(x, q, {.pos_weight = class_weight()}),
            nn::binary_cross_entropy(sigmoid(x), q),
            nn::kl_div(nn::log_softmax(x), nn::relu(y), {.reduce = "batchmean"}),
            nn::focal_loss(x, q),
            nn::poisson_nll(x, nn::relu(y) * 3, {.full = true}),
            nn::gaussian_nll_loss(x, y, nn::relu(y)),
            nn::gaussian_kl_divergence(x, y, "mean"),
            nn::softmax_cross_entropy(x, nn::softmax(y))};
  };
  const Model m = check(losses, {{numbers({3, 4}), numbers({3, 4}, 2)}, {numbers({5, 4}, 2), numbers({5, 4})}},
                        {.dynamic_batch = true});
  BOOST_TEST(has_operator(m, "LessOrEqual"));
  // The distances of equal rows.
  const Call pairs = [](const Variables& in) -> Variables { return {nn::contrastive(in[0], in[1], in[2])}; };
  check(pairs, {{numbers({3, 2}), numbers({3, 2}, 2), integers({1, 0, 1})},
                {numbers({3, 2}), numbers({3, 2}), integers({0, 0, 1})}});
}

BOOST_AUTO_TEST_CASE(embeddings_with_a_label_to_ignore) {
  nn::EmbedID embed(5, 3, {.ignore_label = -1});
  const Call f = [&](const Variables& in) -> Variables { return {embed(in[0])}; };
  const Model m = check(f, {{integers({0, -1, 4})}, {integers({-1, -1, 2, 3}, Dtype::int32)}},
                        {.dynamic_batch = true, .link = &embed});
  BOOST_TEST(has_operator(m, "Gather"));
  const auto& stored = m.graph->initializer;
  BOOST_TEST(std::any_of(stored.begin(), stored.end(), [](const auto& tensor) { return tensor.name == "W"; }));
}

BOOST_AUTO_TEST_CASE(writes_and_reads_by_positions) {
  const Call writes = [](const Variables& in) -> Variables {
    const Variable &x = in[0], &index = in[1], &src = in[2];
    const Array rows = in[3].data();
    return {scatter(x, 1, index, src),
            scatter(x, 1, index, 7.0),
            scatter_add(x, 1, index, src),
            index_add(x, 0, in[3], src),
            index_add(transpose(x), 1, in[3], transpose(src)),
            scatter_add(x, {rows, rows}, Variable(autograd::arrays::ones({3})))};
  };
  const Variable index(autograd::reshape(integers({2, 0, 1, 1, 0, 2, 0, 1, 2}).data(), {3, 3}));
  const Model m = check(writes, {{numbers({4, 3}), index, numbers({3, 3}, 2), integers({1, 1, 0}, Dtype::int64)},
                                 {numbers({4, 3}, 2), index, numbers({3, 3}), integers({0, 2, 1}, Dtype::int64)}});
  BOOST_TEST(has_operator(m, "ScatterElements"));
  BOOST_TEST(has_operator(m, "ScatterND"));
  const Call reads = [](const Variables& in) -> Variables {
    const Variable& x = in[0];
    const Array a = in[1].data(), b = in[2].data();
    return {get_item(x, {a, b}), get_item(x, {autograd::_, a, b}), get_item(x, {a, autograd::_, b}),
            get_item(x, {autograd::Slice(1, {}), a, b}), nn::select_item(x(autograd::_, 0), in[2])};
  };
  check(reads, {{numbers({3, 3, 2}), integers({0, 2, -1}), integers({1, 0, 1})},
                {numbers({3, 3, 2}, 2), integers({1, 1, 0}), integers({0, 0, 1})}});
  const auto refused = [](const Call& f, const Variables& in) {
    return message_of<catena::NotImplementedError>([&] { nn::onnx::export_model(f, in); });
  };
  const Variables in{numbers({3, 3}), integers({0, 2})};
  const Call mixed = [](const Variables& v) -> Variables { return {scatter_add(v[0], {v[1].data(), 1}, v[0](0, 0))}; };
  BOOST_TEST(has(refused(mixed, in), "other items than arrays and whole axes"));
}

BOOST_AUTO_TEST_CASE(diagonals_and_choices) {
  const Call f = [](const Variables& in) -> Variables {
    const Variable &x = in[0], &v = in[1];
    return {diagonal(x),
            diagonal(x, 1, 1, 2),
            diagonal(x, -1, 2, 0),
            diag_embed(v),
            diag_embed(v, 2),
            diag_embed(v, -1),
            as_strided(v, {2, 2}, {1, 2}, 1),
            one_hot(in[2], 4),
            hardmax(v, 1),
            straight_through(sign(v), v),
            nn::pad_sequence({v(0), v(1)(autograd::Slice(0, 2))}, 4, 9)};
  };
  check(f, {{numbers({2, 3, 4}), numbers({2, 3}), integers({3, 0})},
            {numbers({2, 3, 4}, 2), numbers({2, 3}, 2), integers({1, 2})}});
  const Call windows = [](const Variables& in) -> Variables {
    return {nn::fold(nn::unfold(in[0], 3, {.stride = 2, .pad = 1}), {6, 5}, 3, {.stride = 2, .pad = 1})};
  };
  check(windows, {{numbers({2, 2, 6, 5})}, {numbers({1, 2, 6, 5}, 2)}}, {.dynamic_batch = true});
}

BOOST_AUTO_TEST_CASE(transforms_and_determinants) {
  const Call f = [](const Variables& in) -> Variables {
    const auto [re, im] = autograd::pairs::fft({in[0], in[1]});
    const auto [back, zero] = autograd::pairs::ifft({re, im});
    const auto [half, half_im] = autograd::pairs::rfft(in[0](0));
    return {re, im, back, zero, half, half_im, autograd::pairs::irfft({half, half_im})};
  };
  for (const std::int64_t opset : {17, 20}) {
    const Model m = check(f, {{numbers({2, 6}), numbers({2, 6}, 2)}, {numbers({3, 6}, 2), numbers({3, 6})}},
                          {.dynamic_batch = true, .opset_version = opset});
    BOOST_TEST(has_operator(m, "DFT"));
  }
  const Call g = [](const Variables& in) -> Variables {
    const auto [sign, logabsdet] = autograd::slogdet(in[0]);
    return {autograd::det(in[0]), sign, logabsdet, autograd::logdet(in[0])};
  };
  const Variable a(floats({2, 1, 0, 3, 1, 4, -1, 2}, {2, 2, 2}));
  const Model m = check(g, {{a}, {a * 0.5}});
  BOOST_TEST(has_operator(m, "Det"));
}

BOOST_AUTO_TEST_CASE(images_and_regions) {
  const Call samples = [](const Variables& in) -> Variables {
    return {nn::spatial_transformer_sampler(in[0], in[1]),
            nn::spatial_transformer_sampler(in[0], in[1], {.mode = "nearest", .padding_mode = "border"}),
            nn::spatial_transformer_sampler(in[0], in[1], {.padding_mode = "reflection", .align_corners = false})};
  };
  for (const std::int64_t opset : {17, 20})
    check(samples,
          {{numbers({2, 2, 4, 3}), numbers({2, 2, 2, 3}, 1.3)}, {numbers({1, 2, 4, 3}), numbers({1, 2, 2, 3})}},
          {.dynamic_batch = true, .opset_version = opset});
  const Call regions = [](const Variables& in) -> Variables {
    return {nn::roi_average_align_2d(in[0], in[1], in[2], {2, 3}, {.spatial_scale = 0.5}),
            nn::roi_average_align_2d(in[0], in[1], in[2], 2, {.sampling_ratio = 2, .aligned = true}),
            nn::roi_max_pooling_2d(in[0], in[1], in[2], 2, 0.5)};
  };
  const Variable rois(floats({0, 1, 6, 7, 2.5f, 2, 8, 5}, {2, 4}));
  check(regions, {{numbers({2, 2, 8, 8}), rois, integers({1, 0})}, {numbers({2, 2, 8, 8}, 2), rois, integers({0, 0})}});
  const Call pooled = [](const Variables& in) -> Variables { return {nn::roi_pooling_2d(in[0], in[1], 2, 3, 0.5)}; };
  const Variable of_images(floats({0, 0, 1, 7, 9, 1, 2, 2, 4, 5}, {2, 5}));
  check(pooled, {{numbers({2, 2, 6, 6}), of_images}});
  // The number of boxes that are kept follows from the values.
  const Call suppressed = [](const Variables& in) -> Variables {
    const Variable kept = nn::nms(in[0], in[1], 0.5);
    return {kept, get_item(in[0], {kept.data()})};
  };
  const Variable boxes(floats({0, 0, 4, 4, 0, 1, 4, 5, 5, 5, 8, 8}, {3, 4})),
      apart(floats({0, 0, 1, 1, 4, 4, 5, 5, 7, 7, 8, 8}, {3, 4}));
  check(suppressed,
        {{boxes, Variable(floats({0.5f, 0.9f, 0.1f}, {3}))}, {apart, Variable(floats({0.1f, 0.9f, 0.3f}, {3}))}});
}

// Values that a file cannot express are still refused.
BOOST_AUTO_TEST_CASE(functions_that_remain_without_an_equivalent) {
  const Variables in{numbers({3, 3})};
  const auto refused = [&](const Call& f) {
    return message_of<catena::NotImplementedError>([&] { nn::onnx::export_model(f, in); });
  };
  BOOST_TEST(has(refused([](const Variables& v) -> Variables { return {autograd::inv(v[0])}; }), "function Inv,"));
  BOOST_TEST(has(refused([](const Variables& v) -> Variables { return {cumprod(v[0], 0)}; }), "function CumProd,"));
  BOOST_TEST(
      has(refused([](const Variables& v) -> Variables { return {v[0] * Variable(autograd::copy(v[0].data()))}; }),
          "computed beside the variables"));
}

BOOST_AUTO_TEST_SUITE_END()
