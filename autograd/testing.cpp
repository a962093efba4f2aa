#include <catena/autograd/testing.h>

#include <cmath>

namespace autograd::testing {
namespace {

// Equal, both NaN, or within the tolerance; an infinity equals only itself.
bool near(double a, double b, double atol, double rtol) {
  if (a == b || (std::isnan(a) && std::isnan(b))) return true;
  if (std::isinf(a) || std::isinf(b)) return false;
  return std::fabs(a - b) <= atol + rtol * std::fabs(b);
}

}  // namespace

void assert_allclose(const Array& x, const Array& y, double atol, double rtol, bool verbose) {
  catena::check<catena::AssertionError>(x && y, "assert_allclose", x ? "the second" : "the first", " array is null");
  const bool broadcast = x.size() == 1 || y.size() == 1;
  catena::check<catena::AssertionError>(x.shape() == y.shape() || broadcast, "assert_allclose", "the shapes ",
                                        x.shape(), " and ", y.shape(), " differ");
  const std::vector<double> a = to_vector<double>(x), b = to_vector<double>(y);
  const std::size_t n = std::max(a.size(), b.size());
  if (a.empty() || b.empty()) return;
  std::size_t wrong = 0, worst = 0;
  double largest = -1;
  for (std::size_t i = 0; i < n; ++i) {
    const double p = a[a.size() == 1 ? 0 : i], q = b[b.size() == 1 ? 0 : i];
    if (near(p, q, atol, rtol)) continue;
    ++wrong;
    const double difference = std::isnan(p - q) ? INFINITY : std::fabs(p - q);
    if (difference > largest) largest = difference, worst = i;
  }
  if (wrong == 0) return;
  const double p = a[a.size() == 1 ? 0 : worst], q = b[b.size() == 1 ? 0 : worst];
  std::string text =
      catena::concat(wrong, " of ", n, " elements differ by more than atol ", atol, " + rtol ", rtol,
                     "; the largest difference, ", largest, ", is at element ", worst, ": ", p, " and ", q);
  if (verbose) text += "\nx: " + to_string(x) + "\ny: " + to_string(y);
  catena::fail<catena::AssertionError>("assert_allclose", text);
}

}  // namespace autograd::testing
