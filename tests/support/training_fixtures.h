// Shared by the tests of nn and training: small models, temporary folders, comparisons of arrays, error messages.
#pragma once

#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <catena/nn/nn.h>
#include <catena/tests/support/framework_golden.h>

namespace test {

using autograd::Array;
using autograd::Dtype;
using autograd::Shape;
using autograd::Variable;
using autograd::Variables;

// A temporary folder that is removed with the object.
struct TemporaryFolder {
  std::filesystem::path path;
  explicit TemporaryFolder(const std::string& name)
      : path(std::filesystem::temp_directory_path() / ("catena_" + name + "_" + std::to_string(::getpid()))) {
    std::filesystem::remove_all(path);
    std::filesystem::create_directories(path);
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
  std::string operator/(const std::string& name) const { return (path / name).string(); }
};

inline std::string file_content(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}
inline void write_file(const std::string& path, const std::string& content) {
  std::ofstream(path, std::ios::binary).write(content.data(), std::streamsize(content.size()));
}

// The message of the E that f throws.
template <class E, class F> std::string message_of(F&& f) {
  try {
    f();
  } catch (const E& e) {
    return e.what();
  } catch (const std::exception& e) {
    return std::string("(another exception: ") + e.what() + ")";
  }
  return "(nothing was thrown)";
}
inline bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

inline Array floats(const std::vector<float>& v, const Shape& shape) { return autograd::array(v, shape); }
inline Array ints(const std::vector<std::int32_t>& v) { return autograd::array(v, {std::int64_t(v.size())}); }
inline std::vector<double> values(const Array& a) { return autograd::to_vector<double>(a); }
inline bool same_bits(const Array& a, const Array& b) {
  if (!a || !b || a.shape() != b.shape() || a.dtype() != b.dtype()) return false;
  std::vector<unsigned char> x(std::size_t(a.size()) * catena::itemsize(a.dtype())), y(x.size());
  autograd::to_host(a, x.data());
  autograd::to_host(b, y.data());
  return x == y;
}
// Shape, dtype and every value within atol + rtol |expected|.
inline void check_close(const Array& actual, const Array& expected, double atol, double rtol, const std::string& what) {
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

// l2(relu(l1(x))), the model of the golden files.
struct TinyMLP : nn::Chain {
  nn::Linear l1{4, 6}, l2{6, 3};
  NN_MEMBERS(l1, l2)
  Variable operator()(const Variable& x) { return l2(nn::relu(l1(x))); }
};

// A model with all kinds of state: parameters of unknown shape, dropout, batch normalization.
struct StatefulMLP : nn::Chain {
  nn::Linear l1, l2;
  nn::BatchNormalization bn;
  double ratio;
  explicit StatefulMLP(int units = 16, int out = 3, double dropout_ratio = 0.2)
      : l1(units), l2(out), bn(units), ratio(dropout_ratio) {}
  NN_MEMBERS(l1, bn, l2)
  Variable operator()(const Variable& x) { return l2(nn::dropout(nn::relu(bn(l1(x))), {.ratio = ratio})); }
};

// Descriptions of the golden files of one kind ("model", "optimizer", "trainer"), which Chainer wrote.
inline std::vector<nlohmann::json> reference_files(const Golden& index, const std::string& kind) {
  std::vector<nlohmann::json> files;
  for (const nlohmann::json& entry : index.cases()) {
    const Golden description = Golden::open("serializers/" + entry["file"].get<std::string>());
    const std::string found = description.cases()["kind"];
    BOOST_TEST((found == "model" || found == "optimizer" || found == "trainer"), found);
    if (found == kind) files.push_back(description.cases());
  }
  return files;
}

}  // namespace test
