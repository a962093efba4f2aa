// CUDAProfileHook: what a profiler hears of a forward and a backward pass.
#include <boost/test/unit_test.hpp>

#include <dlfcn.h>

#include <cstdlib>
#include <iostream>
#include <string>

#include <catena/catena.h>

namespace {

struct Broken : autograd::Function {
  explicit Broken(bool in_forward) : in_forward(in_forward) {}
  autograd::Arrays forward(const autograd::Arrays& x) override {
    catena::check<catena::RuntimeError>(!in_forward, "Broken", "forward fails");
    return {x[0] * 2};
  }
  autograd::Arrays backward(const autograd::Arrays&, const autograd::Arrays&) override {
    catena::fail<catena::RuntimeError>("Broken", "backward fails");
  }
  bool in_forward;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(profile_hook)

// The tool is the software device's own library; on a real device a test would be in the way of the profiler that
// listens there.
BOOST_AUTO_TEST_CASE(a_range_for_every_forward_and_backward) {
  const char* const folder = std::getenv("CATENA_CUDA_LIBRARIES");
  if (folder == nullptr) {
    std::cout << "skipped: the tool that listens comes with the software device\n";
    return;
  }
  const std::string path = std::string(folder) + "/libcuda.so.1";
  setenv("NVTX_INJECTION64_PATH", path.c_str(), 1);
  void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  BOOST_REQUIRE(library != nullptr);
  const auto log = reinterpret_cast<void (*)(char*, std::size_t)>(dlsym(library, "software_cuda_nvtx_log"));
  BOOST_REQUIRE(log != nullptr);

  autograd::Variable x(nd::ones({2}, nd::float32));
  autograd::CUDAProfileHook hook;
  {
    const autograd::HookScope scope(hook);
    autograd::Variable y = autograd::sum(autograd::exp(x) * 2);
    y.backward();
  }
  autograd::exp(x);  // behind the scope
  char text[1024];
  log(text, sizeof text);
  BOOST_TEST(std::string(text) ==
             "push exp.forward;pop;push _ * 2.forward;pop;push Sum.forward;pop;"
             "push Sum.backward;pop;push _ * 2.backward;pop;push exp.backward;pop;");

  // Exceptions leave no range open.
  const std::string so_far = text;
  {
    const autograd::HookScope scope(hook);
    BOOST_CHECK_THROW(autograd::make_function<Broken>(true)(x), catena::RuntimeError);
    autograd::Variable y = autograd::sum(autograd::make_function<Broken>(false)(x));
    BOOST_CHECK_THROW(y.backward(), catena::RuntimeError);
    autograd::exp(x);
  }
  log(text, sizeof text);
  BOOST_TEST(std::string(text) == so_far +
                                      "push Broken.forward;pop;push Broken.forward;pop;push Sum.forward;pop;"
                                      "push Sum.backward;pop;push Broken.backward;pop;push exp.forward;pop;");
}

BOOST_AUTO_TEST_SUITE_END()
