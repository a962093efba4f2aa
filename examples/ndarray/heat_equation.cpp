// The heat equation du/dt = du/dx^2 + du/dy^2 on the unit square with edges at 0, by explicit steps on slices of an
// array. The temperature is written as a picture, and a single mode is compared with its exact decay.
// writes: heat_before.ppm heat_after.ppm
// prints: a mode decays to 0[.]9518[0-9]*, exactly 0[.]95185
// prints: the hottest point falls from 1 to 0[.]384
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

#include <catena/ndarray/ndarray.h>

namespace {

// Exits with an error unless the condition holds.
void check(bool condition, const char* what) {
  if (condition) return;
  std::cerr << "wrong: " << what << "\n";
  std::exit(1);
}

// Does `steps` steps of length r h^2, where h is the distance of the points. Stable for r <= 1/4.
nd::Array diffuse(const nd::Array& start, double r, int steps) {
  const nd::Slice inner(1, -1), before({}, -2), behind(2, {});
  nd::Array u = start.copy();
  for (int k = 0; k < steps; ++k)
    u(inner, inner) +=
        r * (u(before, inner) + u(behind, inner) + u(inner, before) + u(inner, behind) - 4 * u(inner, inner));
  return u;
}

// Writes a picture of values from 0 (black) over red and yellow to 1 (white) as a PPM file: three bytes per pixel.
void write_picture(const std::string& path, const nd::Array& u) {
  const nd::Array colours = nd::stack({nd::clip(3 * u, 0, 1), nd::clip(3 * u - 1, 0, 1), nd::clip(3 * u - 2, 0, 1)}, 2);
  const auto bytes = (colours * 255).astype(nd::uint8).to_vector<unsigned char>();
  std::ofstream file(path, std::ios::binary);
  file << "P6\n" << u.shape()[1] << " " << u.shape()[0] << "\n255\n";
  file.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  check(file.good(), "the picture is written");
}

}  // namespace

int main() {
  constexpr std::int64_t n = 201;
  constexpr double h = 1.0 / (n - 1), r = 0.2;
  const nd::Array x = nd::linspace(0, 1, n), y = x(nd::Slice(), nd::newaxis);

  // A mode of the square decays as exp(-2 pi^2 t).
  constexpr int steps = 500;
  const nd::Array mode = nd::sin(M_PI * x) * nd::sin(M_PI * y);
  const nd::Array later = diffuse(mode, r, steps);
  const double decay = std::exp(-2 * M_PI * M_PI * steps * r * h * h);
  const double error = nd::abs(later - decay * mode).max().item<double>();
  std::cout << "a mode decays to " << later.max().item<double>() << ", exactly " << decay << "\n";
  check(error < 1e-4, "the mode decays as the solution does");

  // Two hot spots with a cold wall between them; both spread with time.
  const nd::Array hot = nd::exp(-200 * (nd::square(x - 0.3) + nd::square(y - 0.4))) +
                        0.8 * nd::exp(-500 * (nd::square(x - 0.7) + nd::square(y - 0.65)));
  const nd::Array start = hot * nd::minimum(nd::minimum(x, 1 - x) * 50, 1) * nd::minimum(nd::minimum(y, 1 - y) * 50, 1);
  const nd::Array end = diffuse(start, r, 400);
  std::cout << "heat " << start.sum().item<double>() * h * h << " before, " << end.sum().item<double>() * h * h
            << " after; the hottest point falls from " << start.max().item<double>() << " to "
            << end.max().item<double>() << "\n";
  check(end.max().item<double>() < start.max().item<double>(), "the maximum falls");
  check(end.min().item<double>() >= 0, "nothing is colder than the edges");
  check(std::abs(end.sum().item<double>() / start.sum().item<double>() - 1) < 0.02, "little heat reaches the edges");
  write_picture("heat_before.ppm", start / start.max());
  write_picture("heat_after.ppm", end / end.max());
  std::cout << "pictures: heat_before.ppm, heat_after.ppm\n";
}
