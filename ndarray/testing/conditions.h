// Requirements of tests (devices, versions), repetition of statistical tests, and the chi-square test.
//
//   if (!nd::testing::gpu()) return;                              // "skipped: ..." on standard output
//   nd::testing::condition::retry(3, [] { ... });
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include <catena/kernels/base/testing.h>
#include <catena/ndarray/testing/assertions.h>

namespace nd::testing {

// ---- requirements of a test ---------------------------------------------------------------------
// Return true if the requirement is met. If not, a line on standard output says why the test is skipped.
CATENA_EXPORT bool multi_gpu(int count);  // at least `count` CUDA devices
inline bool gpu() { return multi_gpu(1); }
namespace attr {
using testing::gpu;
using testing::multi_gpu;
}  // namespace attr
// Requirements are "<name>" or "<name><comparison><version>" with one of == != <= >= < >: "catena>=0.1". Names are
// catena, and cpu and cuda, which have no version. ValueError for other texts; an unknown name is an unmet requirement.
CATENA_EXPORT bool with_requires(const std::vector<std::string_view>& requirements);

// Silences warnings (kernels/base/warning.h) until the end of the scope.
class CATENA_EXPORT NumpyError {
 public:
  NumpyError();
  ~NumpyError();
  NumpyError(const NumpyError&) = delete;
  NumpyError& operator=(const NumpyError&) = delete;

 private:
  WarningHandler before_;
};

// ---- repetition ---------------------------------------------------------------------------------
namespace condition = catena::testing::condition;  // repeat, retry, repeat_with_success_at_least

// ---- statistics ---------------------------------------------------------------------------------
namespace hypothesis {
// Pearson's test that `observed` counts have the distribution `expected`: true if that is not rejected at the level
// alpha, which must be 0.05 or 0.01. df: degrees of freedom, from 1 to 250; by default one less than the number of
// counts. ValueError for others, and for counts of different shapes.
CATENA_EXPORT bool chi_square_test(const ArrayLike& observed, const ArrayLike& expected, double alpha = 0.05,
                                   std::optional<int> df = {});
}  // namespace hypothesis

}  // namespace nd::testing
