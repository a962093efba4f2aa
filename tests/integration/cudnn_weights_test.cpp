// Weight spaces of recurrent networks that are kept from call to call (cudnn_weights.h): every change of a weight is
// noticed and makes one copy, the memory goes with the weights, and a captured graph copies by itself. First the table
// with a copy of the test's own, on every device, then networks with the cuDNN of the tests.
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cmath>
#include <functional>
#include <iostream>
#include <string>
#include <utility>
#include <vector>

#include <catena/autograd/backend/backend.h>
#include <catena/autograd/capture.h>
#include <catena/autograd/ndarray_backend/cudnn/extension.h>
#include <catena/autograd/ndarray_backend/cudnn/weights.h>
#include <catena/catena.h>
#include <catena/ndarray/device/stream.h>
#include <catena/ndarray/memory/memory_pool.h>
#include <catena/tests/integration/fake_cudnn.h>
#include <catena/tests/support/cuda_device/control.h>

namespace {

using namespace autograd;
using internal::cudnn::kept_weight_bytes;
using internal::cudnn::kept_weight_spaces;
using internal::cudnn::kMostWeightBytes;
using internal::cudnn::kMostWeightSpaces;

using Values = std::vector<double>;

Array numbers(const Shape& shape, int seed, Dtype dtype = Dtype::float32) {
  Values values(static_cast<std::size_t>(catena::size_of(shape)));
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = double((i * 7 + i / 5 * 3 + std::size_t(seed)) % 11) / 8 - 0.625;
  return astype(array(values, shape), dtype);
}

// ---- the table ----------------------------------------------------------------------------------
// Two matrices and biases whose space is their elements one after the other.
struct Weights {
  std::vector<Array> ws{numbers({3, 4}, 1), numbers({3, 3}, 2)}, bs{numbers({3}, 3), numbers({3}, 4)};
  std::vector<std::int64_t> layout{1, 2, 3};
  int copies = 0;

