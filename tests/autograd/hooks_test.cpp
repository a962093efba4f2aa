// Hooks of a thread and of a function, TimerHook, PrintHook.
#include <catena/autograd/hooks.h>

#include <boost/test/unit_test.hpp>
#include <chrono>
#include <sstream>
#include <thread>

#include <catena/autograd/backend/backend.h>
#include <catena/autograd/function.h>
#include <catena/autograd/functions/math.h>
#include <catena/autograd/functions/reduction.h>

using namespace autograd;

namespace {

struct Recorder : FunctionHook {
  explicit Recorder(std::string n, std::vector<std::string>& log) : own_name(std::move(n)), log(log) {}
  std::string name() const override { return own_name; }
  void forward_preprocess(const FunctionNode& f, const Arrays& in) override { note("forward ", f, in); }
  void forward_postprocess(const FunctionNode& f, const Arrays& in) override { note("forwarded ", f, in); }
  void backward_preprocess(const FunctionNode& f, const Arrays& in, const Arrays& gy) override {
    BOOST_CHECK(!gy.empty());
    note("backward ", f, in);
  }
  void backward_postprocess(const FunctionNode& f, const Arrays& in, const Arrays&) override {
    note("backwarded ", f, in);
  }
  void failed(const FunctionNode& f) noexcept override { log.push_back(own_name + " failed " + f.label()); }
  void note(const char* what, const FunctionNode& f, const Arrays& in) {
    BOOST_CHECK(!in.empty());
    log.push_back(own_name + " " + what + f.label());
  }
  std::string own_name;
  std::vector<std::string>& log;
};

using Log = std::vector<std::string>;
#define CHECK_LOG(log, ...) BOOST_TEST(log == (Log __VA_ARGS__), boost::test_tools::per_element())

struct Broken : Function {
  explicit Broken(bool in_forward) : in_forward(in_forward) {}
  Arrays forward(const Arrays& x) override {
    catena::check<catena::RuntimeError>(!in_forward, "Broken", "forward fails");
    return {x[0] * 2};
  }
  Arrays backward(const Arrays&, const Arrays&) override {
    catena::fail<catena::RuntimeError>("Broken", "backward fails");
  }
  bool in_forward;
};
// Calls another function in forward, and goes on without it if that fails.
struct Outer : Function {
  explicit Outer(bool catches) : catches(catches) {}
  Arrays forward(const Arrays& x) override {
    try {
      return {Variable(make_function<Broken>(true)(Variable(x[0]))).data()};
    } catch (const catena::RuntimeError&) {
      if (!catches) throw;
    }
    return {x[0]};
  }
  Arrays backward(const Arrays&, const Arrays& gy) override { return gy; }
  bool catches;
};
// Fails itself, in the step of this name.
struct FailingHook : FunctionHook {
  explicit FailingHook(std::string step) : step(std::move(step)) {}
  std::string name() const override { return "FailingHook"; }
  void forward_preprocess(const FunctionNode&, const Arrays&) override { run("forward_preprocess"); }
  void forward_postprocess(const FunctionNode&, const Arrays&) override { run("forward_postprocess"); }
  void run(const std::string& now) const {
    catena::check<catena::RuntimeError>(now != step, "FailingHook", now, " fails");
  }
  std::string step;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(hooks)

BOOST_AUTO_TEST_CASE(a_scope_covers_forward_and_backward) {
  Log log;
  Recorder hook("r", log);
  Variable x(arrays::ones({}));
  Variable y;
  {
    const HookScope scope(hook);
    y = tanh(x);
    BOOST_TEST(get_function_hooks().size() == 1u);
  }
  BOOST_CHECK(get_function_hooks().empty());
  y.backward();
  CHECK_LOG(log, {"r forward Tanh", "r forwarded Tanh"});
  log.clear();
  {
    const HookScope scope(hook);
    y.backward({.enable_double_backprop = false});
  }
  CHECK_LOG(log, {"r backward Tanh", "r backwarded Tanh"});  // and not the operations of the rule
}

BOOST_AUTO_TEST_CASE(names_are_unique_and_order_is_kept) {
  Log log;
  Recorder a("a", log), b("b", log), again("a", log);
  const HookScope first(a), second(b);
  BOOST_CHECK_THROW(HookScope third(again), catena::KeyError);
  const Variable y = Variable(arrays::ones({})) + 1;
  CHECK_LOG(log, {"a forward _ + 1", "b forward _ + 1", "a forwarded _ + 1", "b forwarded _ + 1"});
}

BOOST_AUTO_TEST_CASE(scopes_end_with_exceptions) {
  Log log;
  Recorder hook("r", log);
  try {
    const HookScope scope(hook);
    throw 1;
  } catch (int) {}
  BOOST_CHECK(get_function_hooks().empty());
}

BOOST_AUTO_TEST_CASE(hooks_belong_to_a_thread) {
  Log log;
  Recorder hook("r", log);
  const HookScope scope(hook);
  std::size_t other = 1;
  std::thread([&] { other = get_function_hooks().size(); }).join();
  BOOST_TEST(other == 0u);
}

BOOST_AUTO_TEST_CASE(local_hooks_follow_and_replace) {
  Log log;
  Recorder global("g", log);
  Variable x(arrays::ones({}));
  Variable y = -x;
  FunctionNode& f = *y.creator();
  f.add_hook(std::make_shared<Recorder>("l", log));
  BOOST_CHECK_THROW(f.add_hook(std::make_shared<Recorder>("l", log)), catena::KeyError);
  BOOST_CHECK_THROW(f.add_hook(nullptr), catena::TypeError);
  BOOST_CHECK_THROW(f.delete_hook("nobody"), catena::KeyError);
  {
    const HookScope scope(global);
    y.backward();
    CHECK_LOG(log, {"g backward __neg__", "l backward __neg__", "g backwarded __neg__", "l backwarded __neg__"});
    log.clear();
    f.add_hook(std::make_shared<Recorder>("replacement", log), "g");
    y.backward();
    CHECK_LOG(log, {"replacement backward __neg__", "l backward __neg__", "replacement backwarded __neg__",
                    "l backwarded __neg__"});
  }
  f.delete_hook("g");
  f.delete_hook("l");
  BOOST_CHECK(f.local_function_hooks().empty());
  log.clear();
  y.backward();
  BOOST_CHECK(log.empty());
}

BOOST_AUTO_TEST_CASE(timer) {
  TimerHook timer;
  Variable x(arrays::ones({10}));
  const auto start = std::chrono::steady_clock::now();
  {
    const HookScope scope(timer);
    sum(exp(x)).backward();
  }
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
  const auto& history = timer.call_history();
  BOOST_REQUIRE(history.size() == 4u);
  const char* const labels[] = {"exp", "Sum", "Sum", "exp"};
  double total = 0;
  for (std::size_t i = 0; i < 4; ++i) {
    BOOST_TEST(history[i].first == labels[i]);
    BOOST_TEST(history[i].second > 0);
    total += history[i].second;
  }
  BOOST_TEST(timer.total_time() == total);
  BOOST_TEST(total < elapsed.count());
}

// Sums by label, in the order of the first calls; the table is aligned to the right, as Chainer prints it.
BOOST_AUTO_TEST_CASE(summary_of_a_timer) {
  TimerHook timer;
  Variable x(arrays::ones({10}));
  {
    const HookScope scope(timer);
    sum(exp(exp(x))).backward();
  }
  double of_exp = 0, of_sum = 0;
  for (const auto& [label, seconds] : timer.call_history()) (label == "exp" ? of_exp : of_sum) += seconds;
  const std::vector<TimerHook::Total> totals = timer.summary();
  BOOST_REQUIRE(totals.size() == 2u);
  BOOST_TEST(totals[0].function == "exp");
  BOOST_TEST(totals[0].seconds == of_exp);
  BOOST_TEST(totals[0].calls == 4);
  BOOST_TEST(totals[1].function == "Sum");
  BOOST_TEST(totals[1].seconds == of_sum);
  BOOST_TEST(totals[1].calls == 2);

  std::ostringstream out;
  timer.print_report(&out);
  std::istringstream lines(out.str());
  std::string header, first, second, rest;
  std::getline(lines, header);
  std::getline(lines, first);
  std::getline(lines, second);
  BOOST_TEST(!std::getline(lines, rest));
  BOOST_TEST(header == "FunctionName  ElapsedTime  Occurrence");
  BOOST_TEST(first.starts_with("         exp  "), first);
  BOOST_TEST(first.ends_with("           4"), first);
  BOOST_TEST(second.starts_with("         Sum  "), second);
  BOOST_TEST(first.size() == header.size());
  const std::string time = first.substr(14, 11);
  BOOST_TEST((time.ends_with("ms") || time.ends_with("us") || time.ends_with("ns") || time.ends_with("sec")), time);
  out.str("");
  TimerHook().print_report(&out);
  BOOST_TEST(out.str() == "FunctionName  ElapsedTime  Occurrence\n");
}

BOOST_AUTO_TEST_CASE(an_exception_ends_what_hooks_began) {
  Log log;
  Recorder a("a", log), b("b", log);
  Variable x(arrays::ones({}));
  {
    const HookScope first(a), second(b);
    BOOST_CHECK_THROW(make_function<Broken>(true)(x), catena::RuntimeError);
    CHECK_LOG(log, {"a forward Broken", "b forward Broken", "b failed Broken", "a failed Broken"});
    log.clear();
    Variable y = make_function<Broken>(false)(x);
    CHECK_LOG(log, {"a forward Broken", "b forward Broken", "a forwarded Broken", "b forwarded Broken"});
    log.clear();
    BOOST_CHECK_THROW(y.backward(), catena::RuntimeError);
    CHECK_LOG(log, {"a backward Broken", "b backward Broken", "b failed Broken", "a failed Broken"});
  }
  const HookScope scope(a);
  log.clear();
  BOOST_CHECK_THROW(make_function<Outer>(false)(x), catena::RuntimeError);
  CHECK_LOG(log, {"a forward Outer", "a forward Broken", "a failed Broken", "a failed Outer"});
  log.clear();
  make_function<Outer>(true)(x);
  CHECK_LOG(log, {"a forward Outer", "a forward Broken", "a failed Broken", "a forwarded Outer"});
}

// The hooks that have begun and not ended hear of it, and no others.
BOOST_AUTO_TEST_CASE(exceptions_of_hooks) {
  Log log;
  Recorder before("before", log), behind("behind", log);
  const Variable x(arrays::ones({}));
  for (const std::string step : {"forward_preprocess", "forward_postprocess"}) {
    FailingHook failing(step);
    const HookScope first(before), second(failing), third(behind);
    log.clear();
    BOOST_CHECK_THROW(tanh(x), catena::RuntimeError);
    if (step == "forward_preprocess") CHECK_LOG(log, {"before forward Tanh", "before failed Tanh"});
    else CHECK_LOG(log, {"before forward Tanh", "behind forward Tanh", "before forwarded Tanh", "behind failed Tanh"});
  }
}

// The time of a function is that since its own start: none that an exception left open is taken for it.
BOOST_AUTO_TEST_CASE(timer_of_functions_that_fail) {
  TimerHook timer;
  Variable x(arrays::ones({}));
  const HookScope scope(timer);
  BOOST_CHECK_THROW(make_function<Broken>(true)(x), catena::RuntimeError);
  BOOST_TEST(timer.call_history().empty());
  Variable y = make_function<Broken>(false)(x);
  BOOST_CHECK_THROW(y.backward(), catena::RuntimeError);
  BOOST_TEST(timer.call_history().size() == 1u);
  // The outer function sleeps before it calls the one that fails.
  struct Sleeper final : Outer {
    Sleeper() : Outer(true) {}
    Arrays forward(const Arrays& in) override {
      std::this_thread::sleep_for(std::chrono::milliseconds(30));
      return Outer::forward(in);
    }
  };
  make_function<Sleeper>()(x);
  const auto& history = timer.call_history();
  BOOST_REQUIRE(history.size() == 2u);
  BOOST_TEST(history[1].first == "Sleeper");
  BOOST_TEST(history[1].second >= 0.03);
}

// The ranges themselves are tested in integration/profile_hook.
BOOST_AUTO_TEST_CASE(ranges_need_a_library_that_has_them) {
  if (default_backend().name() == "ndarray") {
    CUDAProfileHook hook;
    const HookScope scope(hook);
    Variable x(arrays::ones({}));
    tanh(x).backward();
    BOOST_TEST(hook.name() == "CUDAProfileHook");
    return;
  }
  BOOST_CHECK_EXCEPTION(CUDAProfileHook(), catena::RuntimeError, [](const auto& e) {
    return std::string(e.what()) == "CUDAProfileHook: the array library reference has no ranges for profilers (NVTX)";
  });
}

BOOST_AUTO_TEST_CASE(printing) {
  std::ostringstream out;
  PrintHook hook("", "\n", &out);
  Variable x(arrays::ones({}), {.name = "x"});
  Variable y;
  {
    const HookScope scope(hook);
    y = x + 1;
  }
  const std::string forward = out.str();
  BOOST_CHECK(forward.starts_with("function\t_ + 1\ninput data\n<variable at 0x"));
  BOOST_CHECK(forward.find("- statistics: mean=1.00000000, std=0.00000000\n- grad: None\n") != std::string::npos);
  out.str("");
  const HookScope scope(hook);
  y.backward();
  BOOST_CHECK(out.str().starts_with("function\t_ + 1\ninput data\n"));
  BOOST_CHECK(out.str().find("output gradient\n<variable at 0x") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(printing_flushes_when_asked) {
  struct Buffer : std::stringbuf {
    int flushes = 0;
    int sync() override { return ++flushes, 0; }
  };
  for (const bool flush : {true, false}) {
    Buffer buffer;
    std::ostream out(&buffer);
    PrintHook hook(", ", ";", &out, flush);
    const HookScope scope(hook);
    (void)(Variable(arrays::ones({})) + 1);
    BOOST_TEST(buffer.str().starts_with("function\t_ + 1;input data;"), buffer.str());
    BOOST_TEST((buffer.flushes > 0) == flush);
  }
}

BOOST_AUTO_TEST_SUITE_END()
