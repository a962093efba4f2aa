// 8 and 24 threads at once: what each of them computes has the bits of the same work alone on one thread. Pool, kernel
// cache, kernels of users, streams and events, random numbers, modes, training.
#include <boost/test/unit_test.hpp>

#include <atomic>
#include <barrier>
#include <chrono>
#include <functional>
#include <iostream>
#include <iterator>
#include <mutex>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <catena/catena.h>
#include <catena/ndarray/cpu/host_compiler.h>
#include <catena/ndarray/cuda/compiler/kernel_cache.h>
#include <catena/ndarray/cuda/vendor/curand_library.h>
#include <catena/ndarray/routines/curand.h>
#include <catena/tests/support/ndarray_values.h>

using autograd::Variable;

namespace {

// The results of a thread.
using Bytes = std::vector<std::byte>;
void append(Bytes& to, const nd::Array& a) {
  const Bytes bytes = test::bytes_of(a);
  to.insert(to.end(), bytes.begin(), bytes.end());
}
void append(Bytes& to, std::string_view text) {
  for (const char c : text) to.push_back(std::byte(c));
}

// Runs f(0), ... f(n - 1) on n threads that begin together.
template <class F> void on_threads(int n, F&& f) {
  std::barrier start(n);
  std::mutex mutex;
  std::string errors;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < n; ++i)
      threads.emplace_back([&, i] {
        start.arrive_and_wait();
        try {
          f(i);
        } catch (const std::exception& e) {
          const std::lock_guard lock(mutex);
          errors += catena::concat("thread ", i, ": ", e.what(), "\n");
        }
      });
  }
  BOOST_TEST(errors.empty(), errors);
}

// f(i) gives what thread i computes. Together first, when nothing is in any cache yet; then one after the other on one
// thread.
template <class F> void check_same_as_alone(int n, F&& f) {
  std::vector<Bytes> together(static_cast<std::size_t>(n)), alone(together);
  on_threads(n, [&](int i) { together[std::size_t(i)] = f(i); });
  on_threads(1, [&](int) {
    for (int i = 0; i < n; ++i) alone[std::size_t(i)] = f(i);
  });
  for (int i = 0; i < n; ++i)
    BOOST_TEST((together[std::size_t(i)] == alone[std::size_t(i)]), "thread " << i << " of " << n);
  BOOST_TEST(!alone[0].empty());
  BOOST_TEST((alone[0] != alone[1]));  // each has work of its own
}

bool on_cpu() { return nd::current_device().kind == nd::Device::Kind::cpu; }

// A number that depends on the thread and the place.
nd::Array numbers(int thread, const nd::Shape& shape) {
  nd::Array a = nd::arange(double(catena::size_of(shape)), {.dtype = nd::float64});
  return ((a * 7 + thread * 13) % 101 / 10 + 0.5).reshape(shape);
}

BOOST_AUTO_TEST_SUITE(threads)

// ---- memory pool --------------------------------------------------------------------------------
// Arrays of all sizes come and go; some die on another thread than the one that made them. No two share memory.
BOOST_AUTO_TEST_CASE(memory_pool) {
  const std::size_t used = nd::memory_pool().used_bytes();
  using Tagged = std::pair<nd::Array, int>;
  const auto is_whole = [](const Tagged& t) {
    return t.first.to_vector<int>() == std::vector<int>(std::size_t(t.first.size()), t.second);
  };
  for (const int n : {8, 24}) {
    std::mutex mutex;
    std::vector<Tagged> mailbox;
    std::atomic<int> broken{0};
    check_same_as_alone(n, [&](int thread) {
      std::mt19937 random(static_cast<unsigned>(thread));
      std::vector<Tagged> live;
      Bytes result;
      for (int step = 0; step < 80; ++step) {
        const unsigned what = random() % 4;
        if (what < 2 || live.empty()) {
          const int tag = int(random() % 1000);
          live.emplace_back(nd::full({1 + std::int64_t(random() % (16u << random() % 11))}, tag, {.dtype = nd::int32}),
                            tag);
          continue;
        }
        std::swap(live[random() % live.size()], live.back());
        const Tagged last = std::move(live.back());
        live.pop_back();
        if (what == 2) {
          append(result, last.first(nd::Slice({}, 8)) * 3);
          broken += !is_whole(last);
          continue;
        }
        Tagged other;
        {
          const std::lock_guard lock(mutex);
          mailbox.push_back(last);
          if (mailbox.size() > 20) other = std::exchange(mailbox.front(), mailbox.back()), mailbox.pop_back();
        }
        if (!other.first.is_null()) broken += !is_whole(other);
      }
      for (const Tagged& t : live) broken += !is_whole(t);
      return result;
    });
    for (const Tagged& t : mailbox) broken += !is_whole(t);
    BOOST_TEST(broken == 0);
  }
  BOOST_TEST(nd::memory_pool().used_bytes() == used);
}

