// Iterators that load ahead, in threads and in processes: the batches of SerialIterator, states without what was loaded
// ahead, errors and deaths of workers, and their end.
#include <catena/training/parallel/iterators.h>

#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <memory>
#include <mutex>
#include <set>
#include <thread>

#include <catena/nn/serializers/npz.h>
#include <catena/tests/support/framework_devices.h>
#include <catena/tests/support/iterator_file.h>
#include <catena/tests/support/training_fixtures.h>
#include <catena/training/extensions/evaluator.h>

using namespace test;
using namespace training;

namespace {

const auto each = boost::test_tools::per_element();

Array on_host(const std::vector<double>& v) { return autograd::array(v, {std::int64_t(v.size())}, kCpu); }

// Examples one by one: (i, i^2). What a worker process may load, so in host memory.
struct Squares : DatasetMixin {
  std::int64_t n;
  explicit Squares(std::int64_t n_) : n(n_) {}
  std::int64_t size() const override { return n; }
  Example get_example(std::int64_t i) const override { return on_host({double(i), double(i * i)}); }
};
// The same, stacked by the dataset.
DatasetPtr stacked(std::int64_t n) {
  std::vector<double> v;
  for (std::int64_t i = 0; i < n; ++i) v.insert(v.end(), {double(i), double(i * i)});
  return std::make_shared<ArrayDataset>(autograd::array(v, {n, 2}, kCpu));
}
// Draws random numbers, as a transform of images does.
struct Noisy : Squares {
  using Squares::Squares;
  Example get_example(std::int64_t i) const override {
    const Array noise = autograd::random_uniform({3}, 0, 1, Dtype::float64, autograd::default_generator(), kCpu);
    return Example({on_host({double(i)}), noise});
  }
};

struct Options {
  bool repeat = true, shuffle = true;
  int workers = 2;
  std::int64_t n_prefetch = 1;
  std::optional<std::uint64_t> seed = {};
};
struct Kind {
  const char* name;
  std::unique_ptr<Iterator> (*make)(DatasetPtr, std::int64_t batch_size, const Options&);
};
const Kind kThreads{"threads", [](DatasetPtr d, std::int64_t batch_size, const Options& o) {
                      return std::unique_ptr<Iterator>(new MultithreadIterator(
                          d, batch_size, {o.repeat, o.shuffle, o.workers, o.n_prefetch, o.seed}));
                    }};
const Kind kProcesses{"processes", [](DatasetPtr d, std::int64_t batch_size, const Options& o) {
                        return std::unique_ptr<Iterator>(new MultiprocessIterator(
                            d, batch_size, {o.repeat, o.shuffle, o.workers, o.n_prefetch, {}, o.seed}));
                      }};
const Kind kKinds[] = {kThreads, kProcesses};

// Everything that next() gives and changes.
std::vector<double> seen(Iterator& it) {
  const std::optional<Batch> b = it.next();
  std::vector<double> all{it.epoch_detail(), double(it.epoch()), double(it.is_new_epoch()),
                          it.previous_epoch_detail().value_or(-1)};
  if (!b) return all;
  all.insert(all.end(), b->indices.begin(), b->indices.end());
  const auto add = [&](const Example& e) {
    for (const Array& a : e.values)
      for (const double x : values(a)) all.push_back(x);
  };
  if (b->stacked) add(*b->stacked);
  for (const Example& e : b->examples) add(e);
  all.push_back(double(b->size()) + (b->stacked ? 0.5 : 0));
  return all;
}

// The entries of a state, as text and bytes.
std::vector<std::string> state_of(Iterator& it) {
  nn::serializers::DictionarySerializer s;
  it.serialize(s);
  std::vector<std::string> parts;
  for (const auto& e : s.entries())
    parts.push_back(e.key + "=" + std::string(reinterpret_cast<const char*>(e.bytes.data()), e.bytes.size()));
  return parts;
}

// The objects that a loading thread frees as the last owner, and whether a process is forking at that moment.
namespace freeing {
std::atomic<bool> watched{false}, forking{false}, may_end{false};
std::atomic<int> begun{0}, freed{0}, freed_while_forking{0};
void (*destroy_of_library)(catena::Storage*) = nullptr;

// Takes long enough for a process to begin to fork, if it may.
void destroy(catena::Storage* s) {
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  if (forking) ++freed_while_forking;
  ++freed;
  s->destroy = destroy_of_library;
  s->destroy(s);
}
template <class F> bool becomes(F&& f) {
  for (int k = 0; k < 10000 && !f(); ++k) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  return f();
}
// fork() begins, and takes its time.
void prepare() {
  if (!watched) return;
  forking = true;
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
}
void ended() { forking = false; }

// Example 1 and all behind it are made when `may_end` says so.
struct Held : Squares {
  using Squares::Squares;
  Example get_example(std::int64_t i) const override {
    const Array a = on_host({double(i)});
    if (i == 0) return a;
    destroy_of_library = a->storage->destroy;
    a->storage->destroy = &destroy;
    ++begun;
    becomes([] { return may_end.load(); });
    return a;
  }
};
}  // namespace freeing

bool has_children() { return ::waitpid(-1, nullptr, WNOHANG) == 0; }

}  // namespace

