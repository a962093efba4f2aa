// Filters that are kept in a library's layout (autograd/backend/derived.h): every way to change the original is
// noticed, the results have the same bits, and the memory goes with the original.
#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include <catena/autograd/backend/derived.h>
#include <catena/autograd/nn_extension.h>
#include <catena/catena.h>
#include <catena/tests/support/ndarray_values.h>

using autograd::Array;
using autograd::derived_bytes;
using autograd::Variable;

namespace {

constexpr std::int64_t kChannels = 16;

nd::Array values(const nd::Shape& shape, std::int64_t seed) {
  std::vector<float> v(std::size_t(catena::size_of(shape)));
  for (std::size_t i = 0; i < v.size(); ++i)
    v[i] = float((i * 2654435761u + std::size_t(seed) * 40503u) % 1000) / 500 - 1;
  return nd::array(v, shape);
}
nd::Array filter(std::int64_t seed = 1) { return values({kChannels, kChannels, 3, 3}, seed); }
const nd::Array& image() {
  static const nd::Array x = values({1, kChannels, 9, 8}, 7);
  return x;
}

nd::Array convolved(const nd::Array& w) {
  autograd::ConvolutionSpec spec;
  spec.stride = spec.pad = {1, 1};
  return autograd::nn_extension(Array(image())).convolution(image(), w, {}, spec);
}
// By a filter that no call has seen before.
nd::Array expected(const nd::Array& w) { return convolved(w.copy()); }
bool same_bits(const nd::Array& a, const nd::Array& b) { return test::bytes_of(a) == test::bytes_of(b); }

// Whether calls with the same filter keep it: false where oneDNN reads filters as they are, or is not there.
bool keeps() {
  const nd::Array w = filter();
  const std::size_t before = derived_bytes();
  for (int i = 0; i < 2; ++i) convolved(w);
  return derived_bytes() > before;
}

struct Net : nn::Chain {
  nn::Convolution2D conv{int(kChannels), int(kChannels), 3, nn::Convolution2DOptions{.pad = 1}};
  NN_MEMBERS(conv)
};

// Changes of an array; some hold an address from before the first convolution.
struct Change {
  std::string name;
  std::function<std::function<void()>(const nd::Array&)> prepare;
};
template <class F> Change now(const char* name, F f) {
  return {name, [f](const nd::Array& w) { return [f, w] { f(w); }; }};
}

const std::vector<Change>& changes() {
  static const std::vector<Change> all = {
      now("fill", [](const nd::Array& w) { w.fill(0.5f); }),
      now("in place", [](nd::Array w) { w += 1; }),
      now("out=", [](nd::Array w) { nd::add(w, w, {.out = w}); }),
      now("copyto", [](const nd::Array& w) { nd::copyto(w, filter(2)); }),
      now("autograd::assign", [](const nd::Array& w) { autograd::assign(w, Array(filter(3))); }),
      now("autograd::fill", [](const nd::Array& w) { autograd::fill(w, 0.25); }),
      now("autograd in place", [](const nd::Array& w) { Array(w) *= 3; }),
      now("a view", [](const nd::Array& w) { w(3, nd::ellipsis) = 2; }),
      now("a view in another shape", [](const nd::Array& w) { w.reshape({-1})(nd::Slice(5, 900, 3)) = 1; }),
      now("an index array",
          [](const nd::Array& w) {
            w({0, 5}) = 4;
          }),
      now("a mask", [](const nd::Array& w) { w(w > 0) = 0; }),
      now("sort", [](nd::Array w) { w.sort(); }),
      now("a user's kernel",
          [](const nd::Array& w) {
            static const nd::ElementwiseKernel kernel("T x", "T y", "y = x * 2 + 1", "changed_filter");
            kernel(w, w);
          }),
      now("data()", [](const nd::Array& w) { w.data<float>()[77] = 9; }),
      now("memory",
          [](const nd::Array& w) {
            catena::retain(w->storage);
            nd::MemoryPointer(w->storage).memset(0, 64);
          }),
      {"an address from before",
       [](const nd::Array& w) {
         float* p = w.data<float>();
         return [p] { p[123] = -8; };
       }},
      {"an accessor from before",
       [](const nd::Array& w) {
         const auto a = w.accessor<float, 4>();
         return [a] { a(1, 2, 0, 1) = 7; };
       }},
      {"a memory pointer from before",
       [](const nd::Array& w) {
         catena::retain(w->storage);
         const nd::MemoryPointer p(w->storage);
         return [p] { reinterpret_cast<float*>(p.ptr())[5] = 3; };
       }},
  };
  return all;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(derived)

BOOST_AUTO_TEST_CASE(every_change_is_noticed) {
  const nd::DeviceScope host(nd::cpu_device);
  for (const Change& c : changes()) {
    BOOST_TEST_CONTEXT(c.name) {
      const nd::Array w = filter();
      const std::function<void()> change = c.prepare(w);
      const nd::Array before = expected(w);
      for (int call = 0; call < 3; ++call) BOOST_TEST(same_bits(convolved(w), before));
      for (int time = 0; time < 2; ++time) {
        change();
        for (int call = 0; call < 3; ++call) BOOST_TEST(same_bits(convolved(w), expected(w)));
      }
      BOOST_TEST(!same_bits(convolved(w), before));
    }
  }
}

// An address that was taken while the filter was kept.
BOOST_AUTO_TEST_CASE(an_address_ends_the_keeping) {
  const nd::DeviceScope host(nd::cpu_device);
  const nd::Array w = filter();
  for (int call = 0; call < 3; ++call) convolved(w);
  float* p = w.data<float>();
  for (int time = 1; time < 4; ++time) {
    for (int call = 0; call < 3; ++call) convolved(w);
    p[0] = float(10 * time);
    BOOST_TEST(same_bits(convolved(w), expected(w)));
  }
}

BOOST_AUTO_TEST_CASE(memory_of_someone_else_is_read_in_every_call) {
  const nd::DeviceScope host(nd::cpu_device);
  const nd::Array of = filter();
  std::vector<float> buffer = of.to_vector<float>();
  const nd::Array w = nd::wrap(buffer.data(), of.shape());
  for (int time = 0; time < 3; ++time) {
    for (int call = 0; call < 3; ++call) BOOST_TEST(same_bits(convolved(w), expected(w)));
    buffer[11] += 1;
  }
}

BOOST_AUTO_TEST_CASE(training_and_loading) {
  const nd::DeviceScope host(nd::cpu_device);
  Net net;
  const Variable x = image();
  const auto outputs = [&](int calls) {
    const auto mode = autograd::no_backprop_mode();
    nd::Array y;
    for (int i = 0; i < calls; ++i) y = net.conv(x).data();
    return y;
  };
  const auto fresh = [&] {  // of a copy, whose filter no call has seen
    const auto mode = autograd::no_backprop_mode();
    Net other = net;
    return nd::Array(other.conv(x).data());
  };
  BOOST_TEST(same_bits(outputs(3), fresh()));
  training::SGD sgd(0.1);
  sgd.setup(net);
  for (int step = 0; step < 3; ++step) {
    sgd.update([&] { return autograd::sum(autograd::square(net.conv(x))); });
    BOOST_TEST(same_bits(outputs(3), fresh()));
  }
  const std::string file = (std::filesystem::temp_directory_path() / "catena_derived_test.npz").string();
  const nd::Array saved = outputs(3);
  nn::serializers::save_npz(file, net);
  net.conv.W.set_data(filter(5));
  BOOST_TEST(same_bits(outputs(3), fresh()));
  nn::serializers::load_npz(file, net);
  std::filesystem::remove(file);
  BOOST_TEST(same_bits(outputs(3), saved));
}

// The weights of a linear layer, large enough to be kept.
BOOST_AUTO_TEST_CASE(linear_layers) {
  const nd::DeviceScope host(nd::cpu_device);
  nn::Linear layer(400, 260);
  const Variable x = values({8, 400}, 3);
  const auto outputs = [&] {
    const auto mode = autograd::no_backprop_mode();
    return nd::Array(layer(x).data());
  };
  const auto fresh = [&] {
    const auto mode = autograd::no_backprop_mode();
    return nd::Array(nn::linear(x, Variable(autograd::copy(layer.W.data())), Variable(layer.b->data())).data());
  };
  training::SGD sgd(0.1);
  sgd.setup(layer);
  for (int step = 0; step < 3; ++step) {
    for (int call = 0; call < 3; ++call) BOOST_TEST(same_bits(outputs(), fresh()));
    const std::size_t kept = derived_bytes();
    sgd.update([&] { return autograd::sum(autograd::square(layer(x))); });
    BOOST_TEST(derived_bytes() <= kept);
    for (int call = 0; call < 3; ++call) BOOST_TEST(same_bits(outputs(), fresh()));
    nd::Array(layer.W.data())(0, 0) = 100 + step;
  }
}

BOOST_AUTO_TEST_CASE(nothing_is_kept_of_what_is_used_once) {
  const nd::DeviceScope host(nd::cpu_device);
  const std::size_t before = derived_bytes();
  Net net;
  training::SGD sgd(0.1);
  sgd.setup(net);
  for (int step = 0; step < 4; ++step) {
    sgd.update([&] { return autograd::sum(autograd::square(net.conv(Variable(image()) * 2))); });
    BOOST_TEST(derived_bytes() == before);
  }
}

BOOST_AUTO_TEST_CASE(the_memory_goes_with_the_filter_and_with_its_values) {
  const nd::DeviceScope host(nd::cpu_device);
  if (!keeps()) return;
  const std::size_t before = derived_bytes();
  const std::size_t used = nd::memory_pool().used_bytes();
  {
    const nd::Array w = filter();
    convolved(w);
    BOOST_TEST(derived_bytes() == before);
    convolved(w);
    const std::size_t kept = derived_bytes();
    BOOST_TEST(kept >= before + w.nbytes());
    for (int i = 0; i < 10; ++i) convolved(w);
    BOOST_TEST(derived_bytes() == kept);
    w.fill(1);
    convolved(w);
    BOOST_TEST(derived_bytes() == before);
    convolved(w);
    BOOST_TEST(derived_bytes() == kept);
  }
  BOOST_TEST(derived_bytes() == before);
  BOOST_TEST(nd::memory_pool().used_bytes() == used);
}

// The memory of a filter that is gone is used for the next one, at the same address and with the same version.
BOOST_AUTO_TEST_CASE(memory_that_is_used_again) {
  const nd::DeviceScope host(nd::cpu_device);
  for (std::int64_t seed = 0; seed < 20; ++seed) {
    const nd::Array w = filter(seed), same = values({kChannels, kChannels, 3, 3}, seed);
    for (int call = 0; call < 3; ++call) BOOST_TEST(same_bits(convolved(w), convolved(same.copy())));
  }
}

// Filters side by side in one storage, and the same bytes in other shapes.
BOOST_AUTO_TEST_CASE(views_of_one_array) {
  const nd::DeviceScope host(nd::cpu_device);
  const nd::Array both = values({2 * kChannels, kChannels, 3, 3}, 9);
  const nd::Array first = both(nd::Slice(0, kChannels)), second = both(nd::Slice(kChannels, 2 * kChannels));
  const nd::Array turned = first.transpose(1, 0, 2, 3), wide = first.reshape({kChannels, kChannels, 1, 9});
  for (int call = 0; call < 3; ++call) {
    for (const nd::Array& w : {first, second, turned, wide}) BOOST_TEST(same_bits(convolved(w), expected(w)));
    if (call == 1) both(0, 0, 0, 0) = 5;
  }
}

// Forward and backward read one filter in two layouts.
BOOST_AUTO_TEST_CASE(two_layouts_of_one_filter) {
  const nd::DeviceScope host(nd::cpu_device);
  const nd::Array w = filter();
  const auto backward = [](const nd::Array& by) {
    autograd::ConvolutionSpec spec;
    spec.stride = spec.pad = {1, 1};
    return nd::Array(autograd::nn_extension(Array(image())).convolution_backward_data(by, image(), {9, 8}, spec));
  };
  for (int call = 0; call < 4; ++call) {
    BOOST_TEST(same_bits(convolved(w), expected(w)));
    BOOST_TEST(same_bits(backward(w), backward(w.copy())));
  }
}

BOOST_AUTO_TEST_CASE(several_threads_infer_with_one_filter) {
  const nd::DeviceScope host(nd::cpu_device);
  const nd::Array other = filter(2);
  for (int time = 0; time < 20; ++time) {
    const nd::Array w = filter(), y = expected(w);
    std::vector<int> wrong(4, 0);
    {
      std::vector<std::jthread> threads;
      for (int& n : wrong)
        threads.emplace_back([&] {
          for (int call = 0; call < 10; ++call) n += !same_bits(convolved(w), y);
        });
    }
    BOOST_TEST(wrong == std::vector<int>(4, 0), boost::test_tools::per_element());
  }
}

BOOST_AUTO_TEST_SUITE_END()