// ---- kernel cache -------------------------------------------------------------------------------
// Every thread meets the functions in another order, so that many ask for the same kernel at once.
BOOST_AUTO_TEST_CASE(registered_kernels) {
  const std::vector<std::function<nd::Array(const nd::Array&)>> functions = {
      [](const nd::Array& a) { return a + a; },
      [](const nd::Array& a) { return a * 3; },
      [](const nd::Array& a) { return nd::exp(-a); },
      [](const nd::Array& a) { return nd::sqrt(a) / (a + 1); },
      [](const nd::Array& a) { return nd::maximum(a, a.T()); },
      [](const nd::Array& a) { return nd::where(a > 3, a, -a); },
      [](const nd::Array& a) { return nd::sum(a, {.axis = 0}); },
      [](const nd::Array& a) { return nd::max(a, {.axis = 1}); },
      [](const nd::Array& a) { return nd::argsort(a); },
      [](const nd::Array& a) { return nd::cumsum(a, {.axis = 1}); },
      [](const nd::Array& a) { return nd::matmul(a, a); },
      [](const nd::Array& a) { return a.T().copy(); },
  };
  for (const int n : {8, 24})
    check_same_as_alone(n, [&](int thread) {
      std::vector<nd::Array> results(functions.size());
      const nd::Array a = numbers(thread, {40, 40}).astype(thread % 3 == 0 ? nd::float32 : nd::float64);
      for (std::size_t k = 0; k < functions.size(); ++k) {
        const std::size_t at = (k + std::size_t(thread) * 5) % functions.size();
        results[at] = functions[at](a);
      }
      Bytes bytes;
      for (const nd::Array& r : results) append(bytes, r);
      return bytes;
    });
}

std::uint64_t compilations() {
  return on_cpu() ? nd::cpu::host_compiler_statistics().compilations : nd::cuda::kernel_cache_statistics().compilations;
}

// Texts that no cache has: each is compiled once, whoever asks, through whatever object.
BOOST_AUTO_TEST_CASE(kernels_of_users) {
  for (const int n : {8, 24}) {
    const std::string text = "// " + std::to_string(std::chrono::system_clock::now().time_since_epoch().count());
    const auto cube = [&] {
      return nd::ElementwiseKernel("T x, float64 k", "T y", "y = x * x * x + k; " + text, "cube");
    };
    const auto norm = [&] {
      return nd::ReductionKernel("T x", "T y", "x * x", "a + b", "y = sqrt(a) " + text + "\n", "0", "norm");
    };
    const nd::ElementwiseKernel shared_cube = cube();
    const nd::ReductionKernel shared_norm = norm();
    const std::uint64_t before = compilations();
    check_same_as_alone(n, [&](int thread) {
      const nd::Array x = numbers(thread, {30, 20});
      Bytes bytes;
      append(bytes, thread % 2 ? shared_cube(x, thread) : cube()(x, thread));
      append(bytes, thread % 3 ? shared_norm(x, {.axis = 1}) : norm()(x, {.axis = 1}));
      return bytes;
    });
    BOOST_TEST(compilations() == before + 2);
  }
}

BOOST_AUTO_TEST_CASE(modules_of_users) {
  for (const int n : {8, 24}) {
    const nd::RawKernel shared(
        "extern \"C\" __global__ void fill(int* out, int first) { out[blockIdx.x * blockDim.x + threadIdx.x] = "
        "first + blockIdx.x * blockDim.x + threadIdx.x; }  // for " +
            std::to_string(n),
        "fill");
    check_same_as_alone(n, [&](int thread) {
      const nd::Array out = nd::zeros({64}, nd::int32);
      shared({4}, {16}, {out, thread * 1000});
      const std::string wrong =
          test::difference(out, nd::arange(thread * 1000, thread * 1000 + 64, 1, {.dtype = nd::int32}));
      if (!wrong.empty()) throw std::logic_error(wrong);
      Bytes bytes;
      append(bytes, out);
      return bytes;
    });
  }
}

