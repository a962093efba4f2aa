// The profile extension of ndarray: the memory of functions, kernels, copies.
#include <boost/test/unit_test.hpp>

#include <sstream>
#include <string>

#include <catena/autograd/backend/backend.h>
#include <catena/autograd/backend/profile_extension.h>
#include <catena/catena.h>
#include <catena/tests/support/json.h>

using test::Json;

namespace {

struct Event {
  std::string category, name;
  double start, end;
};

std::vector<Event> events_of(const Json& trace, const std::string& category = "") {
  std::vector<Event> events;
  for (const Json& e : trace["traceEvents"])
    if (e["ph"] == "X" && (category.empty() || e["cat"] == category))
      events.push_back({e["cat"].get<std::string>(), e["name"].get<std::string>(), e["ts"].get<double>(),
                        e["ts"].get<double>() + e["dur"].get<double>()});
  return events;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(traces)

// exp of n float32 takes one block; blocks are rounded up. Backward takes one for its gradient.
BOOST_AUTO_TEST_CASE(memory_of_functions) {
  constexpr std::int64_t n = 1 << 22, bytes = n * 4;
  autograd::Variable x(nd::ones({n}, nd::float32));
  autograd::MemoryProfileHook memory;
  nd::memory_pool().free_all_blocks();
  {
    const autograd::HookScope scope(memory);
    autograd::Variable y = autograd::exp(x);
    autograd::Variable z = autograd::sum(y);
    z.backward();
  }
  autograd::exp(x);  // behind the scope
  const auto& history = memory.call_history();
  BOOST_REQUIRE(history.size() == 4u);
  const char* const names[] = {"exp", "Sum", "Sum", "exp"};
  std::int64_t used = 0, acquired = 0;
  for (std::size_t i = 0; i < 4; ++i) {
    BOOST_TEST(history[i].function == names[i]);
    BOOST_TEST(history[i].depth == 0);
    BOOST_TEST(history[i].acquired_bytes >= 0);
    used += history[i].used_bytes;
    acquired += history[i].acquired_bytes;
  }
  BOOST_TEST(history[0].used_bytes >= bytes);
  BOOST_TEST(history[0].used_bytes < 2 * bytes);
  BOOST_TEST(history[1].used_bytes < bytes);  // a number, and what the reduction needs meanwhile
  BOOST_TEST(history[3].used_bytes >= bytes);
  BOOST_TEST(history[0].acquired_bytes >= bytes);  // the pool was empty
  BOOST_TEST(memory.total_used_bytes() == used);
  BOOST_TEST(memory.total_acquired_bytes() == acquired);
  const auto totals = memory.summary();
  BOOST_REQUIRE(totals.size() == 2u);
  BOOST_TEST(totals[0].function == "exp");
  BOOST_TEST(totals[0].used_bytes == history[0].used_bytes + history[3].used_bytes);
  BOOST_TEST(totals[0].calls == 2);
  std::ostringstream out;
  memory.print_report(&out);
  BOOST_TEST(out.str().starts_with("FunctionName  UsedBytes  AcquiredBytes  Occurrence\n         exp  "), out.str());
  BOOST_TEST(out.str().find("MB") != std::string::npos);
}

// The second time, the pool has the blocks.
BOOST_AUTO_TEST_CASE(memory_of_the_pool) {
  autograd::Variable x(nd::ones({1 << 16}, nd::float32));
  autograd::exp(x);
  autograd::MemoryProfileHook memory;
  const autograd::HookScope scope(memory);
  autograd::exp(x);
  BOOST_TEST(memory.call_history()[0].used_bytes >= 4 << 16);
  BOOST_TEST(memory.call_history()[0].acquired_bytes == 0);
}

// Kernels and copies lie within the functions that run them; memory goes up and down.
BOOST_AUTO_TEST_CASE(a_timeline) {
  const nd::Array a = nd::ones({64, 64}, nd::float32);
  autograd::Variable x(a);
  autograd::Trace trace;
  trace.begin_range("step \"1\"");
  autograd::Variable y = autograd::sum(autograd::exp(x) * 2);
  y.backward();
  trace.end_range();
  trace.begin_range("open");
  (void)double(y.item<double>());
  const Json json = Json::parse(trace.json());
  const std::vector<Event> all = events_of(json), kernels = events_of(json, "kernel");
  const std::vector<Event> forwards = events_of(json, "forward"), backwards = events_of(json, "backward");
  BOOST_REQUIRE(forwards.size() == 3u);
  BOOST_REQUIRE(backwards.size() == 3u);
  BOOST_TEST(forwards[0].name == "exp");
  BOOST_TEST(forwards[1].name == "_ * 2");
  BOOST_TEST(forwards[2].name == "Sum");
  BOOST_TEST(backwards[0].name == "Sum.backward");
  BOOST_TEST(backwards[2].name == "exp.backward");
  BOOST_REQUIRE(events_of(json, "range").size() == 1u);  // "open" is not closed
  BOOST_TEST(events_of(json, "range")[0].name == "step \"1\"");
  const auto within = [](const Event& inner, const Event& outer) {
    return inner.start >= outer.start && inner.end <= outer.end;
  };
  int of_exp = 0;
  for (const Event& k : kernels) of_exp += k.name == "exp" && within(k, forwards[0]);
  BOOST_TEST(of_exp == 1);
  for (const Event& e : all) {
    BOOST_TEST(e.start >= 0);
    BOOST_TEST(e.end >= e.start);
  }
  for (const Event& f : forwards) BOOST_TEST(within(f, events_of(json, "range")[0]));
  double most = 0;
  for (const Json& e : json["traceEvents"])
    if (e["ph"] == "C") most = std::max(most, e["args"]["bytes"].get<double>());
  BOOST_TEST(most >= 2 * 64 * 64 * 4);
  for (const Json& e : json["traceEvents"])
    if (e["ph"] == "X" && e["cat"] == "forward" && e["name"] == "exp")
      BOOST_TEST(e["args"]["inputs"].get<std::string>() == "(64, 64)");
}

BOOST_AUTO_TEST_CASE(parts_of_a_timeline) {
  autograd::Variable x(nd::ones({64}, nd::float32));
  autograd::Trace trace({.kernels = false, .memory = false});
  trace.begin_range("range");
  autograd::exp(x);
  trace.end_range();
  const Json json = Json::parse(trace.json());
  BOOST_TEST(events_of(json).size() == 2u);
  BOOST_TEST(json["traceEvents"].size() == 2u);
}

BOOST_AUTO_TEST_CASE(copies_of_a_timeline) {
  std::vector<float> numbers(1000);
  autograd::Trace trace({.memory = false});
  const autograd::Array a = autograd::from_host(numbers.data(), {1000}, nd::float32, nd::current_device());
  const Json json = Json::parse(trace.json());
  bool found = false;
  for (const Json& e : json["traceEvents"])
    if (e["cat"] == "copy") {
      found = true;
      BOOST_TEST(e["args"]["bytes"].get<int>() == 4000);
      BOOST_TEST(e["args"]["from"].get<std::string>() == "cpu:0");
    }
  BOOST_TEST(found);
}

BOOST_AUTO_TEST_CASE(after_an_exception) {
  autograd::Variable x(nd::ones({4}, nd::float32)), y(nd::ones({3}, nd::float32));
  autograd::Trace trace;
  trace.begin_range("outer");
  BOOST_CHECK_THROW(autograd::matmul(x, y), catena::Error);
  trace.end_range();
  const Json json = Json::parse(trace.json());
  BOOST_TEST(events_of(json, "range").size() == 1u);
  BOOST_CHECK_THROW(autograd::Trace(), catena::KeyError);  // one for a thread
}

// On a GPU, the wait at the end of a kernel is the one that throws the error of a check of indices.
BOOST_AUTO_TEST_CASE(an_error_that_waiting_throws) {
  const nd::IndexCheckScope checks(true);
  const autograd::Array a = autograd::arrays::zeros({3}, nd::float32), i = autograd::array<std::int64_t>({1, 4}, {2});
  autograd::Trace trace;
  trace.begin_range("outer");
  BOOST_CHECK_THROW(autograd::take(a, i, 0), catena::IndexError);
  autograd::exp(autograd::Variable(a));
  trace.end_range();
  const Json json = Json::parse(trace.json());
  BOOST_REQUIRE(events_of(json, "range").size() == 1u);
  BOOST_TEST(events_of(json, "range")[0].end >= events_of(json, "forward")[0].end);
}

// Each of two profilers gets the work of the thread.
BOOST_AUTO_TEST_CASE(beside_another_profiler) {
  const autograd::Variable x(nd::ones({64}, nd::float32));
  autograd::MemoryProfileHook memory;
  const autograd::HookScope scope(memory);
  const autograd::Trace trace;
  autograd::exp(x);
  BOOST_TEST(memory.call_history()[0].used_bytes >= 64 * 4);
  int kernels = 0;
  for (const Event& e : events_of(Json::parse(trace.json()), "kernel")) kernels += e.name == "exp";
  BOOST_TEST(kernels == 1);
}

// The work that a sink does itself is not reported to it.
BOOST_AUTO_TEST_CASE(sinks_that_compute) {
  struct Sink : autograd::ProfileSink {
    const autograd::Array a = autograd::arrays::zeros({4}, nd::float32);
    int begins = 0, ends = 0;
    void operation_begin(std::string_view) override {
      ++begins;
      a + a;
    }
    void end() override {
      ++ends;
      a + a;
    }
  } sink;
  auto* const source = autograd::default_backend().extension<autograd::ProfileExtension>(autograd::Device());
  BOOST_REQUIRE(source != nullptr);
  {
    const auto watch = source->watch(sink);
    sink.a + sink.a;
  }
  sink.a + sink.a;
  BOOST_TEST(sink.begins == 1);
  BOOST_TEST(sink.ends == 1);
}

BOOST_AUTO_TEST_SUITE_END()
