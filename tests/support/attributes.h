// Requirements of test cases, as decorators of Boost.Test:
//
//   BOOST_AUTO_TEST_CASE(trains, *test::gpu()) { ... }
//   BOOST_AUTO_TEST_CASE(exchanges, *test::multi_gpu(2) * test::slow()) { ... }
//
// A case whose requirement is not met is skipped, with the reason on standard output. Cases have labels with these
// names: a test program accepts --run_test='@gpu' or '!@slow'. An entry of ctest has the labels of all cases of its
// file (tests/CMakeLists.txt searches for the decorators): ctest -L slow, ctest -LE 'cudnn|multi_gpu'. The predicates
// are those of autograd/testing.h; CATENA_TEST_SKIP=slow,gpu skips these cases as well.
#pragma once

#include <boost/test/unit_test.hpp>
#include <string>

#include <catena/autograd/testing.h>

namespace test {

class Need : public boost::unit_test::decorator::base {
 public:
  using Predicate = bool (*)(int count);
  Need(std::string label, Predicate is_met, int count = 1) : label_(std::move(label)), is_met_(is_met), count_(count) {}

 private:
  void apply(boost::unit_test::test_unit& unit) override {
    unit.add_label(label_);
    if (label_ == "cudnn") unit.add_label("gpu");
    if (label_ == "multi_gpu") unit.add_label("multi_gpu(" + std::to_string(count_) + ")");
    const auto is_met = is_met_;
    const int count = count_;
    unit.add_precondition(
        [is_met, count](boost::unit_test::test_unit_id) { return boost::test_tools::assertion_result(is_met(count)); });
  }
  boost::unit_test::decorator::base_ptr clone() const override {
    return boost::unit_test::decorator::base_ptr(new Need(label_, is_met_, count_));
  }

  std::string label_;
  Predicate is_met_;
  int count_;
};

struct gpu : Need {
  gpu() : Need("gpu", [](int) { return autograd::testing::attr::gpu(); }) {}
};
struct cudnn : Need {  // implies gpu
  cudnn() : Need("cudnn", [](int) { return autograd::testing::attr::cudnn(); }) {}
};
struct multi_gpu : Need {
  explicit multi_gpu(int count)
      : Need(
            "multi_gpu", [](int n) { return autograd::testing::attr::multi_gpu(n); }, count) {}
};
struct slow : Need {
  slow() : Need("slow", [](int) { return autograd::testing::attr::slow(); }) {}
};

}  // namespace test
