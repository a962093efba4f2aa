// CUDA graphs over arrays.
#include <boost/test/unit_test.hpp>

#include <atomic>
#include <cmath>
#include <cstring>
#include <functional>
#include <iostream>
#include <optional>
#include <string>
#include <thread>

#include <catena/ndarray/cuda/runtime/graph.h>
#include <catena/ndarray/cuda/vendor/nccl.h>
#include <catena/ndarray/engine/execute.h>
#include <catena/ndarray/ndarray.h>
#include <catena/ndarray/routines/curand.h>
#include <catena/tests/support/cuda_device/control.h>
#include <catena/tests/support/ndarray_values.h>

namespace {

using nd::cuda::Graph;

BOOST_AUTO_TEST_SUITE(graph)

BOOST_AUTO_TEST_CASE(replays_see_new_contents) {
  const nd::Array x = nd::arange(0, 1000, 1, {.dtype = nd::float32});
  nd::Array y;
  Graph g([&] { y = nd::sum(nd::exp(x * 0.001f) + x, {.axis = 0}); });
  BOOST_TEST(g.n_nodes() >= 2u);
  const auto expected = [](double shift) {
    double s = 0;
    for (int i = 0; i < 1000; ++i) s += std::exp((i + shift) * 0.001) + i + shift;
    return s;
  };
  BOOST_TEST(y.item<double>() == expected(0), boost::test_tools::tolerance(1e-5));
  for (int round = 1; round < 4; ++round) {
    nd::copyto(x, x + 1.f);
    g.replay();
    BOOST_TEST(y.item<double>() == expected(round), boost::test_tools::tolerance(1e-5));
  }
}

BOOST_AUTO_TEST_CASE(memory_of_a_graph_is_its_own) {
  const nd::Array x = nd::full({5000}, 2.f);
  nd::Array y;
  Graph g([&] {
    const nd::Array a = x * 3.f;  // freed while recording; used again by every replay
    y = a + 1.f;
  });
  nd::memory_pool().free_all_blocks();
  // Other work must not be given what replays write.
  std::vector<nd::Array> others;
  for (int i = 0; i < 20; ++i) others.push_back(nd::full({5000}, float(i)));
  g.replay();
  for (int i = 0; i < 20; ++i) BOOST_TEST(nd::all(others[std::size_t(i)] == float(i)).item<bool>());
  BOOST_TEST(nd::all(y == 7.f).item<bool>());
}

BOOST_AUTO_TEST_CASE(what_a_graph_uses_stays_alive) {
  nd::Array y;
  std::optional<Graph> g;
  {
    const nd::Array x = nd::full({4000}, 5.f);
    g.emplace([&] { y = x + 1.f; });
  }
  const nd::Array other = nd::full({4000}, -1.f);  // would be given the memory of x
  y.fill(0);
  g->replay();
  BOOST_TEST(nd::all(y == 6.f).item<bool>());
  BOOST_TEST(nd::all(other == -1.f).item<bool>());
}

// Code that is loaded for a kernel object or a memoised function is unloaded with it, but not before the graphs.
BOOST_AUTO_TEST_CASE(code_of_text_kernels_lives_with_the_graph) {
  const nd::Array y = nd::zeros({1000}, nd::float32), one = nd::ones({1000}, nd::float32);
  const auto replays = [&](const char* what, const std::function<void(std::optional<Graph>&)>& capture) {
    std::optional<Graph> g;
    y.fill(0);
    capture(g);
    nd::clear_memo();
    g->replay();
    g->replay();
    BOOST_TEST(nd::all(y == 3).item<bool>(), what << " gives " << y(0).item<double>());
  };
  constexpr const char* text =
      "extern \"C\" __global__ void add1(float* p, int n) {\n"
      "  const int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
      "  if (i < n) p[i] += 1;\n"
      "}\n";
  replays("a RawKernel", [&](auto& g) {
    const nd::RawKernel k(text, "add1");
    g.emplace([&] { k({4}, {256}, {y, 1000}); });
  });
  replays("a RawModule", [&](auto& g) {
    const nd::RawModule m(text);
    g.emplace([&] { m.get_function("add1")({4}, {256}, {y, 1000}); });
  });
  replays("an ElementwiseKernel", [&](auto& g) {
    const nd::ElementwiseKernel k("float32 a", "float32 b", "b += a", "add_once");
    g.emplace([&] { k(one, y); });
  });
  replays("a ReductionKernel", [&](auto& g) {
    const nd::ReductionKernel k("float32 a", "float32 b", "a", "a + b", "b = a * 0.001f", "0", "mean_of_1000");
    const nd::Array mean = nd::zeros({}, nd::float32);
    g.emplace([&] {
      k(one, mean);
      y(nd::ellipsis) += mean;
    });
  });
}

// Nodes of libraries refer to memory of their communicators and generators.
BOOST_AUTO_TEST_CASE(handles_of_libraries_live_with_the_graph) {
  if (!cuda_device::Control::available()) {
    std::cout << "skipped: only the software CUDA device counts the calls of libraries\n";
    return;
  }
  cuda_device::Control control;
  const nd::Array x = nd::ones({1000}, nd::float32), y = nd::zeros({1000}, nd::float32), r = nd::zeros_like(x);
  std::optional<Graph> g;
  {
    const std::vector<nd::cuda::NcclCommunicator> ranks = nd::cuda::NcclCommunicator::all({0});
    nd::cuda::CurandGenerator generator(nd::cuda::CurandMethod::xorwow, {.seed = 3});
    control.reset_records();
    g.emplace([&] {
      ranks[0].all_reduce(x, y);
      generator.uniform(r);
    });
  }
  const std::vector<float> first = r.to_vector<float>();
  g->replay();
  BOOST_TEST(nd::all(y == 1).item<bool>());
  BOOST_TEST((r.to_vector<float>() != first));  // the sequence goes on
  BOOST_TEST(control.calls("ncclCommDestroy") == 0u);
  BOOST_TEST(control.calls("curandDestroyGenerator") == 0u);
  g.reset();
  BOOST_TEST(control.calls("ncclCommDestroy") == 1u);
  BOOST_TEST(control.calls("curandDestroyGenerator") == 1u);
}

// The work of other threads on other streams does not end a capture, and is done.
BOOST_AUTO_TEST_CASE(other_threads_read_and_wait_during_a_capture) {
  const nd::Array a = nd::ones({1000}, nd::float32), b = nd::full({1000}, 7.f);
  static_cast<void>(double((a + b).sum()));
  const std::pair<const char*, std::function<double()>> others[] = {
      {"reads a number", [&] { return double(nd::ones({10}, nd::float32).sum()); }},
      {"copies to the host", [&] { return nd::asnumpy(nd::full({10}, 10.f))(3).item<double>(); }},
      {"waits for its stream",
       [&] {
         const nd::Stream s({.non_blocking = true});
         const nd::StreamScope on(s);
         const nd::Array c = nd::full({10}, 10.f);
         s.synchronize();
         return double(c(0));
       }},
      {"waits for the device",
       [&] {
         const nd::Array c = nd::full({10}, 10.f);
         nd::synchronize(a.device());
         return double(c(0));
       }},
      {"asks for the positions of a mask", [&] { return double(nd::nonzero(nd::arange(10'000.) < 10.)[0].size()); }},
      {"takes from the host",
       [&] {
         return double(nd::array({4., 6.}).sum());
       }},
  };
  for (const auto& [what, f] : others) BOOST_TEST_CONTEXT("another thread " << what) {
      std::atomic<int> state{0};
      std::string said;
      std::thread other([&, &f = f] {
        const nd::DeviceScope on(a.device());
        while (state.load() != 1) std::this_thread::yield();
        try {
          const double value = f();
          said = value == 10 ? "right" : "wrong: " + std::to_string(value);
        } catch (const std::exception& e) {
          said = e.what();
        }
        state = 2;
      });
      nd::Array y;
      std::optional<Graph> g;
      std::string own = "captured";
      try {
        g.emplace([&] {
          const nd::Array x = a + b;
          state = 1;
          while (state.load() != 2) std::this_thread::yield();
          y = x + b;
        });
      } catch (const std::exception& e) {
        own = e.what();
        state = 1;
      }
      other.join();
      BOOST_TEST(own == "captured");
      BOOST_TEST(said == "right");
      if (g) BOOST_TEST(nd::all(y == 15).item<bool>());
    }
}

BOOST_AUTO_TEST_CASE(memory_goes_back_with_the_graph) {
  nd::synchronize(nd::current_device());
  nd::memory_pool().free_all_blocks();
  const std::size_t before = nd::memory_pool().total_bytes();
  {
    const nd::Array x = nd::ones({1000, 100});
    nd::Array y;
    Graph g([&] { y = nd::exp(x) + nd::ones({1000, 100}); });
    g.replay();
    BOOST_TEST(nd::memory_pool().total_bytes() > before);
  }
  nd::synchronize(nd::current_device());
  nd::memory_pool().free_all_blocks();
  BOOST_TEST(nd::memory_pool().total_bytes() == before);
}

// Replays that have not run yet, on a stream other than those of the arrays, keep the memory of the graph. The software
// device executes nothing before something needs it.
BOOST_AUTO_TEST_CASE(memory_goes_back_after_the_last_replays) {
  constexpr std::int64_t length = 100000;  // above the small blocks that a thread keeps for itself
  const nd::Stream home({.non_blocking = true}), first({.non_blocking = true}), second({.non_blocking = true});
  nd::memory_pool().free_all_blocks();
  const nd::StreamScope on_home(home);
  const nd::Array y = nd::zeros({length}, nd::float32);
  nd::Array made;  // keeps the segment of the graph, whose return to the device would wait for it
  {
    std::optional<Graph> g;
    {
      const nd::Array x = nd::full({length}, 5.f);
      g.emplace([&] {
        made = x * 2.f;
        nd::copyto(y, made + 1.f);
      });
    }
    home.synchronize();
    y.fill(0);
    home.synchronize();
    for (const nd::Stream& s : {first, second}) {
      const nd::StreamScope on(s);
      g->replay();
    }
  }
  // The memory of the graph and of x, which nothing else keeps, is used for something else.
  std::vector<nd::Array> others;
  for (int k = 0; k < 6; ++k) others.push_back(nd::full({length}, -1.f));
  home.synchronize();
  first.synchronize();
  second.synchronize();
  BOOST_TEST(nd::all(y == 11.f).item<bool>());
  for (const nd::Array& o : others) BOOST_TEST(nd::all(o == -1.f).item<bool>());
}

BOOST_AUTO_TEST_CASE(live_values_are_asked_for_before_each_replay) {
  int asked = 0;
  nd::Array y;
  const nd::Array one = nd::ones({3});
  Graph g([&] {
    const double first = 10;
    std::byte* at = nd::cuda::live_bytes(&first, sizeof first, [&](std::byte* to) {
      const double next = 10 + ++asked;
      std::memcpy(to, &next, sizeof next);
    });
    const nd::Array live = nd::wrap(reinterpret_cast<double*>(at), {1}, {.device = nd::current_device()});
    y = one + live;
  });
  BOOST_TEST(asked == 0);
  BOOST_TEST(nd::all(y == 11.).item<bool>());
  for (int round = 1; round <= 3; ++round) {
    g.replay();
    BOOST_TEST(asked == round);
    BOOST_TEST(nd::all(y == 11. + round).item<bool>());
  }
}

// Arrays that the work has dropped before it asks for a live value are written again by each replay, behind the value.
BOOST_AUTO_TEST_CASE(live_values_share_no_memory_with_arrays_of_the_graph) {
  double next = 10;
  nd::Array y;
  const nd::Array one = nd::ones({3}), long_one = nd::ones({1 << 16});
  Graph g([&] {
    for (std::int64_t size = 16; size <= 1 << 16; size *= 2) {
      const nd::Array dropped = long_one(nd::Slice(0, size)) * -1;
    }
    std::byte* at =
        nd::cuda::live_bytes(&next, sizeof next, [&](std::byte* to) { std::memcpy(to, &next, sizeof next); });
    y = one + nd::wrap(reinterpret_cast<double*>(at), {1}, {.device = nd::current_device()});
  });
  BOOST_TEST(nd::all(y == 11.).item<bool>());
  next = 20;
  g.replay();
  BOOST_TEST(nd::all(y == 21.).item<bool>());
}

// In a graph, the counts are added up by a kernel of their own.
BOOST_AUTO_TEST_CASE(counts_of_nonzero_elements) {
  const nd::Array x = nd::arange(0, 100'000, 1, {.dtype = nd::float32});
  const nd::Array counts = nd::zeros({catena::size_of_counts(x.size())}, nd::int64);
  Graph g([&] { nd::internal::execute(catena::call::CountPieces{x.get(), counts.get()}); });
  BOOST_TEST(g.n_nodes() == 2u);
  for (const std::int64_t first : {1, 2047, 99'000, 100'000}) {
    nd::copyto(x, nd::where(x >= float(first), x, 0.f));
    g.replay();
    BOOST_TEST(counts(0).item<std::int64_t>() == 100'000 - first);
    const nd::Array places = nd::zeros({1, 100'000 - first}, nd::int64);
    nd::internal::execute(catena::call::Nonzero{x.get(), counts.get(), places.get()});
    BOOST_TEST(nd::array_equal(places(0), nd::arange(first, 100'000)).item<bool>());
  }
}

BOOST_AUTO_TEST_CASE(what_cannot_be_recorded_is_named) {
  const nd::Array x = nd::ones({10});
  BOOST_TEST(test::message_of<catena::RuntimeError>([&] { Graph([&] { nd::sum(x).item<double>(); }); }) ==
             "copy to the host: cannot be recorded in a CUDA graph, it would have to wait for the device");
  for (const std::int64_t n : {10, 10'000})
    BOOST_TEST(test::message_of<catena::RuntimeError>([&] { Graph([&] { nd::nonzero(nd::ones({n})); }); }) ==
               "copy to the host: cannot be recorded in a CUDA graph, it would have to wait for the device");
  BOOST_TEST(test::message_of<catena::RuntimeError>([&] { Graph([&] {
                                                            nd::array({1., 2.});
                                                          }); }) ==
             "copy from the host: cannot be recorded in a CUDA graph, replays would see the values of the first run; "
             "copy to an array made "
             "before");
  BOOST_TEST(test::message_of<catena::RuntimeError>([&] { Graph([&] { nd::synchronize(nd::current_device()); }); }) ==
             "synchronize: cannot be recorded in a CUDA graph, it would have to wait for the device");
  BOOST_TEST(test::message_of<catena::RuntimeError>([&] { Graph([&] { Graph([] {}); }); }) ==
             "cuda graph: another one is being recorded on this thread");
  BOOST_TEST(test::message_of<catena::ValueError>([&] { Graph([] {}, nd::cpu_device); }) ==
             "cuda graph: cpu:0 is not a CUDA device");
  BOOST_TEST(test::message_of<catena::RuntimeError>([&] { nd::cuda::live_bytes(nullptr, 0, {}); }) ==
             "live_bytes: no graph is being recorded on this thread");
  // Nothing of this has hurt the device or the thread.
  BOOST_TEST(!nd::cuda::is_recording());
  BOOST_TEST(nd::sum(x).item<double>() == 10);
  nd::Array y;
  Graph good([&] { y = x + 1; });
  BOOST_TEST(nd::all(y == 2.).item<bool>());
}

BOOST_AUTO_TEST_CASE(an_exception_passes_and_nothing_has_run) {
  nd::Array x = nd::ones({10});
  const auto broken = [&] {
    Graph([&] {
      x += 1;
      throw std::runtime_error("mine");
    });
  };
  BOOST_CHECK_EXCEPTION(broken(), std::runtime_error,
                        [](const std::exception& e) { return std::strcmp(e.what(), "mine") == 0; });
  BOOST_TEST(nd::all(x == 1.).item<bool>());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
