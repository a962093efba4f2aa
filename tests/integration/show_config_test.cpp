// show_config(): every environment variable that the sources read, versions, files of libraries, devices, settings in
// effect.
#include <boost/test/unit_test.hpp>

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <regex>
#include <set>
#include <string>

#include <catena/catena.h>
#include <catena/kernels/base/config.h>
#include <catena/kernels/base/parallel.h>
#include <catena/kernels/base/version.h>
#include <catena/tests/support/cuda_device/control.h>
#include <catena/tests/support/golden.h>

namespace {

// The value of a line; a test error if there is none, or more than one.
std::string value_of(const std::string& section, const std::string& name) {
  std::string value;
  int found = 0;
  for (const catena::ConfigEntry& entry : catena::config_entries())
    if (entry.section == section && entry.name == name) value = entry.value, ++found;
  BOOST_TEST(found == 1, section << ": " << name);
  return value;
}
bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

// A variable that has another value while the object lives.
struct Variable {
  std::string name, before;
  bool was_set;
  Variable(const char* variable, const char* value) : name(variable) {
    const char* const old = std::getenv(variable);
    was_set = old != nullptr;
    if (was_set) before = old;
    if (value != nullptr) ::setenv(variable, value, 1);
    else ::unsetenv(variable);
  }
  ~Variable() {
    if (was_set) ::setenv(name.c_str(), before.c_str(), 1);
    else ::unsetenv(name.c_str());
  }
};

BOOST_AUTO_TEST_SUITE(show_config)

// The names that the sources of the libraries give to getenv(), and all strings that look like such names.
BOOST_AUTO_TEST_CASE(every_variable_is_listed) {
  std::set<std::string> read, listed;
  const std::regex calls("(?:getenv|environment|set_variable)\\(\"([A-Z0-9_]+)\"");
  const std::regex names("\"((?:CATENA|CHAINER|CUPY|CUDNN|CUDA|OPENBLAS|OMP|NVTX|XDG)_[A-Z0-9_]+)\"");
  for (const char* library : {"kernels", "ndarray", "autograd", "nn", "training"})
    for (const auto& entry : std::filesystem::recursive_directory_iterator(test::source_folder() / library)) {
      if (entry.path().extension() != ".cpp" && entry.path().extension() != ".h") continue;
      if (entry.path().stem() == "config" || entry.path().stem() == "list_config") continue;
      std::ifstream file(entry.path());
      const std::string text{std::istreambuf_iterator<char>(file), {}};
      for (const std::regex& pattern : {calls, names})
        for (std::sregex_iterator match(text.begin(), text.end(), pattern), end; match != end; ++match)
          read.insert((*match)[1]);
    }
  BOOST_TEST(read.size() > 20u);
  for (const catena::ConfigEntry& entry : catena::config_entries())
    if (entry.section == "environment") BOOST_TEST(listed.insert(entry.name).second, entry.name << " is there twice");
  for (const std::string& name : read) BOOST_TEST(listed.contains(name), name << " is read, but not listed");
  for (const std::string& name : listed) BOOST_TEST(read.contains(name), name << " is listed, but not read");
}

BOOST_AUTO_TEST_CASE(settings_in_effect) {
  {
    const Variable cache("CATENA_CACHE_DIR", "/some/folder"), type("CHAINER_CUDNN", "0"), seed("CHAINER_SEED", "12"),
        root("CATENA_DATASET_ROOT", "/data"), offline("CATENA_OFFLINE", nullptr);
    BOOST_TEST(value_of("environment", "CATENA_CACHE_DIR") == "\"/some/folder\"; in effect: /some/folder/kernels");
    BOOST_TEST(value_of("environment", "CHAINER_CUDNN") == "\"0\"; in effect: disabled");
    BOOST_TEST(value_of("environment", "CHAINER_SEED") == "\"12\"; in effect: seed 12");
    BOOST_TEST(value_of("environment", "CATENA_DATASET_ROOT") == "\"/data\"; in effect: /data");
    BOOST_TEST(value_of("environment", "CATENA_OFFLINE") == "not set");
  }
  {
    const Variable limit("CATENA_CACHE_LIMIT", "much");
    BOOST_TEST(has(value_of("environment", "CATENA_CACHE_LIMIT"), "\"much\" is not a number of bytes"));
  }
  const Variable seed("CHAINER_SEED", nullptr), off("CATENA_CACHE_DIR", "off");
  BOOST_TEST(value_of("environment", "CHAINER_SEED") == "not set; in effect: drawn at the start");
  BOOST_TEST(value_of("environment", "CATENA_CACHE_DIR") == "\"off\"; in effect: no cache");
  BOOST_TEST(has(value_of("environment", "CATENA_DEVICE"), "in effect: " + catena::concat(nd::default_device())));
  BOOST_TEST(has(value_of("environment", "OMP_NUM_THREADS"), std::to_string(catena::max_threads()) + " threads"));
}

BOOST_AUTO_TEST_CASE(libraries_and_devices) {
  BOOST_TEST(value_of("catena", "version") == catena::kVersion);
  BOOST_TEST(has(value_of("catena", "file"), "catena"));
  // The purpose of a library, and a file that exists; or the reason why it cannot be used.
  for (const char* name : {"OpenBLAS", "oneDNN"}) {
    const std::string value = value_of("libraries", name);
    if (has(value, "not built in")) continue;
    BOOST_TEST(has(value, name), value);
    const std::size_t path = value.find('/');
    BOOST_REQUIRE(path != value.npos);
    BOOST_TEST(std::filesystem::exists(value.substr(path, value.find(';', path) - path)), value);
  }
  for (const char* name : {"CUDA driver", "NVRTC", "cuBLASLt", "cuBLAS", "cuRAND", "cuSOLVER", "cuFFT", "cuSPARSE",
                           "nvJPEG", "NCCL", "cuDNN"}) {
    const std::string value = value_of("libraries", name);
    if (has(value, "is unavailable: ") || has(value, "not looked for")) continue;
    const std::size_t path = value.find("lib");
    BOOST_TEST(path != value.npos, name << ": " << value);
  }
  for (const char* name : {"zlib", "curl", "libpng", "libjpeg"}) BOOST_TEST(!value_of("libraries", name).empty());
  BOOST_TEST(has(value_of("devices", "cpu:0"), "processors"));
  int devices = 0;
  for (const catena::ConfigEntry& entry : catena::config_entries()) devices += entry.section == "devices";
  BOOST_TEST(devices == 1 + nd::device_count(nd::Device::Kind::cuda));
}

// A device that does not answer has the reason in its line; all other lines are there.
BOOST_AUTO_TEST_CASE(a_device_that_fails) {
  if (!cuda_device::Control::available()) {
    std::cout << "skipped: devices fail on request on the software device only\n";
    return;
  }
  const auto names = [] {
    std::set<std::string> all;
    for (const catena::ConfigEntry& entry : catena::config_entries()) all.insert(entry.section + ": " + entry.name);
    return all;
  };
  const std::set<std::string> complete = names();
  const std::string whole = value_of("devices", "cuda:0");
  cuda_device::Control control;
  control.fail("cuMemGetInfo_v2", 1, 719, true);
  const std::set<std::string> failing = names();
  const std::string reason = value_of("devices", "cuda:0"), text = catena::config_text();
  control.clear_faults();
  BOOST_TEST(failing == complete, boost::test_tools::per_element());
  BOOST_TEST(has(reason, "cuMemGetInfo"), reason);
  BOOST_TEST(has(reason, "CUDA_ERROR_LAUNCH_FAILED"), reason);
  BOOST_TEST(has(text, "cuda:0: " + reason), text);
  BOOST_TEST(has(text, "cpu:0: "), text);
  BOOST_TEST(has(whole, "MiB free"), whole);
}

// How to tell whether the cache of kernels works: what a process has found on disk, and what it has compiled.
BOOST_AUTO_TEST_CASE(kernels_of_this_process) {
  const std::string before = value_of("kernels", "from text on the CPU");
  const nd::DeviceScope on(nd::cpu_device);
  const std::string text = "y = x * " + std::to_string(getpid()) + " + 1";  // a text that no cache has
  const nd::Array x = nd::arange(4, nd::float32);
  nd::ElementwiseKernel("T x", "T y", text, "of_this_process")(x);
  const std::string after = value_of("kernels", "from text on the CPU");
  BOOST_TEST(std::stoi(after) == std::stoi(before) + 1, before << ", then " << after);
}

BOOST_AUTO_TEST_CASE(as_text) {
  const std::string text = catena::config_text();
  std::size_t last = 0;
  for (const char* part : {"catena:\n  version: ", "\nlibraries:\n  zlib: ", "\ndevices:\n  cpu:0: ", "\nkernels:\n",
                           "\nenvironment:\n  OMP_NUM_THREADS: "}) {
    const std::size_t at = text.find(part);
    BOOST_TEST((at != text.npos && at >= last), part << " in\n" << text);
    last = at;
  }
  // Printed as it is, under both names.
  std::fflush(stdout);
  const int kept = ::dup(STDOUT_FILENO);
  std::FILE* const file = std::tmpfile();
  ::dup2(::fileno(file), STDOUT_FILENO);
  catena::show_config();
  nd::show_config();
  ::dup2(kept, STDOUT_FILENO);
  ::close(kept);
  std::string printed;
  std::rewind(file);
  for (int c = std::fgetc(file); c != EOF; c = std::fgetc(file)) printed += char(c);
  std::fclose(file);
  // Free memory differs from call to call.
  const std::regex numbers("[0-9]+ of [0-9]+ MiB");
  BOOST_TEST(std::regex_replace(printed, numbers, "") == std::regex_replace(text + text, numbers, ""));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