// ---- streams and events -------------------------------------------------------------------------
// Each thread works on a stream of its own and waits for its neighbour's event, on the device only.
BOOST_AUTO_TEST_CASE(streams_and_events) {
  for (const int n : {8, 24}) {
    const auto size = static_cast<std::size_t>(n);
    constexpr int kRounds = 5;
    std::vector<std::vector<nd::Array>> made(size, std::vector<nd::Array>(kRounds)), taken(made);
    std::vector<nd::Event> ready(size * kRounds);
    std::vector<std::vector<int>> called(size);
    std::barrier recorded(n), ended(n);
    on_threads(n, [&](int thread) {
      const std::size_t own = std::size_t(thread), next = (own + 1) % size;
      const nd::Stream stream({.non_blocking = true});
      {
        const nd::StreamScope scope(stream);
        for (int round = 0; round < kRounds; ++round) {
          const std::size_t r = std::size_t(round);
          nd::Array a = numbers(thread + round, {3000});
          for (int k = 0; k < 3; ++k) a = a * 2 - 1;
          made[own][r] = a;
          stream.record(ready[r * size + own]);
          stream.add_callback([&called, own, round](const nd::Stream&, int) { called[own].push_back(round); });
          recorded.arrive_and_wait();
          stream.wait_event(ready[r * size + next]);
          taken[own][r] = made[next][r] + 1;
        }
      }
      stream.synchronize();
      ended.arrive_and_wait();  // no array is destroyed while another thread reads it
    });
    for (std::size_t i = 0; i < size; ++i)
      for (int round = 0; round < kRounds; ++round) {
        const nd::Array expected = numbers(int((i + 1) % size) + round, {3000}) * 8 - 7 + 1;
        CHECK_SAME(test::difference(taken[i][std::size_t(round)], expected),
                   "thread " << i << " of " << n << " round " << round);
        BOOST_TEST(ready[std::size_t(round) * size + i].done());
      }
    for (const std::vector<int>& rounds : called) BOOST_TEST(rounds == (std::vector<int>{0, 1, 2, 3, 4}));
  }
}

// ---- random numbers -----------------------------------------------------------------------------
BOOST_AUTO_TEST_CASE(generators_of_their_own) {
  for (const int n : {8, 24})
    check_same_as_alone(n, [](int thread) {
      nd::random::RandomState g(static_cast<std::uint64_t>(thread));
      autograd::seed(static_cast<std::uint64_t>(thread));
      Bytes bytes;
      for (int k = 0; k < 10; ++k) {
        append(bytes, g.standard_normal({33}));
        append(bytes, g.randint(-5, 1000, {33}));
        append(bytes, g.permutation(17));
        append(bytes, nd::Array(nn::dropout(Variable(autograd::arrays::ones({50}))).data()));
      }
      return bytes;
    });
}

// The numbers that threads draw from one generator are those that one thread would have drawn, each once.
void check_shared(nd::random::RandomState& shared, nd::random::RandomState& alone, int n) {
  constexpr int kDraws = 20;
  std::mutex mutex;
  std::multiset<std::vector<double>> drawn, expected;
  on_threads(n, [&](int) {
    for (int k = 0; k < kDraws; ++k) {
      auto values = shared.random_sample({8}).to_vector<double>();
      const std::lock_guard lock(mutex);
      drawn.insert(std::move(values));
    }
  });
  for (int k = 0; k < kDraws * n; ++k) expected.insert(alone.random_sample({8}).to_vector<double>());
  BOOST_TEST((drawn == expected));
  BOOST_TEST((std::set(drawn.begin(), drawn.end()).size() == drawn.size()));
}