BOOST_AUTO_TEST_SUITE(loading_iterators)

BOOST_AUTO_TEST_CASE(the_batches_of_a_serial_iterator) {
  for (const Kind& kind : kKinds)
    for (const bool is_stacked : {false, true})
      for (const bool repeat : {true, false})
        for (const bool shuffle : {true, false})
          for (const std::int64_t batch_size : {1, 3, 23})
            BOOST_TEST_CONTEXT(kind.name << " stacked " << is_stacked << " repeat " << repeat << " shuffle " << shuffle
                                         << " batches of " << batch_size) {
              const DatasetPtr data = is_stacked ? stacked(10) : DatasetPtr(std::make_shared<Squares>(10));
              SerialIterator serial(data, batch_size, {repeat, shuffle, 7});
              const auto it = kind.make(data, batch_size, {repeat, shuffle, 2, 2, 7});
              BOOST_TEST(it->batch_size() == batch_size);
              BOOST_TEST(!it->previous_epoch_detail());
              for (int k = 0; k < 9; ++k) BOOST_TEST(seen(*it) == seen(serial), each);
              it->reset();
              serial.reset();
              for (int k = 0; k < 4; ++k) BOOST_TEST(seen(*it) == seen(serial), each);
              if (repeat) continue;
              for (int k = 0; k < 10; ++k) it->next();
              BOOST_TEST(!it->next());
              BOOST_TEST(!it->next());
            }
}

BOOST_AUTO_TEST_CASE(maps_tuples_and_all_kinds_of_arrays) {
  struct Kinds : DatasetMixin {
    std::int64_t size() const override { return 4; }
    Example get_example(std::int64_t i) const override {
      const Array matrix = autograd::array<float>({1, 2, 3, 4, 5, 6}, {2, 3}, kCpu);
      return Example({{"number", double(i)},
                      {"transposed", autograd::transpose(matrix)},
                      {"empty", autograd::arrays::zeros({0, 3}, Dtype::float32, kCpu)},
                      {"half", autograd::astype(matrix, Dtype::float16)},
                      {"flag", i == 2}});
    }
  } data;
  MultithreadIterator threads(data, 3, {.shuffle = false});
  MultiprocessIterator processes(data, 3, {.shuffle = false, .n_processes = 2});
  for (Iterator* it : {static_cast<Iterator*>(&threads), static_cast<Iterator*>(&processes)}) {
    it->next();
    const std::optional<Batch> batch = it->next();  // 3, 0, 1
    BOOST_REQUIRE(batch->examples.size() == 3u);
    const Example& e = batch->examples[0];
    BOOST_TEST(e.names == (std::vector<std::string>{"number", "transposed", "empty", "half", "flag"}), each);
    BOOST_TEST(values(e.values[0]) == (std::vector<double>{3}), each);
    BOOST_TEST(values(e.values[1]) == (std::vector<double>{1, 4, 2, 5, 3, 6}), each);
    BOOST_TEST(e.values[1].shape() == (Shape{3, 2}));
    BOOST_TEST(e.values[2].shape() == (Shape{0, 3}));
    BOOST_TEST((e.values[3].dtype() == Dtype::float16));
    BOOST_TEST((e.values[4].dtype() == Dtype::bool_));
  }
}

