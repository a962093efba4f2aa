#include <catena/tests/support/golden.h>

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <iostream>

namespace test {
namespace {

std::string search_path() {
  if (const char* path = std::getenv("CATENA_TEST_GOLDEN")) return path;
  const char* source = std::getenv("CATENA_TEST_SOURCE_DIR");
  const std::string root =
      source ? source : std::filesystem::path(__FILE__).parent_path().parent_path().parent_path().string();
  return root + "/tests/golden:" + root + "/../shared/golden";
}

std::optional<std::filesystem::path> find_file(const std::string& name) {
  const std::string path = search_path();
  for (std::size_t begin = 0; begin <= path.size();) {
    const std::size_t end = std::min(path.find(':', begin), path.size());
    const std::filesystem::path file = std::filesystem::path(path.substr(begin, end - begin)) / name;
    if (end > begin && std::filesystem::exists(file)) return file;
    begin = end + 1;
  }
  return std::nullopt;
}

}  // namespace

std::optional<Golden> Golden::open(std::string_view group) {
  const std::string name(group);
  const auto file = find_file(name + ".json");
  if (!file) {
    std::cout << "skipped: no reference values \"" << name << "\" in CATENA_TEST_GOLDEN\n";
    return std::nullopt;
  }
  std::ifstream in(*file);
  Golden golden;
  golden.folder_ = file->parent_path();
  golden.json_ = std::make_shared<const nlohmann::json>(nlohmann::json::parse(in));
  auto arrays = *file;
  arrays.replace_extension(".npz");
  if (std::filesystem::exists(arrays))
    golden.npz_ = std::make_shared<const catena::NpzReader>("Golden", arrays.string());
  return golden;
}

catena::NpyArray Golden::array(const std::string& key) const {
  catena::check<catena::KeyError>(npz_ != nullptr, "Golden", "the group has no arrays, asked was for \"", key, '"');
  return npz_->read(key);
}

bool close(double actual, double expected, double atol, double rtol) {
  if (std::isnan(expected)) return std::isnan(actual);
  if (std::isinf(expected) || std::isinf(actual)) return actual == expected;
  return std::abs(actual - expected) <= atol + rtol * std::abs(expected);
}

}  // namespace test
