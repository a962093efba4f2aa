// Arrays as structs in kernels given as text, and compilation by hand into a folder.
#include <catena/ndarray/chainer_cuda/compile.h>

#include <boost/test/unit_test.hpp>

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

#include <catena/ndarray/cuda/compiler/kernel_cache.h>
#include <catena/ndarray/ndarray.h>
#include <catena/tests/support/ndarray_values.h>

namespace {

namespace fs = std::filesystem;
using nd::Array;
using test::check_values;
using test::message_of;

bool on_cpu() { return nd::current_device().kind == nd::Device::Kind::cpu; }

class Folder {
 public:
  Folder() : path_(fs::temp_directory_path() / ("catena_raw_kernel_arrays_" + std::to_string(getpid()))) {
    fs::remove_all(path_);
  }
  ~Folder() { fs::remove_all(path_); }
  std::string name() const { return path_.string(); }
  std::vector<fs::path> files() const {
    std::vector<fs::path> found;
    if (fs::exists(path_))
      for (const auto& entry : fs::recursive_directory_iterator(path_))
        if (entry.is_regular_file()) found.push_back(entry.path());
    return found;
  }

 private:
  fs::path path_;
};

const char* const kScale = R"(
extern "C" __global__ void scale(float* x, float by) { x[threadIdx.x] *= by; }
)";

BOOST_AUTO_TEST_SUITE(raw_kernel_arrays)

// Arrays of any layout by position and by an array of positions, an indexer, and scalars of 1, 2, 4 and 8 bytes.
BOOST_AUTO_TEST_CASE(structs_indexers_and_scalars) {
  const nd::RawKernel kernel(std::string(nd::carray_code) + R"(
    extern "C" __global__ void combine(CArray<const float, 2> x, CArray<double, 2> y, CIndexer<2> at, signed char a,
                                       short b, int c, double d) {
      const long long k = blockIdx.x * (long long)blockDim.x + threadIdx.x;
      if (k >= at.size()) return;
      at.set(k);
      y[at.get()] = x[k] * (a + b + c + d) + 1000 * at.get()[0] + 100 * x.shape()[1];
      if (k == 0) y[at.get()] += y.size() * 0.5 + x.strides()[0] * 10000.0;
    })",
                             "combine");
  const Array x = test::range(6, nd::float32).reshape(2, 3).transpose();  // (3, 2), strides 4 and 12
  const Array y = nd::zeros({3, 2}, {.order = nd::Order::F});
  kernel(2, 4,
         {x.cstruct<const float, 2>(), y.cstruct<double, 2>(), nd::CIndexer<2>(x.shape()), std::int8_t(-1),
          std::int16_t(2), 3, 0.5});
  std::vector<double> expected;
  for (int row = 0; row < 3; ++row)
    for (int column = 0; column < 2; ++column)
      expected.push_back((row + 3 * column) * 4.5 + 1000 * row + 200 + (row + column == 0 ? 3 + 40000 : 0));
  check_values<double>(y, expected);
}

BOOST_AUTO_TEST_CASE(a_text_becomes_a_module) {
  const nd::RawModule module = nd::cuda::compile_with_cache(kScale, {"-DUNUSED=1"});
  const Array x = test::range(4, nd::float32);
  module.get_function("scale")(1, 4, {x, 3.0f});
  check_values<float>(x, {0, 3, 6, 9});
  BOOST_CHECK_THROW(nd::cuda::compile_with_cache("__global__ void broken( {"), nd::CompileError);
  if (!on_cpu()) return;
  BOOST_CHECK_THROW(nd::cuda::compile_with_cache(kScale, {}, {.arch = 90}), nd::NotImplementedError);
  BOOST_CHECK_THROW(nd::cuda::compile_with_cache(kScale, {}, {.cache_dir = "/tmp"}), nd::NotImplementedError);
}

// One file per text, options and architecture; it is used, and replaced when it is damaged or gone.
BOOST_AUTO_TEST_CASE(code_is_kept_in_the_folder) {
  if (on_cpu()) {
    std::cout << "skipped: the folder is for CUDA\n";
    return;
  }
  const Folder folder;
  const int arch = nd::properties(nd::current_device()).arch;
  const auto compile = [&](const std::vector<std::string>& options = {}, std::optional<int> wanted = {}) {
    const nd::RawModule module =
        nd::cuda::compile_with_cache(kScale, options, {.arch = wanted, .cache_dir = folder.name()});
    const Array x = test::range(3, nd::float32);
    module.get_function("scale")(1, 3, {x, 2.0f});
    check_values<float>(x, {0, 2, 4});
  };
  compile();
  const auto files = folder.files();
  BOOST_REQUIRE(files.size() == 1u);
  const auto content = [&] {
    std::ifstream in(files[0], std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(in), {});
  };
  const std::string record = content();
  compile({}, arch);  // the same
  BOOST_TEST(folder.files().size() == 1u);
  BOOST_TEST((content() == record));
  compile({"-DOTHER"});
  BOOST_TEST(folder.files().size() == 2u);
  std::string damaged = record;
  damaged[damaged.size() / 2] ^= 1;
  std::ofstream(files[0], std::ios::binary) << damaged;
  compile();
  BOOST_TEST((content() == record));
  fs::remove(files[0]);
  compile();
  BOOST_TEST((content() == record));
}

BOOST_AUTO_TEST_CASE(the_environment_names_the_folder) {
  const char* const before = std::getenv("CATENA_CACHE_DIR");
  const std::string saved = before != nullptr ? before : "";
  ::unsetenv("CATENA_CACHE_DIR");
  ::setenv("CUPY_CACHE_DIR", "/the/folder", 1);
  BOOST_TEST(nd::cuda::get_cache_dir() == "/the/folder");
  ::setenv("CUPY_CACHE_DIR", "/another", 1);  // read at every call
  BOOST_TEST(nd::cuda::get_cache_dir() == "/another");
  ::unsetenv("CUPY_CACHE_DIR");
  ::setenv("CATENA_CACHE_DIR", "/catena", 1);
  BOOST_TEST(nd::cuda::get_cache_dir() == "/catena/kernels");
  if (before != nullptr) ::setenv("CATENA_CACHE_DIR", saved.c_str(), 1);
  else ::unsetenv("CATENA_CACHE_DIR");
}

// A kernel that is compiled after the variable has changed goes to the new folder.
BOOST_AUTO_TEST_CASE(the_environment_is_read_at_every_compilation) {
  if (on_cpu()) {
    std::cout << "skipped: the folder is for CUDA\n";
    return;
  }
  const Folder folder;
  const char* const before = std::getenv("CATENA_CACHE_DIR");
  const std::string saved = before != nullptr ? before : "";
  const auto compile = [](const char* name) {
    const nd::ElementwiseKernel kernel("T x", "T y", "y = x + 1", name);
    check_values<float>(kernel(test::range(2, nd::float32)), {1, 2});
  };
  compile("in_the_usual_folder");
  ::unsetenv("CATENA_CACHE_DIR");
  ::setenv("CUPY_CACHE_DIR", folder.name().c_str(), 1);
  compile("in_another_folder");
  BOOST_TEST(!folder.files().empty());
  ::unsetenv("CUPY_CACHE_DIR");
  if (before != nullptr) ::setenv("CATENA_CACHE_DIR", saved.c_str(), 1);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
