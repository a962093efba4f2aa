// Loops and branches as functions, with their derivatives; within captured work, too.
#include <catena/autograd/control_flow.h>

#include <boost/test/unit_test.hpp>
#include <cmath>

#include <catena/autograd/capture.h>
#include <catena/autograd/functions/array.h>
#include <catena/autograd/functions/math.h>
#include <catena/autograd/functions/reduction.h>
#include <catena/autograd/testing.h>
#include <catena/tests/support/framework_derivatives.h>
#include <catena/tests/support/message_of.h>

using namespace autograd;
using test::message_of;
using test::spread;

namespace {

Variable doubles(const std::vector<double>& v, const Shape& shape) { return Variable(array<double>(v, shape)); }
std::vector<double> values(const Variable& v) { return to_vector<double>(v.data()); }
#define CHECK_LIST(a, ...) BOOST_TEST(a == (__VA_ARGS__), boost::test_tools::per_element())
bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

// h' = tanh(h w + x), y = h' x
ScanResult cell(const Variables& h, const Variables& x) {
  const Variable next = tanh(h[0] * h[1] + x[0]);
  return {{next, h[1]}, {next * x[0], next + 1}};
}

// Runs f without and within captured work.
template <class F> void in_both_modes(F f) {
  f();
  CapturedWork work(f);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(control_flow)

BOOST_AUTO_TEST_CASE(scan_by_hand) {
  const auto sum = [](const Variables& c, const Variables& x) -> ScanResult { return {{c[0] + x[0]}, {c[0] * x[0]}}; };
  const Variable xs = doubles({1, 2, 3, 4}, {4});
  const ScanResult r = scan(sum, {doubles({10}, {})}, {xs});
  CHECK_LIST(values(r.carry[0]), std::vector<double>{20});
  CHECK_LIST(values(r.ys[0]), std::vector<double>{10, 22, 39, 64});
  const ScanResult back = scan(sum, {doubles({10}, {})}, {xs}, {.reverse = true});
  CHECK_LIST(values(back.carry[0]), std::vector<double>{20});
  CHECK_LIST(values(back.ys[0]), std::vector<double>{19, 34, 42, 40});
  const auto twice = [](const Variables& c, const Variables&) -> ScanResult { return {{c[0] * 2}, {}}; };
  CHECK_LIST(values(scan(twice, {doubles({3}, {1})}, {}, {.length = 5}).carry[0]), std::vector<double>{96});
  const ScanResult none = scan(sum, {doubles({10}, {})}, {doubles({}, {0})});
  CHECK_LIST(values(none.carry[0]), std::vector<double>{10});
  BOOST_TEST(none.ys.empty());
}

BOOST_AUTO_TEST_CASE(derivatives_of_scan) {
  for (const bool reverse : {false, true})
    for (const bool checkpoint : {false, true}) {
      const auto f = [&](const Variables& v) {
        const ScanResult r = scan(cell, {v[0], v[1]}, {v[2]}, {.reverse = reverse, .checkpoint = checkpoint});
        return Variables{r.carry[0], r.ys[0], r.ys[1]};
      };
      test::check_derivatives("scan", f, {spread({3}), spread({3}, -1, 1, 1), spread({4, 3}, -1, 1, 2)});
    }
}

BOOST_AUTO_TEST_CASE(errors_of_scan) {
  const Variable h = doubles({1}, {1}), x = doubles({1, 2}, {2, 1});
  const auto error = [](auto&& f) { return message_of<catena::ValueError>(f); };
  BOOST_TEST(has(error([&] { scan(cell, {h, h}, {}); }), "options.length"));
  BOOST_TEST(has(error([&] { scan(cell, {h, h}, {x, doubles({1}, {1})}); }), "1 and 2 elements"));
  BOOST_CHECK_THROW(scan(cell, {h, h}, {x}, {.length = 3}), catena::ValueError);
  BOOST_CHECK_THROW(scan(cell, {h, h}, {doubles({1}, {})}), catena::ValueError);
  for (const bool checkpoint : {false, true}) {
    const ScanOptions o{.checkpoint = checkpoint};
    const auto fewer = [](const Variables& c, const Variables&) -> ScanResult { return {{c[0]}, {}}; };
    BOOST_CHECK_THROW(scan(fewer, {h, h}, {x}, o), catena::ValueError);
    const auto wider = [](const Variables& c, const Variables&) -> ScanResult {
      return {{concat({c[0], c[0]}, 0)}, {}};
    };
    BOOST_TEST(has(error([&] { scan(wider, {h}, {x}, o); }), "the carry of a step"));
  }
}

BOOST_AUTO_TEST_CASE(one_of_two_branches) {
  int calls = 0;
  const auto square_of = [&](const Variables& v) { return ++calls, Variables{v[0] * v[0]}; };
  const auto negative = [&](const Variables& v) { return ++calls, Variables{-v[0]}; };
  for (const bool condition : {true, false}) {
    Variable x = doubles({3, -2}, {2});
    const Variable flag = doubles({condition ? 2.0 : 0.0}, {1, 1});
    for (const Predicate& p : {Predicate(condition), Predicate(flag), Predicate(flag.data())}) {
      calls = 0;
      x.cleargrad();
      const Variable y = cond(p, square_of, negative, {x})[0];
      BOOST_TEST(calls == 1);
      CHECK_LIST(values(y), condition ? std::vector<double>{9, 4} : std::vector<double>{-3, 2});
      sum(y).backward();
      CHECK_LIST(to_vector<double>(x.grad()), condition ? std::vector<double>{6, -4} : std::vector<double>{-1, -1});
    }
  }
  BOOST_CHECK_THROW(Predicate(doubles({1, 2}, {2})), catena::ValueError);
  BOOST_CHECK_THROW(Predicate{Array()}, catena::ValueError);
}

BOOST_AUTO_TEST_CASE(as_long_as_a_condition_holds) {
  Variable x = doubles({3}, {1});
  const auto small = [](const Variables& v) { return Predicate(values(v[0])[0] < 100); };
  const auto grow = [](const Variables& v) { return Variables{v[0] * v[0] + v[1], v[1] * 2}; };
  const Variables y = while_loop(small, grow, {x, doubles({1}, {1})});  // 3, 10, 102
  CHECK_LIST(values(y[0]), std::vector<double>{102});
  CHECK_LIST(values(y[1]), std::vector<double>{4});
  y[0].backward();
  CHECK_LIST(to_vector<double>(x.grad()), std::vector<double>{2 * 10 * 2 * 3});
  CHECK_LIST(values(while_loop(small, grow, {doubles({200}, {1}), x})[0]), std::vector<double>{200});
  BOOST_TEST(values(while_loop(small, grow, {x, doubles({1}, {1})}, {.max_iterations = 2})[0])[0] == 102);
  BOOST_TEST(has(message_of<catena::RuntimeError>([&] {
                   while_loop(small, grow, {x, doubles({1}, {1})}, {.max_iterations = 1});
                 }),
                 "still true after 1 steps"));
  const auto fewer = [](const Variables& v) { return Variables{v[0] * 2}; };
  BOOST_CHECK_THROW(while_loop(small, fewer, {x, x}), catena::ValueError);
}

// Within captured work the values are selected on the device.
BOOST_AUTO_TEST_CASE(in_captured_work) {
  Variable x = doubles({3}, {1}), flag = doubles({1}, {1}), y(arrays::zeros({1}, Dtype::float64)),
           g(arrays::zeros({1}, Dtype::float64));
  const auto less_than_100 = [](const Variables& v) {
    return Predicate(apply(catena::kernels::less, {v[0].data(), 100.0}));
  };
  const auto grow = [](const Variables& v) { return Variables{v[0] * v[0] + 1}; };
  const auto step = [&] {
    x.cleargrad();
    const Variable first = cond(
        flag, [](const Variables& v) { return Variables{v[0] * 2}; },
        [](const Variables& v) { return Variables{v[0] * -1}; }, {x})[0];
    const Variable last = while_loop(less_than_100, grow, {first}, {.max_iterations = 4})[0];
    last.backward();
    assign(y.data(), last.data());
    assign(g.data(), x.grad());
  };
  CapturedWork work(step);
  const auto check = [&](double value, double gradient) {
    work.replay();
    BOOST_TEST(values(y)[0] == value);
    BOOST_TEST(values(g)[0] == gradient);
  };
  check(37 * 37 + 1, 2 * 37 * 2 * 6 * 2);  // 6, 37, 1370
  assign(flag.data(), arrays::zeros({1}, Dtype::float64));
  check(101, -1 * (2 * -3) * (2 * 10));  // -3, 10, 101
  assign(x.data(), arrays::full({1}, -200.0, Dtype::float64));
  check(200, -1);
  if (x.device().kind == Device::Kind::cpu) return;
  BOOST_CHECK_THROW(CapturedWork([&] { while_loop(less_than_100, grow, {x}); }), catena::RuntimeError);
}

BOOST_AUTO_TEST_SUITE_END()
