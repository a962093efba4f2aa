#include <catena/benchmarks/cases.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace bench {

namespace {

std::vector<Case>& table() {
  static std::vector<Case> cases;
  return cases;
}

}  // namespace

Parameters Case::parameters(bool is_tiny) const {
  if (!is_tiny) return full;
  Parameters p = tiny;
  p.insert(full.begin(), full.end());
  return p;
}

Cases::Cases(std::initializer_list<Case> cases) { table().insert(table().end(), cases.begin(), cases.end()); }

const std::vector<Case>& Cases::all() {
  std::sort(table().begin(), table().end(), [](const Case& a, const Case& b) { return a.name < b.name; });
  return table();
}

void choose_device(int& argc, char** argv) {
  for (int i = 1; i + 1 < argc; ++i) {
    if (std::strcmp(argv[i], "--device") != 0) continue;
    setenv("CATENA_DEVICE", argv[i + 1], 1);
    std::copy(argv + i + 2, argv + argc + 1, argv + i);  // including the terminating null
    argc -= 2;
    return;
  }
}

nd::Array uniform(const nd::Shape& shape, std::int64_t seed, double low, double high) {
  return nd::array(uniform_values(std::size_t(catena::size_of(shape)), seed, low, high), shape);
}

nd::Array labels(std::int64_t n, std::int64_t seed, std::int64_t classes) {
  std::vector<std::int32_t> values(std::size_t(n), 0);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = std::int32_t(unit(i, seed) * double(classes));
  return nd::array(values, {n});
}

}  // namespace bench
