// The main function of every test program. --source=<folder>/<name>_test.cpp runs only the cases of that file, so that
// ctest entries can share a program. A file without a case is an error, and so is a case in another kind of file,
// because no entry would run it. With CATENA_TEST_LOCALE, the program runs in a locale with another number format.
#define BOOST_TEST_NO_MAIN
#include <boost/test/tree/traverse.hpp>
#include <boost/test/tree/visitor.hpp>
#include <boost/test/unit_test.hpp>

#include <dlfcn.h>

#include <cstdlib>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

#include <catena/tests/support/locale.h>

namespace {

namespace ut = boost::unit_test;

// True if the driver finds a device. (Calls the driver directly, because not every test program links to ndarray.)
bool have_gpu() {
  void* driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (driver == nullptr) return false;
  const auto init = reinterpret_cast<int (*)(unsigned)>(dlsym(driver, "cuInit"));
  const auto count_devices = reinterpret_cast<int (*)(int*)>(dlsym(driver, "cuDeviceGetCount"));
  int count = 0;
  return init != nullptr && count_devices != nullptr && init(0) == 0 && count_devices(&count) == 0 && count > 0;
}

// True if the folder of CUDA libraries for the test has NVRTC.
bool have_nvrtc() {
  const char* folder = std::getenv("CATENA_CUDA_LIBRARIES");
  return folder != nullptr &&
         dlopen((std::string(folder) + "/libnvrtc.so.13").c_str(), RTLD_NOW | RTLD_LOCAL) != nullptr;
}

// Every case, with its suite.
struct Cases : ut::test_tree_visitor {
  void visit(const ut::test_case& c) override { all.push_back(&c); }
  std::vector<const ut::test_case*> all;
};

// Removes the cases of other files from the tree; with an empty source, keeps all.
void select_cases(std::string_view source) {
  Cases cases;
  ut::traverse_test_tree(ut::framework::master_test_suite(), cases, true);
  std::size_t selected = 0;
  for (const ut::test_case* c : cases.all) {
    const std::string_view file(c->p_file_name.begin(), c->p_file_name.size());
    const std::size_t root = file.rfind("/tests/");
    if (root == file.npos || !file.ends_with("_test.cpp"))
      throw ut::framework::setup_error(c->full_name() + " stands in " + std::string(file) + ", which is no *_test.cpp");
    if (source.empty() || file.substr(root + 7) == source) ++selected;
    else ut::framework::get<ut::test_suite>(c->p_parent_id).remove(c->p_id);
  }
  if (selected == 0) throw ut::framework::setup_error("this program has no case of " + std::string(source));
}

}  // namespace

int main(int argc, char** argv) {
  if (std::getenv("CATENA_TEST_NEEDS_NVRTC") != nullptr && !have_nvrtc()) {
    std::cout << "skipped: the CUDA toolkit, whose NVRTC makes PTX, is not on this machine\n";
    return 77;  // SKIP_RETURN_CODE
  }
  if (std::getenv("CATENA_TEST_NEEDS_GPU") != nullptr && !have_gpu()) {
    std::cout << "skipped: there is no CUDA device on this machine\n";
    return 77;  // SKIP_RETURN_CODE
  }
  // For entries `<entry>.locale`. The output of the tests themselves keeps its format.
  if (std::getenv("CATENA_TEST_LOCALE") != nullptr && !test::set_german_locale())
    std::cout << "the C library has no locale de_DE.UTF-8 (localedef makes one from the package locales): only that of "
                 "C++ is set\n";
  static std::string_view source;
  constexpr std::string_view option = "--source=";
  std::vector<char*> others;
  for (int k = 0; k < argc; ++k) {
    if (const std::string_view argument = argv[k]; argument.starts_with(option))
      source = argument.substr(option.size());
    else others.push_back(argv[k]);
  }
  const auto prepare = [] {
    ut::framework::master_test_suite().p_name.value = "catena";
    select_cases(source);
    return true;
  };
  const int count = static_cast<int>(others.size());
  others.push_back(nullptr);
  return ut::unit_test_main(prepare, count, others.data());
}
