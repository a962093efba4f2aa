#include <catena/tests/support/training_fixtures.h>

#include <cstdio>
#include <iostream>

namespace test {

TemporaryFolder::TemporaryFolder(const std::string& name)
    : path(std::filesystem::temp_directory_path() / ("catena_" + name + "_" + std::to_string(::getpid()))) {
  std::filesystem::remove_all(path);
  std::filesystem::create_directories(path);
}
TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path, ignored);
}

std::string file_content(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

void write_file(const std::string& path, const std::string& content) {
  std::remove(path.c_str());  // replacing the content of a file waits for the disk, a new file does not
  std::ofstream(path, std::ios::binary).write(content.data(), std::streamsize(content.size()));
}

Array floats(const std::vector<float>& v, const Shape& shape) { return autograd::array(v, shape); }
Array ints(const std::vector<std::int32_t>& v) { return autograd::array(v, {std::int64_t(v.size())}); }
std::vector<double> values(const Array& a) { return autograd::to_vector<double>(a); }
bool same_bits(const Array& a, const Array& b) {
  if (!a || !b || a.shape() != b.shape() || a.dtype() != b.dtype()) return false;
  std::vector<unsigned char> x(std::size_t(a.size()) * catena::itemsize(a.dtype())), y(x.size());
  autograd::to_host(a, x.data());
  autograd::to_host(b, y.data());
  return x == y;
}

void check_close(const Array& actual, const Array& expected, double atol, double rtol, const std::string& what) {
  BOOST_TEST_CONTEXT(what) {
    BOOST_REQUIRE(bool(actual));
    BOOST_TEST(actual.shape() == expected.shape());
    BOOST_TEST((actual.dtype() == expected.dtype()));
    const std::vector<double> a = values(actual), e = values(expected);
    BOOST_REQUIRE(a.size() == e.size());
    for (std::size_t i = 0; i < a.size(); ++i)
      if (!close(a[i], e[i], atol, rtol)) {
        BOOST_ERROR("element " << i << " is " << a[i] << ", not " << e[i]);
        break;
      }
  }
}

std::vector<Json> reference_files(const Golden& index, const std::string& kind) {
  std::vector<Json> files;
  for (const Json& entry : index.cases()) {
    const Golden description = Golden::open("serializers/" + entry["file"].get<std::string>());
    const std::string found = description.cases()["kind"];
    BOOST_TEST((found == "model" || found == "optimizer" || found == "trainer"), found);
    if (found != kind) continue;
    if (entry["file"].get<std::string>().ends_with(".h5") && !nn::serializers::hdf5_available()) {
      std::cout << "skipped: " << entry["file"] << ": this build has no HDF5\n";
      continue;
    }
    files.push_back(description.cases());
  }
  return files;
}

}  // namespace test
