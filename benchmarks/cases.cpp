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

std::int64_t get(const Parameters& p, const char* name, std::int64_t otherwise) {
  const auto found = p.find(name);
  return found == p.end() ? otherwise : found->second;
}

nd::Array input(const Parameters& p, const nd::Shape& shape, std::int64_t seed, double low, double high) {
  const nd::Dtype dtype = catena::dtype_from_char(char(get(p, "dtype", 'f')));
  const std::int64_t offset = get(p, "offset", 0), n = catena::size_of(shape);
  const bool floating = catena::is_floating(dtype);
  nd::Array values = floating ? uniform({n}, seed, low, high) : uniform({n}, seed);
  if (dtype == nd::bool_) values = values < 0.5;
  else if (!floating) values = values * 100.0f;
  nd::Array memory = nd::zeros({n + offset}, dtype);
  nd::Array operand = memory(nd::Slice(offset, {}));
  nd::copyto(operand, values.astype(dtype));
  return operand.reshape(shape);
}

nd::Array labels(std::int64_t n, std::int64_t seed, std::int64_t classes) {
  std::vector<std::int32_t> values(std::size_t(n), 0);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = std::int32_t(unit(i, seed) * double(classes));
  return nd::array(values, {n});
}

nd::Array joined(const std::vector<nd::Array>& arrays) {
  std::vector<nd::Array> lines;
  for (const nd::Array& a : arrays) lines.push_back(a.ravel());
  return nd::concatenate(lines);
}

}  // namespace bench
