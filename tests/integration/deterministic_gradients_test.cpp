// Gradients that add up what several elements contribute do so in a fixed order: on the software CUDA device they have
// the same bits in whatever order its threads run.
#include <boost/test/unit_test.hpp>

#include <functional>
#include <iostream>
#include <string>
#include <vector>

#include <catena/catena.h>
#include <catena/tests/support/cuda_device/control.h>

using autograd::Array;
using autograd::Dtype;
using autograd::Shape;
using autograd::Variable;
using autograd::Variables;
using cuda_device::Control;
using cuda_device::ThreadOrder;

namespace {

Array random(const Shape& shape, double low = -1, double high = 1) {
  return autograd::random_uniform(shape, low, high, Dtype::float32, autograd::default_generator());
}
Array integers(std::int64_t n, std::int64_t below, const Shape& shape) {
  std::vector<std::int32_t> v;
  for (std::int64_t i = 0; i < n; ++i) v.push_back(std::int32_t(i * i * 7 % below));  // many of them equal
  return autograd::array(v, shape);
}

struct Row {
  const char* name;
  std::vector<Array> inputs;
  std::function<Variable(const Variables&)> loss;  // before it is weighted and summed
};

// Every gradient, as the bits of its elements.
std::vector<std::vector<float>> gradients(const Row& row) {
  Variables x;
  for (const Array& a : row.inputs) x.push_back(Variable(a));
  Variable y = row.loss(x);
  autograd::seed(2);
  y.set_grad(random(y.shape()));
  y.backward();
  std::vector<std::vector<float>> result;
  for (const Variable& v : x)
    if (v.grad()) result.push_back(autograd::to_vector<float>(v.grad()));
  BOOST_TEST(!result.empty());
  return result;
}

std::vector<Row> rows() {
  autograd::seed(1);
  std::vector<Array> rois;
  std::vector<float> corners;
  for (int k = 0; k < 12; ++k) {
    const float at = float(k % 5);
    corners.insert(corners.end(), {float(k % 2), at, 1, at + 9, 13});
  }
  const Array regions = autograd::array(corners, {12, 5});
  const Array sequence_labels = integers(4 * 20, 5, {4, 20});
  return {
      {"get_item", {random({7, 3})}, [](const Variables& x) { return x[0](std::vector<int>(300, 2)); }},
      {"embed_id",
       {random({5, 4})},
       [ids = integers(700, 5, {700})](const Variables& x) { return nn::embed_id(Variable(ids), x[0]); }},
      {"select_item",
       {random({300, 4})},
       [t = integers(300, 4, {300})](const Variables& x) { return nn::select_item(x[0], Variable(t)); }},
      {"roi_pooling_2d",
       {random({2, 3, 16, 16})},
       [regions](const Variables& x) { return nn::roi_pooling_2d(x[0], Variable(regions), 5, 5, 1.0); }},
      {"connectionist_temporal_classification",
       {random({50, 4, 6})},
       [sequence_labels](const Variables& x) {
         return nn::connectionist_temporal_classification(autograd::separate(x[0]), Variable(sequence_labels), 5,
                                                          nn::CTCOptions{.reduce = "no"});
       }},
      {"black_out",
       {random({40, 6}), random({7, 6})},
       [t = integers(40, 7, {40}), samples = integers(40 * 9, 7, {40, 9})](const Variables& x) {
         return nn::black_out(x[0], Variable(t), x[1], Variable(samples), "no");
       }},
      {"negative_sampling",
       {random({40, 6}), random({7, 6})},
       [t = integers(40, 7, {40})](const Variables& x) {
         const auto sampler = [](const Shape& shape) { return integers(catena::size_of(shape), 7, shape); };
         return nn::negative_sampling(x[0], Variable(t), x[1], sampler, 9, "no");
       }},
      {"spatial_transformer_sampler",
       {random({2, 3, 5, 5}), random({2, 2, 20, 20})},
       [](const Variables& x) { return nn::spatial_transformer_sampler(x[0], x[1]); }},
      {"resize_images",
       {random({2, 3, 4, 4})},
       [](const Variables& x) {
         return nn::resize_images(x[0], {17, 19});
       }},
      {"max_pooling_2d", {random({2, 3, 12, 12})}, [](const Variables& x) { return nn::max_pooling_2d(x[0], 5, 1); }},
      {"average_pooling_2d",
       {random({2, 3, 12, 12})},
       [](const Variables& x) { return nn::average_pooling_2d(x[0], 5, 1); }},
      {"unpooling_2d",
       {random({2, 3, 6, 6})},
       [](const Variables& x) { return nn::unpooling_2d(x[0], 3, {.stride = nn::Lengths(1)}); }},
      {"convolution_2d",
       {random({2, 3, 12, 12}), random({4, 3, 3, 3})},
       [](const Variables& x) { return nn::convolution_2d(x[0], x[1], {}, 1, 1); }},
      {"crf1d",
       {random({4, 4}), random({30, 4}), random({30, 4})},
       [t = integers(30, 4, {30})](const Variables& x) {
         return nn::crf1d(x[0], {x[1], x[2]}, {Variable(t), Variable(t)}, "no");
       }},
      {"broadcast_to",
       {random({1, 5})},
       [](const Variables& x) {
         return autograd::broadcast_to(x[0], {600, 5});
       }},
      {"layer_normalization",
       {random({300, 7}), random({7}), random({7})},
       [](const Variables& x) { return nn::layer_normalization(x[0], x[1], x[2]); }},
  };
}

}  // namespace

BOOST_AUTO_TEST_SUITE(deterministic_gradients)

BOOST_AUTO_TEST_CASE(in_every_order_of_threads) {
  const bool on_device = Control::available();
  if (!on_device) std::cout << "the order of threads is chosen on the software CUDA device only: repeated calls\n";
  for (const Row& row : rows()) BOOST_TEST_CONTEXT(row.name) {
      const auto in_order = [&](ThreadOrder order) {
        if (on_device) Control().set_order(order);
        return gradients(row);
      };
      const auto ascending = in_order(ThreadOrder::ascending);
      for (const ThreadOrder order : {ThreadOrder::descending, ThreadOrder::shuffled})
        BOOST_TEST((in_order(order) == ascending));
    }
  if (on_device) Control().set_order(ThreadOrder::ascending);
}

// The same comparison finds a sum whose order is free: that of nd::Array::scatter_add.
BOOST_AUTO_TEST_CASE(an_order_that_is_free_is_seen) {
  if (!Control::available()) {
    std::cout << "skipped: the order of threads is chosen on the software CUDA device\n";
    return;
  }
  autograd::seed(3);
  const nd::Array index = integers(300, 4, {300}), values = random({300});
  const auto in_order = [&](ThreadOrder order) {
    Control().set_order(order);
    nd::Array sums = nd::zeros({4}, nd::float32);
    nd::scatter_add(sums, index, values);
    return sums.to_vector<float>();
  };
  const auto ascending = in_order(ThreadOrder::ascending);
  BOOST_TEST((in_order(ThreadOrder::descending) != ascending));
  Control().set_order(ThreadOrder::ascending);
}

BOOST_AUTO_TEST_SUITE_END()