  Array space() {
    return internal::cudnn::packed_weights(layout, ws, bs, [this] {
      ++copies;
      return joined();
    });
  }
  Array joined() const {
    std::vector<Array> parts;
    for (const auto* list : {&ws, &bs})
      for (const Array& a : *list) parts.push_back(reshape(copy(a), {a.size()}));
    return concatenate(parts, 0);
  }
  bool is_right() { return to_vector<double>(space()) == to_vector<double>(joined()); }
};

struct Change {
  const char* name;
  std::function<void(Weights&)> make;
};
const std::vector<Change>& changes() {
  static const std::vector<Change> all = {
      {"in place", [](Weights& w) { w.ws[0] += 1; }},
      {"a bias", [](Weights& w) { w.bs[1] *= 2; }},
      {"fill", [](Weights& w) { fill(w.ws[1], 0.5); }},
      {"assign", [](Weights& w) { assign(w.bs[0], numbers({3}, 8)); }},
      {"a view", [](Weights& w) { fill(slice(w.ws[0], 0, 1, 2), 4); }},
      {"nd", [](Weights& w) { nd::Array(w.ws[1])(1, 2) = 9; }},
      {"copyto",
       [](Weights& w) {
         nd::copyto(nd::Array(w.ws[0]), nd::Array(numbers({3, 4}, 5)));
       }},
      {"another array",
       [](Weights& w) {
         w.ws[1] = numbers({3, 3}, 6);
       }},
      {"another layout", [](Weights& w) { w.layout.back() += 1; }},
  };
  return all;
}

// Keeps nothing at its start and its end.
struct Empty {
  Empty() { nd::memory_pool().free_all_blocks(); }
  ~Empty() { BOOST_TEST(kept_weight_spaces() == 0u, kept_weight_spaces() << " weight spaces are left"); }
};

BOOST_FIXTURE_TEST_SUITE(cudnn_weights, Empty)

BOOST_AUTO_TEST_CASE(a_space_is_made_once_and_again_after_each_change) {
  for (const Change& c : changes()) BOOST_TEST_CONTEXT(c.name) {
      Weights w;
      for (int call = 0; call < 3; ++call) BOOST_TEST(w.is_right());
      BOOST_TEST(w.copies == 1);
      for (int time = 2; time < 4; ++time) {
        c.make(w);
        for (int call = 0; call < 3; ++call) BOOST_TEST(w.is_right());
        BOOST_TEST(w.copies == time);
      }
    }
}

// A replaced space is dropped, one of another layout stands beside it.
BOOST_AUTO_TEST_CASE(one_space_for_the_arrays_of_a_network) {
  Weights w;
  w.space();
  const std::size_t bytes = kept_weight_bytes();
  BOOST_TEST(bytes >= 27 * sizeof(float));
  w.ws[0] += 1;
  w.space();
  BOOST_TEST(kept_weight_spaces() == 1u);
  BOOST_TEST(kept_weight_bytes() == bytes);
  w.layout.push_back(4);
  w.space();
  BOOST_TEST(kept_weight_spaces() == 2u);
  w.layout.pop_back();
  w.space();
  BOOST_TEST(w.copies == 3);
  w.ws[1] = transpose(w.ws[1]);
  BOOST_TEST(w.is_right());
  BOOST_TEST(w.copies == 4);
  w.ws[1] = transpose(w.ws[1]);
  BOOST_TEST(w.is_right());
  BOOST_TEST(w.copies == 4);
}

BOOST_AUTO_TEST_CASE(the_space_goes_with_any_of_the_arrays) {
  const std::size_t used = nd::memory_pool().used_bytes();
  for (int which = 0; which < 4; ++which) {
    Weights w;
    w.space();
    BOOST_TEST(kept_weight_spaces() == 1u);
    const Array view = slice(w.bs[0], 0, 0, 1);
    Array& gone = which < 2 ? w.ws[std::size_t(which)] : w.bs[std::size_t(which - 2)];
    gone = Array();
    BOOST_TEST(kept_weight_spaces() == (which == 2 ? 1u : 0u));  // a view is left of bs[0]
  }
  BOOST_TEST(kept_weight_spaces() == 0u);
  BOOST_TEST(kept_weight_bytes() == 0u);
  BOOST_TEST(nd::memory_pool().used_bytes() == used);
}

// The memory of weights that are gone is used for the next ones, at the same addresses and with the same versions.
BOOST_AUTO_TEST_CASE(memory_that_is_used_again) {
  for (int seed = 0; seed < 20; ++seed) {
    Weights w;
    for (Array& a : w.ws) a = numbers(a.shape(), seed);
    BOOST_TEST(w.is_right());
    BOOST_TEST(w.copies == 1);
  }
}

BOOST_AUTO_TEST_CASE(free_all_blocks_and_short_memory_drop_what_is_kept) {
  Weights w;
  w.space();
  nd::memory_pool().free_all_blocks();
  BOOST_TEST(kept_weight_spaces() == 0u);
  BOOST_TEST(w.is_right());
  BOOST_TEST(w.copies == 2);
  const Device device = w.ws[0].device();
  nd::MemoryPool& pool = nd::memory_pool(device.kind);
  pool.set_limit(pool.total_bytes(device.id) + 1, device.id);
  BOOST_CHECK_THROW(arrays::empty({std::int64_t(1) << 30}, Dtype::uint8), catena::OutOfMemoryError);
  pool.set_limit(0, device.id);
  BOOST_TEST(kept_weight_spaces() == 0u);
  BOOST_TEST(w.is_right());
}

BOOST_AUTO_TEST_CASE(the_number_and_the_bytes_are_bounded) {
  std::vector<Weights> many(kMostWeightSpaces + 6);
  for (Weights& w : many) {
    w.space();
    many[0].space();
  }
  BOOST_TEST(kept_weight_spaces() == kMostWeightSpaces);
  BOOST_TEST(many[0].copies == 1);  // used in each round
  const auto is_kept = [](Weights& w) {
    const int before = w.copies;
    w.space();
    return w.copies == before;
  };
  BOOST_TEST(is_kept(many[0]));
  BOOST_TEST(is_kept(many.back()));
  BOOST_TEST(!is_kept(many[1]));  // the one used longest ago
  many.clear();
  // Memory of the host costs nothing unless it is written.
  if (default_backend().default_device().kind == Device::Kind::cuda) return;

  Weights large[3];
  const auto space = [&](int k, std::size_t bytes) {
    Weights& w = large[k];
    const int before = w.copies;
    internal::cudnn::packed_weights(w.layout, w.ws, w.bs, [&] {
      ++w.copies;
      return arrays::empty({std::int64_t(bytes)}, Dtype::uint8);
    });
    return w.copies > before;
  };
  constexpr std::size_t kMost = kMostWeightBytes / 8 * 5;
  BOOST_TEST(space(0, kMost));
  BOOST_TEST(space(1, kMostWeightBytes / 8));
  BOOST_TEST(kept_weight_spaces() == 2u);
  BOOST_TEST(space(2, kMost));
  BOOST_TEST(kept_weight_spaces() == 2u);
  BOOST_TEST(!space(1, kMost));
  BOOST_TEST(kept_weight_bytes() <= kMostWeightBytes);
  fill(large[2].bs[0], 1);
  BOOST_TEST(space(2, kMostWeightBytes + 1));
  BOOST_TEST(kept_weight_spaces() == 1u);
}

// Weights that may be written without a sign of it are copied in each call.
BOOST_AUTO_TEST_CASE(what_others_may_write_is_not_kept) {
  Weights exposed;
  exposed.space();
  nd::expose(*exposed.bs[0]->storage);
  for (int call = 2; call < 4; ++call) {
    BOOST_TEST(exposed.is_right());
    BOOST_TEST(exposed.copies == call);
  }
  BOOST_TEST(kept_weight_spaces() == 0u);

  Weights foreign;
  const Array of = foreign.bs[0];
  catena::Storage* const storage = nd::wrap_storage(of->data, 12, of.device(), {});
  foreign.bs[0] = Array(catena::make_header(storage, of->data, Dtype::float32, of.shape(), of.strides(), of.device(),
                                            &nd::array_owner()));
  catena::release(storage);
  for (int call = 1; call < 3; ++call) {
    BOOST_TEST(foreign.is_right());
    BOOST_TEST(foreign.copies == call);
  }
  // Memory that is not the pool's has no one who tells of its end.
  const nd::AllocatorScope scope(nd::raw_allocator());
  Weights raw;
  for (int call = 1; call < 3; ++call) {
    BOOST_TEST(raw.is_right());
    BOOST_TEST(raw.copies == call);
  }
}

// A space that was not kept, because making it failed, is made by the next call.
BOOST_AUTO_TEST_CASE(a_failure_keeps_nothing) {
  Weights w;
  const auto fails = [&] {
    internal::cudnn::packed_weights(w.layout, w.ws, w.bs, []() -> Array { throw catena::RuntimeError("no"); });
  };
  BOOST_CHECK_THROW(fails(), catena::RuntimeError);
  BOOST_TEST(kept_weight_spaces() == 0u);
  BOOST_TEST(w.is_right());
  BOOST_TEST(w.copies == 1);
}

// ---- networks -----------------------------------------------------------------------------------
const Device kCuda{Device::Kind::cuda, 0};

NnExtension* cudnn_on_cuda() {
  if (!nd::is_available(Device::Kind::cuda)) {
    std::cout << "skipped: there is no CUDA device on this machine\n";
    return nullptr;
  }
  fake_cudnn::stands_in();
  NnExtension* const found = default_backend().extension<NnExtension>(kCuda);
  if (found == nullptr)
    std::cout << "skipped: this program asked for cuDNN before that of the tests was in its place\n";
  return found;
}

RnnSpec spec_of(RnnMode mode, std::int64_t layers, bool both, double dropout = 0) {
  RnnSpec s;
  s.mode = mode;
  s.layers = layers;
  s.bidirectional = both;
  s.dropout = dropout;
  s.seed = 9;
  const std::int64_t masks = dropout > 0 ? (layers - 1) * (both ? 2 : 1) : 0;
  for (std::int64_t k = 1; k <= masks; ++k) s.offsets.emplace_back(Scalar(std::uint64_t(100 * k)));
  return s;
}

RnnOperands operands_of(const RnnSpec& spec, Dtype t = Dtype::float32, Dtype of_weights = Dtype::float32) {
  constexpr std::int64_t kInputs = 3, kUnits = 4;
  const std::int64_t directions = spec.bidirectional ? 2 : 1;
  const auto on_cuda = [](const Shape& shape, int seed, Dtype dtype) {
    return to_device(numbers(shape, seed, dtype), kCuda);
  };
  RnnOperands o;
  o.batches = {3, 2, 1};
  o.x = on_cuda({6, kInputs}, 1, t);
  o.hx = on_cuda({spec.layers * directions, 3, kUnits}, 2, t);
  if (spec.mode == RnnMode::lstm) o.cx = on_cuda(o.hx.shape(), 3, t);
  const int matrices = rnn_matrices(spec.mode);
  for (std::int64_t k = 0; k < spec.layers * directions; ++k)
    for (int j = 0; j < matrices; ++j) {
      const std::int64_t below = k < directions ? kInputs : kUnits * directions;
      o.ws.push_back(on_cuda({kUnits, j < matrices / 2 ? below : kUnits}, 10 + int(k) * 8 + j, of_weights));
      o.bs.push_back(on_cuda({kUnits}, 60 + int(k) * 8 + j, t));
    }
  return o;
}

void check_close(const Array& actual, const Array& expected, double tolerance, const char* what) {
  BOOST_REQUIRE_MESSAGE(actual.shape() == expected.shape(), what << ": " << actual.shape());
  const Values a = to_vector<double>(actual), e = to_vector<double>(expected);
  double worst = 0;
  for (std::size_t i = 0; i < a.size(); ++i) worst = std::max(worst, std::abs(a[i] - e[i]));
  BOOST_TEST(worst <= tolerance, what << " is off by " << worst);
}

// The matrices whose places f asks cuDNN for: all of a network for each copy into a weight space, and for reading a
// space of gradients.
template <class F> std::size_t places_of(F&& f) {
  const std::size_t before = fake_cudnn::record().places;
  f();
  return fake_cudnn::record().places - before;
}

// Everything that f does with memory of the device: kernels, copies and fills.
template <class F> std::vector<std::string> work_of(F&& f) {
  cuda_device::Control control;
  control.reset_records();
  f();
  std::vector<std::string> all;
  for (const cuda_device::Control::Launch& l : control.launches()) all.push_back(l.kernel);
  for (const char* entry : {"cuMemcpyDtoDAsync_v2", "cuMemsetD8Async"})
    all.insert(all.end(), control.calls(entry), entry);
  return all;
}

BOOST_AUTO_TEST_CASE(calls_with_the_same_weights_copy_nothing) {
  NnExtension* const nn = cudnn_on_cuda();
  if (nn == nullptr) return;
  for (const RnnMode mode : {RnnMode::lstm, RnnMode::gru, RnnMode::tanh})
    for (const bool both : {false, true})
      BOOST_TEST_CONTEXT("mode " << int(mode) << (both ? ", both directions" : "")) {
        const RnnSpec spec = spec_of(mode, 2, both);
        const RnnOperands o = operands_of(spec);
        const RnnResult expected = portable_nn_extension().rnn(o, spec);
        const RnnOutputGradients g{arrays::ones(expected.y.shape(), Dtype::float32, kCuda), {}, {}};
        const RnnGradients gradients = portable_nn_extension().rnn_backward(o, spec, expected, g);
        RnnResult r;
        RnnGradients made;
        const std::size_t first = places_of([&] { r = nn->rnn(o, spec); });
        check_close(r.y, expected.y, 1e-5, "y");
        const std::size_t again = places_of([&] { r = nn->rnn(o, spec); });
        check_close(r.y, expected.y, 1e-5, "y of the second call");
        const std::size_t backward = places_of([&] { made = nn->rnn_backward(o, spec, r, g); });
        for (std::size_t i = 0; i < o.ws.size(); ++i) {
          check_close(made.gws[i], gradients.gws[i], 1e-4, "gws");
          check_close(made.gbs[i], gradients.gbs[i], 1e-4, "gbs");
        }
        if (!fake_cudnn::stands_in()) continue;
        BOOST_TEST(first == o.ws.size());
        BOOST_TEST(again == 0u);
        BOOST_TEST(backward == o.ws.size());  // of the gradients
        BOOST_TEST(made.gws[0]->storage == made.gbs[1]->storage);
        if (!cuda_device::Control::available()) continue;
        BOOST_TEST(work_of([&] { nn->rnn(o, spec); }).empty());
        o.bs[0] += 1;
        const std::vector<std::string> work = work_of([&] { nn->rnn(o, spec); });
        BOOST_TEST(std::count_if(work.begin(), work.end(),
                                 [](const std::string& w) { return w.find("join_") != std::string::npos; }) == 1);
        BOOST_TEST(work.size() == 2u);  // and the fill of what lies between
      }
}

// Layer by layer, in both directions with an input each.
BOOST_AUTO_TEST_CASE(layers_between_dropout_have_spaces_of_their_own) {
  NnExtension* const nn = cudnn_on_cuda();
  if (nn == nullptr) return;
  for (const bool both : {false, true}) {
    const RnnSpec spec = spec_of(RnnMode::lstm, 3, both, 0.5);
    const RnnOperands o = operands_of(spec);
    const RnnResult expected = portable_nn_extension().rnn(o, spec);
    RnnResult r;
    const std::size_t first = places_of([&] { r = nn->rnn(o, spec); });
    BOOST_TEST(kept_weight_spaces() == 3u);
    const std::size_t again = places_of([&] { r = nn->rnn(o, spec); });
    check_close(r.y, expected.y, 1e-5, "y");
    const RnnOutputGradients g{arrays::ones(expected.y.shape(), Dtype::float32, kCuda), {}, {}};
    const RnnGradients made = nn->rnn_backward(o, spec, r, g),
                       gradients = portable_nn_extension().rnn_backward(o, spec, expected, g);
    check_close(made.gx, gradients.gx, 1e-4, "gx");
    for (std::size_t i = 0; i < o.ws.size(); ++i) check_close(made.gws[i], gradients.gws[i], 1e-4, "gws");
    if (!fake_cudnn::stands_in()) continue;
    BOOST_TEST(first == o.ws.size());
    BOOST_TEST(again == 0u);
    const Array last = o.ws.back();
    last += 1;
    BOOST_TEST(places_of([&] { nn->rnn(o, spec); }) == o.ws.size() / 3);
  }
}

// They are converted into the space, not before each call.
BOOST_AUTO_TEST_CASE(weights_of_another_dtype) {
  NnExtension* const nn = cudnn_on_cuda();
  if (nn == nullptr) return;
  const RnnSpec spec = spec_of(RnnMode::gru, 2, true);
  for (const auto& [t, of_weights] : {std::pair{Dtype::float16, Dtype::float16}, {Dtype::float32, Dtype::float16}}) {
    const RnnOperands o = operands_of(spec, t, of_weights);
    const RnnResult expected = portable_nn_extension().rnn(o, spec), r = nn->rnn(o, spec);
    check_close(r.y, expected.y, 4e-3, "y");
    const std::size_t again = places_of([&] { nn->rnn(o, spec); });
    const RnnOutputGradients g{arrays::ones(expected.y.shape(), t, kCuda), {}, {}};
    const RnnGradients made = nn->rnn_backward(o, spec, r, g),
                       gradients = portable_nn_extension().rnn_backward(o, spec, expected, g);
    BOOST_TEST((made.gws[0].dtype() == of_weights));
    check_close(made.gws[0], gradients.gws[0], 2e-2, "gws");
    if (fake_cudnn::stands_in()) BOOST_TEST(again == 0u);
  }
}

BOOST_AUTO_TEST_CASE(a_step_of_training_makes_one_copy) {
  if (cudnn_on_cuda() == nullptr) return;
  const nd::DeviceScope device(kCuda);
  seed(3);
  nn::NStepLSTM net(2, 3, 4, 0.0);
  net.to_gpu(0);
  const Variables xs{Variable(numbers({3, 3}, 1)), Variable(numbers({2, 3}, 2))};
  constexpr std::size_t kAll = 16;
  const auto loss = [&] { return sum(square(net({}, {}, xs).hy)); };
  const auto by_portable = [&] {
    const auto never = using_config("use_cudnn", "never");
    return to_vector<double>(loss().data())[0];
  };
  const auto evaluated = [&] {  // the matrices that an evaluation copies
    double value = 0;
    const std::size_t places = places_of([&] { value = to_vector<double>(loss().data())[0]; });
    BOOST_TEST(std::abs(value - by_portable()) < 1e-5);
    return places;
  };
  const std::size_t once = fake_cudnn::stands_in() ? kAll : 0;
  {
    training::SGD sgd(0.1);  // it has references to the arrays of its last step
    sgd.setup(net);
    for (int step = 0; step < 3; ++step) {
      const std::size_t places = places_of([&] { sgd.update(loss); });
      BOOST_TEST(places == (step == 0 ? 2 : 1) * once);  // the gradients; later steps find the space of the evaluation
      BOOST_TEST(evaluated() == once);
      BOOST_TEST(evaluated() == 0u);
    }
  }
  Variable w = net[0].param("w3");
  w.set_data(numbers(w.shape(), 7));
  BOOST_TEST(evaluated() == once);
  BOOST_TEST(evaluated() == 0u);
  w.data() *= 0.5;
  BOOST_TEST(evaluated() == once);
  BOOST_TEST(evaluated() == 0u);
  net.to_cpu();
  BOOST_TEST(kept_weight_spaces() == 0u);
  net.to_gpu(0);
  BOOST_TEST(evaluated() == once);
  BOOST_TEST(evaluated() == 0u);
  BOOST_TEST(kept_weight_spaces() == 1u);
  const nn::NStepLSTM other = net;  // with arrays of its own
  const auto scope = no_backprop_mode();
  BOOST_TEST(places_of([&] { other({}, {}, xs); }) == once);
  BOOST_TEST(evaluated() == 0u);
}

BOOST_AUTO_TEST_CASE(a_space_is_found_on_another_stream) {
  NnExtension* const nn = cudnn_on_cuda();
  if (nn == nullptr) return;
  const nd::DeviceScope device(kCuda);
  const RnnSpec spec = spec_of(RnnMode::tanh, 2, false);
  const RnnOperands o = operands_of(spec);
  const Array expected = portable_nn_extension().rnn(o, spec).y;
  nd::synchronize(kCuda);
  if (fake_cudnn::stands_in() && cuda_device::Control::available()) {
    const RnnOperands one = operands_of(spec);
    cuda_device::Control control;
    control.reset_records();
    for (int k = 0; k < 3; ++k) nn->rnn(one, spec);
    BOOST_TEST(control.calls("cuEventRecord") == 1u);
    BOOST_TEST(control.calls("cuEventQuery") == 0u);  // the default stream waits for nothing of its own
    const nd::Stream waiting({.non_blocking = true});
    const nd::StreamScope scope(waiting);
    nn->rnn(one, spec);
    BOOST_TEST(control.calls("cuEventQuery") > 0u);
    waiting.synchronize();
  }
  Array y;
  const auto call = [&](const nd::Stream& stream) {
    const nd::StreamScope scope(stream);
    y = nn->rnn(o, spec).y;
    stream.synchronize();
    check_close(y, expected, 1e-5, "y");
  };
  const nd::Stream made({.non_blocking = true}), other({.non_blocking = true});
  call(made);
  BOOST_TEST(places_of([&] { call(other); }) == 0u);
  BOOST_TEST(places_of([&] { call(made); }) == 0u);
  BOOST_TEST(places_of([&] { call(nd::Stream::null_stream(kCuda)); }) == 0u);
}

// A graph copies in each replay what the weights are then, once for both passes; replays are writes, too.
BOOST_AUTO_TEST_CASE(captured_work_reads_the_weights_of_its_replay) {
  NnExtension* const nn = cudnn_on_cuda();
  if (nn == nullptr) return;
  const nd::DeviceScope device(kCuda);
  const RnnSpec spec = spec_of(RnnMode::gru, 2, false);
  const RnnOperands o = operands_of(spec);
  const auto is_current = [&] {
    const RnnResult r = nn->rnn(o, spec);
    check_close(r.y, portable_nn_extension().rnn(o, spec).y, 1e-5, "y");
  };
  is_current();
  const Values bias = to_vector<double>(o.bs[6]);
  const Array gy = arrays::ones({6, 4}, Dtype::float32, kCuda);
  RnnResult r;
  RnnGradients g;
  std::size_t places = 0;
  CapturedWork work(
      [&] {
        places = places_of([&] {
          r = nn->rnn(o, spec);
          g = nn->rnn_backward(o, spec, r, {gy, {}, {}});
        });
        for (const Array& b : o.bs) b += 1;
      },
      kCuda);
  BOOST_TEST(kept_weight_spaces() == 1u);  // that of the call before
  if (fake_cudnn::stands_in()) {
    BOOST_TEST(places == 2 * o.ws.size());  // one copy, and the gradients
    // The space begins with a gap and the first bias of the last layer: the calls of the tests' cuDNN leave its head in
    // y and gx.
    const auto head = [](const Array& a) {
      const Values v = to_vector<double>(a);
      return Values(v.begin(), v.begin() + 8);
    };
    Values expected(4, 0.0);
    expected.insert(expected.end(), bias.begin(), bias.end());
    for (int replay = 0; replay < 3; ++replay) {
      BOOST_TEST(head(r.y) == expected, boost::test_tools::per_element());
      BOOST_TEST(head(g.gx) == expected, boost::test_tools::per_element());
      work.replay();
      for (std::size_t i = 4; i < 8; ++i) expected[i] += 1;
    }
  }
  is_current();
  BOOST_TEST(places_of(is_current) == 0u);
  work.replay();
  is_current();
  BOOST_TEST(kept_weight_spaces() == 1u);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
