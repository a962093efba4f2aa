// Principal components: the directions in which points spread most, by the singular values of the centred points, and
// the same by the eigenvalues of their covariance. The points lie near a plane in 6 dimensions, which is found again.
// prints: share of the variance: +.8[.]5
// prints: cosines between the planes: +.0[.]99999
// prints: relative error of 2 of 6 numbers per point: 0[.]036
#include <cstdlib>
#include <iostream>

#include <catena/ndarray/ndarray.h>

namespace {

// Exits with an error unless the condition holds.
void check(bool condition, const char* what) {
  if (condition) return;
  std::cerr << "wrong: " << what << "\n";
  std::exit(1);
}

}  // namespace

int main() {
  constexpr std::int64_t points = 2000, dimensions = 6, kept = 2;
  nd::random::seed(7);

  // Points in a plane that two orthonormal directions span, with deviations 5 and 2, far from the origin, plus noise.
  const auto [directions, r] = nd::linalg::qr(nd::random::standard_normal({dimensions, kept}));
  const nd::Array inside = nd::random::standard_normal({points, kept}) * nd::array({5.0, 2.0});
  const nd::Array noise = 0.1 * nd::random::standard_normal({points, dimensions});
  const nd::Array x = nd::matmul(inside, directions.T()) + noise + 100;

  // The rows of Vh are the components; the squares of the singular values are proportional to the variances.
  const nd::Array centred = x - x.mean(0);
  const auto [u, s, vh] = nd::linalg::svd(centred, {.full_matrices = false});
  const nd::Array variances = s * s / double(points - 1);
  const nd::Array share = variances / variances.sum();
  std::cout << "deviations along the components: " << nd::sqrt(variances) << "\n";
  std::cout << "share of the variance:           " << share << "\n";
  check(share(nd::Slice(0, kept)).sum().item<double>() > 0.99, "two components have nearly all of the variance");

  // The first two components span the plane of the points: the cosines of the angles between both planes are the
  // singular values of the product of their bases.
  const nd::Array components = vh(nd::Slice(0, kept));
  const nd::Array cosines = nd::linalg::svd(nd::matmul(components, directions), {.compute_uv = false});
  std::cout << "cosines between the planes:      " << cosines << "\n";
  check(cosines.min().item<double>() > 0.999, "the plane is found");

  // Projection to the plane loses only the noise outside the plane.
  const nd::Array projected = nd::matmul(centred, components.T());
  const nd::Array lost = centred - nd::matmul(projected, components);
  const double error = (nd::linalg::norm(lost) / nd::linalg::norm(centred)).item<double>();
  std::cout << "relative error of " << kept << " of " << dimensions << " numbers per point: " << error << "\n";
  check(error < 0.05, "two numbers describe a point");

  // The eigenvalues of the covariance, in ascending order, are the variances.
  const nd::Array covariance = nd::matmul(centred.T(), centred) / double(points - 1);
  const auto [values, vectors] = nd::linalg::eigh(covariance);
  const double difference = nd::abs(nd::flip(values, 0) - variances).max().item<double>();
  std::cout << "largest difference to the eigenvalues of the covariance: " << difference << "\n";
  check(difference < 1e-9, "both ways give the same variances");
}
