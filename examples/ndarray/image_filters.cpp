// Filters of images with windows of an array: a median removes single wrong pixels, a Gaussian blurs, differences find
// edges. The picture is drawn by formulas, so that the errors of the filters are known.
// writes: filters.png
// prints: wrong pixels: error 3[0-9][.][0-9]*; after the median 3[.][0-9]*, after the Gaussian [0-9.]*
#include <cstdlib>
#include <iostream>

#include <catena/ndarray/ndarray.h>

namespace {

void check(bool condition, const char* what) {
  if (condition) return;
  std::cerr << "wrong: " << what << "\n";
  std::exit(1);
}

// The windows of n x n pixels around every pixel: an array of rank 4, a view of the padded image.
nd::Array windows(const nd::Array& image, std::int64_t n) {
  return nd::sliding_window_view(nd::pad(image, n / 2, "reflect"), {n, n});
}

double rms(const nd::Array& difference) { return double(nd::sqrt(nd::square(difference).mean())); }

}  // namespace

int main() {
  constexpr std::int64_t n = 128;
  const auto [y, x] = nd::ogrid({0, n}, {0, n});
  const nd::Array distance = nd::hypot(x - 64, y - 64);
  const nd::Array clean = nd::select(
      {distance < 20, distance < 40, (nd::floor_divide(x, 16) + nd::floor_divide(y, 16)) % 2 == 0}, {230, 120, 60}, 20);

  // Five percent of the pixels are black or white.
  nd::random::seed(0);
  const nd::Array u = nd::random::random({n, n});
  nd::Array disturbed = clean.astype(nd::float64);
  nd::putmask(disturbed, u < 0.025, nd::array({0.}));
  nd::putmask(disturbed, u > 0.975, nd::array({255.}));

  const nd::Array median = nd::median(windows(disturbed, 3), {2, 3});
  const nd::Array bell = nd::exp(-nd::square(nd::arange(-2., 3.)) / 2), line = bell / bell.sum();
  const nd::Array gauss = nd::einsum("yxab,a,b->yx", windows(disturbed, 5), line, line);
  std::cout << "wrong pixels: error " << rms(disturbed - clean) << "; after the median " << rms(median - clean)
            << ", after the Gaussian " << rms(gauss - clean) << "\n";
  check(rms(median - clean) < rms(gauss - clean) / 3, "a median removes single pixels better than a mean");

  const auto [down, right] = nd::gradient(median);
  const nd::Array edges = nd::hypot(down, right);
  const nd::Array circle = nd::abs(distance - 20) < 1.5, inside = distance < 16;
  check(double(edges(circle).mean()) > 20 * double(edges(inside).mean()) + 10, "edges lie on the circle");

  // The disturbed picture, the Gaussian, the median and its edges, beside each other.
  const nd::Array gap = nd::full({n, 8}, 255.);
  const nd::Array pictures = nd::hstack({disturbed, gap, gauss, gap, median, gap, 2 * edges});
  nd::imwrite("filters.png", pictures.repeat(2, 0).repeat(2, 1));
}