BOOST_AUTO_TEST_CASE(one_generator) {
  for (const int n : {8, 24}) {
    nd::random::RandomState shared(5), alone(5);
    check_shared(shared, alone, n);
    BOOST_TEST(shared.offset() == alone.offset());
    // Seeding is one step: no number is of the old seed at a new place.
    nd::random::RandomState seeded(1);
    std::atomic<int> strange{0};
    const double of[2] = {nd::random::RandomState(1).rand({1})(0).item<double>(),
                          nd::random::RandomState(2).rand({1})(0).item<double>()};
    on_threads(n, [&](int thread) {
      for (int k = 0; k < 20; ++k) {
        const std::uint64_t seed = 1 + (thread + k) % 2;
        seeded.seed(seed);
        nd::random::RandomState copy = seeded;
        strange += copy.offset() != 0 || copy.rand({1})(0).item<double>() != of[copy.initial_seed() - 1];
      }
    });
    BOOST_TEST(strange == 0);
  }
}

BOOST_AUTO_TEST_CASE(one_generator_of_curand) {
  try {
    nd::cuda::curand();
  } catch (const catena::RuntimeError& e) {
    std::cout << "skipped: " << e.what() << "\n";
    return;
  }
  for (const int n : {8, 24}) {
    nd::random::RandomState shared(5, nd::cuda::CurandMethod::xorwow), alone(5, nd::cuda::CurandMethod::xorwow);
    check_shared(shared, alone, n);
  }
}

// ---- modes --------------------------------------------------------------------------------------
// Devices, streams, backprop, train and type checks are each thread's own.
BOOST_AUTO_TEST_CASE(modes) {
  for (const int n : {8, 24})
    check_same_as_alone(n, [](int thread) {
      autograd::seed(static_cast<std::uint64_t>(thread));
      const nd::Device device = nd::current_device();
      Bytes bytes;
      for (int step = 0; step < 24; ++step) {
        const int bits = thread + step;
        const bool on_host = bits % 5 == 0;
        const nd::DeviceScope device_scope(on_host ? nd::cpu_device : device);
        const nd::Stream stream;
        const nd::StreamScope stream_scope(stream);
        const auto backprop = autograd::using_config("enable_backprop", (bits & 1) == 0);
        const auto train = autograd::train_mode((bits & 2) != 0);
        const auto checks = autograd::type_check_mode((bits & 4) != 0);
        std::this_thread::yield();
        const Variable x(autograd::arrays::ones({6}), {.volatile_ = autograd::AUTO});
        const Variable y = nn::dropout(x) * 2;
        append(bytes, y.creator() != nullptr ? "graph " : "no graph ");
        append(bytes, catena::to_string(y.data().device()));
        append(bytes, nd::Array(y.data()));
        try {
          nn::softmax(x);  // of rank 1: the check of types says so first, where there is one
        } catch (const catena::InvalidType&) {
          append(bytes, " checked");
        } catch (const catena::Error& e) {
          append(bytes, e.what());
        }
        if (!(nd::current_stream() == stream.ref())) throw std::logic_error("the stream is another one");
      }
      if (!(nd::current_device() == device) || nd::current_stream().handle != nullptr)
        throw std::logic_error("a scope was not left");
      return bytes;
    });
}

// ---- training -----------------------------------------------------------------------------------
struct Model : nn::Chain {
  nn::Linear l1{4, 8}, l2{8, 3};
  nn::BatchNormalization bn{8};
  NN_MEMBERS(l1, bn, l2)
  Variable operator()(const Variable& x) { return l2(nn::dropout(nn::relu(bn(l1(x))))); }
};

Bytes trained(int thread) {
  autograd::seed(static_cast<std::uint64_t>(thread));
  nn::Classifier<Model> model{Model()};
  training::Adam optimizer;
  optimizer.setup(model);
  for (int step = 0; step < 3; ++step) {
    const Variable x(autograd::Array(numbers(thread + step, {5, 4}).astype(nd::float32)));
    optimizer.update(model, x, Variable(autograd::array<std::int32_t>({0, 1, 2, 1, 0}, {5})));
  }
  Bytes bytes;
  for (const Variable& p : model.params()) append(bytes, nd::Array(p.data()));
  return bytes;
}

// Debug mode is the process's: one thread switches it while the others train, and changes no bit.
BOOST_AUTO_TEST_CASE(training_while_debug_mode_is_switched) {
  std::atomic<bool> end{false};
  std::jthread switching([&] {
    for (bool debug = true; !end; debug = !debug) {
      autograd::set_debug(debug);
      std::this_thread::yield();
    }
    autograd::set_debug(false);
  });
  for (const int n : {8, 24}) check_same_as_alone(n, trained);
  end = true;
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
