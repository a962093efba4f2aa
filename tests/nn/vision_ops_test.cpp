// nn::ops: forms of boxes, generalized overlaps, boxes by class and size, regions, the focal loss.
#include <catena/nn/vision/ops.h>

#include <boost/test/unit_test.hpp>
#include <cmath>

#include <catena/autograd/gradient_check.h>
#include <catena/tests/support/framework_derivatives.h>

using namespace autograd;

namespace {

using Numbers = std::vector<double>;
using Ids = std::vector<std::int64_t>;

Variable boxes(const Numbers& values) { return Variable(array(values, {std::int64_t(values.size() / 4), 4})); }
void check_numbers(const Variable& v, const Numbers& expected) {
  const Numbers values = to_vector<double>(v.data());
  BOOST_REQUIRE(values.size() == expected.size());
  for (std::size_t i = 0; i < values.size(); ++i) BOOST_TEST(std::fabs(values[i] - expected[i]) < 1e-12, values[i]);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(vision_ops)

BOOST_AUTO_TEST_CASE(forms_of_boxes) {
  const Variable corners = boxes({1, 2, 4, 8});
  check_numbers(nn::ops::box_convert(corners, "xyxy", "xywh"), {1, 2, 3, 6});
  check_numbers(nn::ops::box_convert(corners, "xyxy", "cxcywh"), {2.5, 5, 3, 6});
  check_numbers(nn::ops::box_convert(boxes({2.5, 5, 3, 6}), "cxcywh", "xyxy"), {1, 2, 4, 8});
  check_numbers(nn::ops::box_convert(boxes({1, 2, 3, 6}), "xywh", "cxcywh"), {2.5, 5, 3, 6});
  BOOST_CHECK_THROW(nn::ops::box_convert(corners, "xyxy", "wh"), catena::ValueError);
  BOOST_CHECK_THROW(nn::ops::box_convert(Variable(arrays::zeros({2, 3})), "xyxy", "xywh"), catena::ValueError);
}

// Squares of side 2 that share a corner square of side 1: 1 / 7, in a square of side 3 of which 2 are free. Two squares
// of side 1 with one between them: 0, in an area 3 of which 1 is free.
BOOST_AUTO_TEST_CASE(generalized_overlap) {
  const Variable y = nn::ops::generalized_box_iou(boxes({0, 0, 2, 2, 0, 0, 1, 1}), boxes({1, 1, 3, 3, 2, 0, 3, 1}));
  BOOST_TEST(y.shape() == (Shape{2, 2}));
  check_numbers(y, {1. / 7 - 2. / 9, -1. / 6, -4. / 9, -1. / 3});
}

BOOST_AUTO_TEST_CASE(boxes_by_size_and_class) {
  check_numbers(nn::ops::clip_boxes_to_image(boxes({-1, 2, 30, 40}), {10, 20}), {0, 2, 20, 10});
  const Variable several = boxes({0, 0, 10, 10, 0, 0, 10, 9, 0, 0, 1, 9});
  const Variable scores(array(Numbers{0.5, 0.9, 0.8}, {3}));
  BOOST_TEST(to_vector<std::int64_t>(nn::ops::remove_small_boxes(several, 2).data()) == (Ids{0, 1}),
             boost::test_tools::per_element());
  const auto kept = [&](const Ids& classes) {
    return to_vector<std::int64_t>(nn::ops::batched_nms(several, scores, Variable(array(classes, {3})), 0.5).data());
  };
  BOOST_TEST(kept({0, 0, 0}) == (Ids{1, 2}), boost::test_tools::per_element());
  BOOST_TEST(kept({0, 1, 1}) == (Ids{1, 2, 0}), boost::test_tools::per_element());
}

// The values of the image are its columns, so that a bin has the mean of the columns of its points.
BOOST_AUTO_TEST_CASE(regions) {
  Numbers image;
  for (int i = 0; i < 64; ++i) image.push_back(i % 8);
  const Variable x(array(image, {1, 1, 8, 8})), roi(array(Numbers{0, 1, 2, 5, 6}, {1, 5}));
  check_numbers(nn::ops::roi_align(x, roi, {1, 2}, {.sampling_ratio = 2}), {2, 4});
  check_numbers(nn::ops::roi_align(x, roi, {1, 2}, {.sampling_ratio = 2, .aligned = true}), {1.5, 3.5});
  check_numbers(nn::ops::roi_align(x, roi, {1, 2}, 0.5, 2), {1, 2});
  check_numbers(nn::ops::roi_pool(x, roi, {1, 1}), {5});
  BOOST_CHECK_THROW(nn::ops::roi_align(x, boxes({1, 2, 5, 6}), 1), catena::ValueError);
}

BOOST_AUTO_TEST_CASE(focal_loss) {
  const Variable x(array(Numbers{0.5, -1, 2}, {3})), t(array(Numbers{1, 0, 0}, {3}));
  const auto loss = [](double logit, bool positive, double alpha, double gamma) {
    const double p = 1 / (1 + std::exp(-logit)), q = positive ? p : 1 - p;
    return (positive ? alpha : 1 - alpha) * std::pow(1 - q, gamma) * -std::log(q);
  };
  const Numbers each{loss(0.5, true, 0.25, 2), loss(-1, false, 0.25, 2), loss(2, false, 0.25, 2)};
  check_numbers(nn::ops::sigmoid_focal_loss(x, t), each);
  check_numbers(nn::ops::sigmoid_focal_loss(x, t, {.reduction = "sum"}), {each[0] + each[1] + each[2]});
  check_numbers(nn::ops::sigmoid_focal_loss(x, t, {.alpha = -1, .gamma = 1, .reduction = "mean"}),
                {2 * (loss(0.5, true, 0.5, 1) + loss(-1, false, 0.5, 1) + loss(2, false, 0.5, 1)) / 3});
  for (const char* reduction : {"max", "no"})
    BOOST_CHECK_THROW(nn::ops::sigmoid_focal_loss(x, t, {.reduction = reduction}), catena::ValueError);
  gradient_check::check_backward(
      [&](const Variable& v) { return nn::ops::sigmoid_focal_loss(v, t, {.reduction = "sum"}); }, {x.data()});
}

BOOST_AUTO_TEST_SUITE_END()