BOOST_AUTO_TEST_CASE(states_exclude_what_was_loaded_ahead) {
  for (const Kind& kind : kKinds) BOOST_TEST_CONTEXT(kind.name) {
      const DatasetPtr data = std::make_shared<Squares>(7);
      const TemporaryFolder folder("loading_state");
      SerialIterator serial(data, 3, {.seed = 5});
      const auto it = kind.make(data, 3, {.n_prefetch = 4, .seed = 5});
      for (int k = 0; k < 12; ++k) {
        seen(serial);
        seen(*it);
        BOOST_TEST(state_of(*it) == state_of(serial), each);  // shuffled orders of later sweeps are not there
        nn::serializers::save_npz(folder / "it.npz", *it);
        // In an iterator that is elsewhere, in one of the other kind, and in itself after it went on.
        const auto resumed = kind.make(data, 3, {.seed = 99});
        for (int j = 0; j < k % 3; ++j) resumed->next();
        nn::serializers::load_npz(folder / "it.npz", *resumed);
        SerialIterator other(data, 3);
        nn::serializers::load_npz(folder / "it.npz", other);
        const std::vector<double> expected = seen(*it);
        nn::serializers::load_npz(folder / "it.npz", *it);
        BOOST_TEST(seen(*resumed) == expected, each);
        BOOST_TEST(seen(other) == expected, each);
        BOOST_TEST(seen(*it) == expected, each);
        seen(serial);
      }
    }
}

BOOST_AUTO_TEST_CASE(loads_that_fail_change_nothing) {
  const TemporaryFolder folder("loads_that_fail");
  const auto check_kind = [&](Iterator& other, Iterator& loaded, Iterator& same) {
    other.next();
    other.next();
    IteratorFile saved{other, false}, failing{loaded, true};
    nn::serializers::save_npz(folder / "it.npz", saved);
    loaded.next();
    same.next();
    BOOST_CHECK_THROW(nn::serializers::load_npz(folder / "it.npz", failing), catena::KeyError);
    BOOST_TEST(loaded.epoch_detail() == same.epoch_detail());
    for (int k = 0; k < 6; ++k) BOOST_TEST((loaded.next()->indices == same.next()->indices));
  };
  SerialIterator a(Squares(7), 3, {.seed = 1}), b(Squares(7), 3, {.seed = 2}), c(Squares(7), 3, {.seed = 2});
  check_kind(a, b, c);
  MultithreadIterator d(Squares(7), 3, {.seed = 1}), e(Squares(7), 3, {.seed = 2}), f(Squares(7), 3, {.seed = 2});
  check_kind(d, e, f);
  MultithreadIterator g(Noisy(7), 3, {.seed = 1}), h(Noisy(7), 3, {.seed = 2}), i(Noisy(7), 3, {.seed = 2});
  check_kind(g, h, i);
  BOOST_TEST(
      values(default_converter(*h.next(), kCpu).values[1]) == values(default_converter(*i.next(), kCpu).values[1]),
      each);
}

BOOST_AUTO_TEST_CASE(the_layout_of_an_order_that_is_none) {
  const TemporaryFolder folder("order_of_none");
  MultiprocessIterator plain(Squares(5), 2, {.shuffle = false}), shuffled(Squares(5), 2);
  MultithreadIterator threads(Squares(5), 2, {.shuffle = false});
  nn::serializers::DictionarySerializer s;
  plain.serialize(s);
  bool found = false;
  for (const auto& e : s.entries())
    if (e.key == "order") {
      found = true;
      BOOST_TEST(e.shape == Shape{});
      BOOST_TEST((e.dtype == Dtype::int64));
      BOOST_TEST(std::int64_t(*reinterpret_cast<const std::int64_t*>(e.bytes.data())) == -1);
    }
  BOOST_TEST(found);
  plain.next();
  nn::serializers::save_npz(folder / "plain.npz", plain);
  nn::serializers::load_npz(folder / "plain.npz", threads);  // ignores the order
  BOOST_TEST(threads.current_position() == 2);
  // An iterator that shuffles has no use for it.
  BOOST_CHECK_THROW(nn::serializers::load_npz(folder / "plain.npz", shuffled), catena::ValueError);
  // Files of SerialIterator have no such key.
  SerialIterator serial(Squares(5), 2, {.shuffle = false});
  nn::serializers::save_npz(folder / "serial.npz", serial);
  nn::serializers::load_npz(folder / "serial.npz", plain);
  BOOST_TEST(plain.current_position() == 0);
}

