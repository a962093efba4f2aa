// For tests of nn and training: small models, temporary folders, comparisons of arrays, error messages.
#pragma once

#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include <catena/kernels/base/warning.h>
#include <catena/nn/nn.h>
#include <catena/tests/support/framework_golden.h>
#include <catena/tests/support/message_of.h>

namespace test {

using autograd::Array;
using autograd::Dtype;
using autograd::Shape;
using autograd::Variable;
using autograd::Variables;

// A temporary folder that is removed with the object.
struct TemporaryFolder {
  std::filesystem::path path;
  explicit TemporaryFolder(const std::string& name);
  ~TemporaryFolder();
  std::string operator/(const std::string& name) const { return (path / name).string(); }
};

// Collects the warnings given during its lifetime; only one object may exist at a time.
class Warnings {
 public:
  Warnings() { collected = &texts; }
  ~Warnings() { catena::set_warning_handler(previous_); }
  Warnings(const Warnings&) = delete;
  Warnings& operator=(const Warnings&) = delete;

  mutable std::vector<std::string> texts;  // mutable, so that a constant object can collect

 private:
  static inline std::vector<std::string>* collected = nullptr;
  catena::WarningHandler previous_ =
      catena::set_warning_handler([](std::string_view, std::string_view text) { collected->emplace_back(text); });
};

std::string file_content(const std::string& path);
void write_file(const std::string& path, const std::string& content);

inline bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

Array floats(const std::vector<float>& v, const Shape& shape);
Array ints(const std::vector<std::int32_t>& v);
std::vector<double> values(const Array& a);
bool same_bits(const Array& a, const Array& b);
// Checks shape, dtype and that every value is within atol + rtol |expected|.
void check_close(const Array& actual, const Array& expected, double atol, double rtol, const std::string& what);

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

// Loads a file in the format of its extension.
template <class T> nn::LoadReport load_file(const std::string& path, T& object) {
  return path.ends_with(".h5") ? nn::serializers::load_hdf5(path, object) : nn::serializers::load_npz(path, object);
}

// Returns the descriptions of the golden files of one kind ("model", "optimizer", "trainer"), which Chainer wrote. If
// this build has no HDF5, its files are skipped, with a line on standard output.
std::vector<Json> reference_files(const Golden& index, const std::string& kind);

}  // namespace test
