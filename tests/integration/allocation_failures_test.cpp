// The Nth block of device memory cannot be had, for N = 1, 2, ... until the work is done. Every time: an exception
// of ours, nothing that was there before has changed, no memory is lost, and a second attempt succeeds.
#include <boost/test/unit_test.hpp>

#include <unistd.h>
#include <filesystem>
#include <functional>
#include <string>

#include <catena/catena.h>
#include <catena/ndarray/memory/memory_hook.h>
#include <catena/tests/support/ndarray_values.h>

using autograd::Array;
using autograd::Dtype;
using autograd::Variable;

namespace {

class FailAt final : public nd::MemoryHook {
 public:
  explicit FailAt(int nth) : left_(nth) {}
  bool has_failed() const { return left_ <= 0; }
  void malloc_preprocess(const nd::MemoryEvent& e) override {
    if (--left_ == 0) throw catena::OutOfMemoryError(catena::concat("planned: ", e.bytes, " bytes"));
  }

 private:
  int left_;
};

// `state` gives everything that must not change in a failed attempt, as bytes.
void fail_everywhere(const std::string& what, const std::function<void()>& work,
                     const std::function<std::string()>& state) {
  for (int time = 0; time < 2; ++time) work();  // whatever is made once, or kept when it is needed again, is there
  int n = 1;
  for (;; ++n) {
    BOOST_REQUIRE_MESSAGE(n < 2000, what << " asks for memory without end");
    const std::string before = state();
    const std::size_t used = nd::memory_pool().used_bytes();
    FailAt hook(n);
    bool failed = false;
    {
      const nd::MemoryHookScope scope(hook);
      try {
        work();
      } catch (const catena::OutOfMemoryError&) {
        failed = true;
      }
    }
    BOOST_TEST(failed == hook.has_failed(), what << ": failure " << n << " was swallowed");
    if (!failed) break;
    BOOST_TEST((state() == before), what << ": failure " << n << " changed something");
    BOOST_TEST(nd::memory_pool().used_bytes() == used, what << ": failure " << n << " lost memory");
  }
  BOOST_TEST(n > 1, what << " asks for no memory");
}

std::string bytes_of(const Array& a) {
  std::string s(std::size_t(a.size()) * catena::itemsize(a.dtype()), 0);
  if (a.size() > 0) autograd::to_host(autograd::contiguous(a), s.data());
  return s;
}

struct Net : nn::Chain {
  nn::Convolution2D conv{2, 3, 3};
  nn::Linear out{48, 4};
  NN_MEMBERS(conv, out)
  Variable operator()(const Variable& x) { return out(nn::relu(conv(x))); }
};

struct Training {
  nn::Classifier<Net> model{Net()};
  training::Adam optimizer;
  Array x = autograd::random_normal({5, 2, 6, 6}, 0, 1, Dtype::float32, autograd::default_generator());
  Array t = autograd::array<std::int32_t>({0, 1, 2, 3, 0}, {5});
  Training() {
    optimizer.setup(model);
    optimizer.add_hook(training::GradientClipping(1.0));
  }
  // Results of the last call are no state: a failed one leaves its own behind.
  void forget() {
    model.cleargrads();
    model.loss = model.y = model.accuracy = Variable();
  }
  std::string state() {
    std::string s = std::to_string(optimizer.t());
    for (const auto& p : model.namedparams()) {
      s += bytes_of(p.param.data());
      for (const Array& a : optimizer.states(p.path)) s += bytes_of(a);
    }
    return s;
  }
};

BOOST_AUTO_TEST_SUITE(allocation_failures)

BOOST_AUTO_TEST_CASE(elementwise) {
  const nd::Array x = nd::full({300, 5}, 0.5f), out = nd::zeros({300, 5}, nd::float32);
  fail_everywhere(
      "elementwise", [&] { nd::copyto(out, nd::exp(x.T()).T() * 2 + nd::sum(x, {.axis = 0})); },
      [&] { return bytes_of(Array(x)); });
}

BOOST_AUTO_TEST_CASE(matrix_product) {
  const nd::Array a = nd::ones({40, 30}, nd::float32), b = nd::ones({30, 20}, nd::float32);
  fail_everywhere(
      "matmul", [&] { nd::matmul(a.T().copy().T(), b); }, [&] { return bytes_of(Array(a)) + bytes_of(Array(b)); });
}

BOOST_AUTO_TEST_CASE(convolution) {
  Training run;
  fail_everywhere(
      "convolution", [&] { run.model.predictor.conv(Variable(run.x)); }, [&] { return run.state() + bytes_of(run.x); });
}

BOOST_AUTO_TEST_CASE(forward_and_backward) {
  Training run;
  fail_everywhere(
      "backward",
      [&] {
        run.model.cleargrads();
        run.model(Variable(run.x), Variable(run.t)).backward();
        run.forget();
      },
      [&] {
        run.forget();
        return run.state();
      });
}

BOOST_AUTO_TEST_CASE(optimizer_step) {
  Training run;
  run.optimizer.update(run.model, Variable(run.x), Variable(run.t));
  fail_everywhere(
      "update",
      [&] {
        run.model.cleargrads();
        run.optimizer.update();
        run.forget();
      },
      [&] {
        run.forget();
        return run.state();
      });
}

BOOST_AUTO_TEST_CASE(loading_a_snapshot) {
  Training run, other;
  const std::string path =
      (std::filesystem::temp_directory_path() / ("catena_f1_" + std::to_string(getpid()) + ".npz")).string();
  nn::serializers::save_npz(path, other.model);
  // The loaded values equal the present ones, so that a half-loaded model would show only if a parameter were lost.
  nn::serializers::load_npz(path, run.model);
  fail_everywhere(
      "load_npz", [&] { nn::serializers::load_npz(path, run.model); }, [&] { return run.state(); });
  std::filesystem::remove(path);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