// The random numbers of an example follow from its sweep and its index, not from the worker that loads it.
BOOST_AUTO_TEST_CASE(random_numbers_of_datasets) {
  const DatasetPtr data = std::make_shared<Noisy>(6);
  const TemporaryFolder folder("noise");
  autograd::seed(3);
  const autograd::Generator before = autograd::default_generator();
  std::vector<std::vector<double>> expected;
  for (const Kind& kind : kKinds)
    for (const int workers : {1, 3}) {
      const auto it = kind.make(data, 4, {.workers = workers, .seed = 8});
      std::vector<std::vector<double>> all;
      for (int k = 0; k < 6; ++k) {
        if (k == 3) nn::serializers::save_npz(folder / "it.npz", *it);
        all.push_back(seen(*it));
      }
      if (expected.empty()) expected = all;
      BOOST_TEST_CONTEXT(kind.name << " " << workers) {
        BOOST_TEST((all == expected));
        const auto resumed = kind.make(data, 4, {.workers = 2, .seed = 1});
        nn::serializers::load_npz(folder / "it.npz", *resumed);
        for (std::size_t k = 3; k < 6; ++k) BOOST_TEST(seen(*resumed) == expected[k], each);
      }
    }
  // Every example of the run has its own.
  std::set<double> first_draws;
  MultithreadIterator it(data, 4, {.seed = 8});
  for (int k = 0; k < 6; ++k) {
    const std::optional<Batch> batch = it.next();
    for (const Example& e : batch->examples) first_draws.insert(values(e.values[1])[0]);
  }
  BOOST_TEST(first_draws.size() == 24u);
  BOOST_TEST(autograd::default_generator().seed == before.seed);
  BOOST_TEST(autograd::default_generator().offset == before.offset);
}

BOOST_AUTO_TEST_CASE(errors_name_the_example) {
  struct Own : std::runtime_error {
    using std::runtime_error::runtime_error;
  };
  struct Broken : Squares {
    std::shared_ptr<std::atomic<bool>> good = std::make_shared<std::atomic<bool>>(false);
    using Squares::Squares;
    Example get_example(std::int64_t i) const override {
      if (!*good) {
        catena::check<catena::IOError>(i != 7, "read", "no such image");
        catena::check<catena::IOError>(i != 8, "read", "no such image either");
      }
      return Squares::get_example(i);
    }
  };
  for (const Kind& kind : kKinds) BOOST_TEST_CONTEXT(kind.name) {
      auto data = std::make_shared<Broken>(12);
      const auto it = kind.make(data, 5, {.shuffle = false, .workers = 3});
      seen(*it);
      const std::vector<std::string> before = state_of(*it);
      for (int attempt = 0; attempt < 2; ++attempt) {  // of two, the first of the batch
        BOOST_TEST(message_of<catena::IOError>([&] { it->next(); }) == "example 7: read: no such image");
        BOOST_TEST(state_of(*it) == before, each);
      }
      *data->good = true;  // workers that are started now find it repaired
      BOOST_TEST(seen(*it)[4] == 5);
    }
  // A class of the standard library crosses the border of a process; of others the text does.
  struct Range : Squares {
    using Squares::Squares;
    Example get_example(std::int64_t i) const override {
      if (i == 3) throw std::out_of_range("at");
      if (i == 5) throw Own("mine");
      return Squares::get_example(i);
    }
  };
  MultiprocessIterator range(Range(4), 2, {.shuffle = false});
  range.next();
  BOOST_TEST(message_of<std::out_of_range>([&] { range.next(); }) == "example 3: at");
  struct From4 : Range {
    using Range::Range;
    Example get_example(std::int64_t i) const override {
      return i == 3 ? Squares::get_example(i) : Range::get_example(i);
    }
  };
  MultiprocessIterator mine(From4(6), 3, {.shuffle = false});
  mine.next();
  const std::string text = message_of<catena::RuntimeError>([&] { mine.next(); });
  BOOST_TEST(text.starts_with("example 5: "), text);
  BOOST_TEST(text.ends_with("Own: mine"), text);
  struct Number : Squares {
    using Squares::Squares;
    Example get_example(std::int64_t i) const override {
      if (i == 3) throw 5;
      return Squares::get_example(i);
    }
  };
  MultiprocessIterator number(Number(6), 2, {.shuffle = false});
  number.next();
  BOOST_TEST(message_of<catena::RuntimeError>([&] { number.next(); }) ==
             "example 3: an exception that is no std::exception");
  // Of a batch that the dataset stacks.
  struct Stacks : Squares {
    using Squares::Squares;
    std::optional<Example> get_batch(std::span<const std::int64_t> indices) const override {
      catena::check<catena::KeyError>(indices[0] != 2, "look", "no key");
      return Example(on_host({double(indices[0])}));
    }
  };
  for (const Kind& kind : kKinds) {
    const auto it = kind.make(std::make_shared<Stacks>(6), 2, {.shuffle = false});
    it->next();
    BOOST_TEST(message_of<catena::KeyError>([&] { it->next(); }) == "the batch of the examples 2, 3: look: no key");
  }
}

BOOST_AUTO_TEST_CASE(a_worker_that_dies) {
  struct Deadly : Squares {
    pid_t parent = ::getpid();
    std::string marker;
    int signal;
    Deadly(std::int64_t n_, std::string marker_, int signal_)
        : Squares(n_), marker(std::move(marker_)), signal(signal_) {}
    Example get_example(std::int64_t i) const override {
      if (i == 5 && ::getpid() != parent && !std::filesystem::exists(marker)) {
        write_file(marker, "here");
        if (signal != 0) ::raise(signal);
        ::_exit(3);
      }
      return Squares::get_example(i);
    }
  };
  const TemporaryFolder folder("deaths");
  for (const int signal : {SIGKILL, 0}) {
    const auto data = std::make_shared<Deadly>(8, folder / std::to_string(signal), signal);
    MultiprocessIterator it(data, 2, {.shuffle = false, .n_processes = 2});
    SerialIterator serial(data, 2, {.shuffle = false});
    for (int k = 0; k < 2; ++k) BOOST_TEST(seen(it) == seen(serial), each);
    const std::vector<std::string> before = state_of(it);
    const auto start = std::chrono::steady_clock::now();
    const std::string message = message_of<catena::RuntimeError>([&] { it.next(); });
    BOOST_TEST((std::chrono::steady_clock::now() - start < std::chrono::seconds(5)));
    BOOST_TEST(has(message, "while example 5 was loaded: MultiprocessIterator, worker "), message);
    BOOST_TEST(has(message, signal == 0 ? "has ended with exit status 3" : "was killed by signal 9"), message);
    BOOST_TEST(state_of(it) == before, each);
    BOOST_TEST(!has_children());
    for (int k = 0; k < 4; ++k) BOOST_TEST(seen(it) == seen(serial), each);  // new workers
  }
}

// Nothing else ends workers whose parent was killed.
BOOST_AUTO_TEST_CASE(workers_end_with_their_parent) {
  struct Telling : Squares {
    std::string folder;
    Telling(std::int64_t n_, std::string folder_) : Squares(n_), folder(std::move(folder_)) {}
    Example get_example(std::int64_t i) const override {
      write_file(folder + "/" + std::to_string(::getpid()), "");
      return Squares::get_example(i);
    }
  };
  const TemporaryFolder folder("orphans");
  const pid_t child = ::fork();
  BOOST_REQUIRE(child >= 0);
  if (child == 0) {
    MultiprocessIterator it(Telling(8, folder.path.string()), 2, {.n_processes = 2});
    for (int k = 0; k < 6; ++k) it.next();
    ::raise(SIGKILL);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  BOOST_REQUIRE(WIFSIGNALED(status));
  int others = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path)) {
    const pid_t pid = std::stoi(entry.path().filename().string());
    if (pid == child) continue;
    ++others;
    const auto is_gone = [&] {  // or is one that nobody has waited for
      const std::string stat = file_content("/proc/" + std::to_string(pid) + "/stat");
      return stat.empty() || has(stat, ") Z ");
    };
    for (int k = 0; k < 1000 && !is_gone(); ++k) std::this_thread::sleep_for(std::chrono::milliseconds(10));
    BOOST_TEST(is_gone());
  }
  BOOST_TEST(others >= 1);
}

BOOST_AUTO_TEST_CASE(examples_beyond_the_shared_memory) {
  struct Growing : Squares {
    using Squares::Squares;
    Example get_example(std::int64_t i) const override {
      return Example({on_host(std::vector<double>(std::size_t(i + 1), double(i))), on_host({1.0})});
    }
  };
  const auto all = [](Iterator& it) {
    std::vector<double> sums;
    for (int k = 0; k < 4; ++k) {
      const std::optional<Batch> batch = it.next();
      for (const Example& e : batch->examples)
        sums.push_back(values(e.values[0]).back() * double(e.values[0].size()) + values(e.values[1])[0]);
    }
    return sums;
  };
  std::vector<double> expected;
  for (int i = 0; i < 16; ++i) expected.push_back(i * (i + 1) + 1);
  {
    const Warnings warnings;
    MultiprocessIterator it(Growing(16), 4, {.shuffle = false, .n_processes = 2});
    BOOST_TEST(all(it) == expected, each);
    BOOST_REQUIRE(warnings.texts.size() == 1u);  // measured: 5 numbers of 8 bytes
    BOOST_TEST(has(warnings.texts[0], "the 40 bytes of shared memory"), warnings.texts[0]);
    BOOST_TEST(has(warnings.texts[0], "give shared_mem = "), warnings.texts[0]);
  }
  const Warnings warnings;
  MultiprocessIterator enough(Growing(16), 4, {.shuffle = false, .n_processes = 2, .shared_mem = 17 * 8});
  BOOST_TEST(all(enough) == expected, each);
  BOOST_TEST(warnings.texts.empty());
  MultiprocessIterator none(Growing(16), 4, {.shuffle = false, .shared_mem = 0});
  BOOST_TEST(all(none) == expected, each);
  BOOST_TEST(warnings.texts.size() == 1u);
}

BOOST_AUTO_TEST_CASE(arrays_on_a_device) {
  if (!has_cuda()) return;
  struct OnDevice : Squares {
    pid_t parent = ::getpid();
    Array there = autograd::arrays::zeros({2}, Dtype::float32, kCuda);
    using Squares::Squares;
    Example get_example(std::int64_t i) const override { return i < 2 ? Squares::get_example(i) : Example(there); }
  };
  MultiprocessIterator it(OnDevice(4), 2, {.shuffle = false, .n_processes = 1});
  it.next();
  const std::string message = message_of<catena::TypeError>([&] { it.next(); });
  BOOST_TEST(message.starts_with("example 2: "), message);
  BOOST_TEST(has(message, "cuda:0"), message);
}

BOOST_AUTO_TEST_CASE(the_end_in_every_state) {
  struct Slow : Squares {
    using Squares::Squares;
    Example get_example(std::int64_t i) const override {
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
      catena::check<catena::IOError>(i != 9, "read", "bad");
      return Squares::get_example(i);
    }
  };
  for (const Kind& kind : kKinds)
    for (int state = 0; state < 7; ++state) BOOST_TEST_CONTEXT(kind.name << " state " << state) {
        const auto data = std::make_shared<Slow>(10);
        auto it = kind.make(data, 2, {.repeat = false, .shuffle = false, .n_prefetch = 3});
        if (state >= 1) it->next();  // while the next batches are being loaded
        if (state == 2) it->finalize(), it->finalize();
        if (state == 3) it->reset();
        if (state == 4)
          for (int k = 0; k < 3; ++k) it->next();
        if (state == 5) {
          for (int k = 0; k < 3; ++k) it->next();
          BOOST_CHECK_THROW(it->next(), catena::IOError);
        }
        if (state == 6) {  // a copy has workers of its own
          const catena::Owned<Iterator> copy = it->copy();
          BOOST_TEST(seen(*copy) == seen(*it), each);
        }
        it.reset();
        BOOST_TEST(!has_children());
      }
}

// A lock that a thread of one iterator holds nearly always must be free when another iterator forks.
BOOST_AUTO_TEST_CASE(processes_beside_threads) {
  struct Locked : Noisy {
    mutable std::timed_mutex mutex;
    using Noisy::Noisy;
    Example get_example(std::int64_t i) const override {
      // By the system's clock: the thread sanitizer does not know waiting by the steady one.
      const std::unique_lock lock(mutex, std::chrono::system_clock::now() + std::chrono::seconds(3));
      catena::check<catena::RuntimeError>(lock.owns_lock(), "Locked", "the lock is never released");
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      return Noisy::get_example(i);
    }
  };
  const auto data = std::make_shared<Locked>(50);
  MultithreadIterator threads(data, 5, {.n_threads = 3, .n_prefetch = 4});
  threads.next();
  for (int k = 0; k < 6; ++k) {
    MultiprocessIterator processes(data, 2, {.n_processes = 2, .seed = 4}), again(data, 2, {.seed = 4});
    for (int j = 0; j < 3; ++j) {
      threads.next();
      BOOST_TEST(seen(processes) == seen(again), each);
    }
  }
}

// A thread that is the last owner of a batch frees its arrays, whose pool has locks: not while a process forks, for a
// lock that is held at that moment stays so in the child.
BOOST_AUTO_TEST_CASE(threads_free_nothing_while_a_process_forks) {
  using freeing::becomes, freeing::begun, freeing::freed, freeing::freed_while_forking;
  BOOST_TEST_REQUIRE(::pthread_atfork(&freeing::prepare, &freeing::ended, &freeing::ended) == 0);
  const auto threads = kThreads.make(std::make_shared<freeing::Held>(10), 1, {.shuffle = false, .workers = 1});
  BOOST_TEST(threads->next()->indices[0] == 0);
  BOOST_TEST_REQUIRE(becomes([] { return begun > 0; }));
  threads->reset();  // nobody waits for example 1 any more
  freeing::watched = true;
  std::thread forks([] {
    const auto processes = kProcesses.make(std::make_shared<Squares>(10), 2, {});
    seen(*processes);
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(100));  // fork() now waits for the example that is being made
  BOOST_TEST(freed == 0);
  freeing::may_end = true;
  forks.join();
  BOOST_TEST(becomes([] { return freed > 0; }));
  BOOST_TEST(freed_while_forking == 0);
  freeing::watched = false;
}

BOOST_AUTO_TEST_CASE(in_an_evaluator) {
  struct Mean : nn::Link {
    NN_MEMBERS()
    Variable operator()(const Variable& x) {
      nn::report("mean", autograd::mean(x.data()), this);
      return x;
    }
  } model;
  SerialIterator serial(Squares(7), 3, {.repeat = false, .shuffle = false});
  MultiprocessIterator processes(Squares(7), 3, {.repeat = false, .shuffle = false, .n_processes = 2});
  Evaluator expected(serial, model), actual(processes, model);
  for (int k = 0; k < 3; ++k) BOOST_TEST(actual().at("main/mean").value() == expected().at("main/mean").value());
}

BOOST_AUTO_TEST_CASE(what_is_refused) {
  BOOST_CHECK_THROW(MultithreadIterator(Squares(3), 0), catena::ValueError);
  BOOST_CHECK_THROW(MultithreadIterator(Squares(0), 1), catena::ValueError);
  BOOST_TEST(message_of<catena::ValueError>([] { MultithreadIterator(Squares(3), 1, {.n_threads = 0}); }) ==
             "MultithreadIterator: n_threads is 0");
  BOOST_TEST(message_of<catena::ValueError>([] { MultiprocessIterator(Squares(3), 1, {.n_processes = -1}); }) ==
             "MultiprocessIterator: n_processes is -1");
  BOOST_CHECK_THROW(MultiprocessIterator(Squares(3), 1, {.shared_mem = -1}), catena::ValueError);
}

BOOST_AUTO_TEST_SUITE_END()
