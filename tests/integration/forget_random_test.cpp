// forget and the generators of the array library, which belong to all threads.
#include <boost/test/unit_test.hpp>

#include <iostream>
#include <string>
#include <thread>
#include <vector>

#include <catena/autograd/random_state.h>
#include <catena/catena.h>
#include <catena/ndarray/cuda/vendor/curand_library.h>
#include <catena/ndarray/routines/curand.h>

using autograd::Variable;

namespace {

std::vector<double> draw() { return autograd::to_vector<double>(nd::random::random_sample({4})); }
std::vector<std::vector<double>> sequence(int length) {
  nd::random::seed(7);
  std::vector<std::vector<double>> result;
  for (int k = 0; k < length; ++k) result.push_back(draw());
  return result;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(forget_random)

BOOST_AUTO_TEST_CASE(what_func_draws_is_drawn_again) {
  const auto expected = sequence(3);
  nd::random::seed(7);
  Variable x(nd::ones({4}, nd::float64));
  Variable y = autograd::forget([](const Variable& v) { return v * Variable(nd::random::random_sample({4})); }, x);
  BOOST_TEST(draw() == expected[1], boost::test_tools::per_element());
  autograd::sum(y).backward();
  BOOST_TEST(autograd::to_vector<double>(x.grad()) == expected[0], boost::test_tools::per_element());
  BOOST_TEST(draw() == expected[2], boost::test_tools::per_element());
}

// func draws nothing: what another thread draws meanwhile is neither drawn again nor twice.
BOOST_AUTO_TEST_CASE(what_other_threads_draw_is_not_rewound) {
  const auto expected = sequence(3);
  nd::random::seed(7);
  std::vector<double> of_thread;
  int calls = 0;
  Variable x(nd::ones({4}, nd::float64));
  Variable y = autograd::forget(
      [&](const Variable& v) {
        if (++calls == 2) std::thread([&] { of_thread = draw(); }).join();
        return v * 2;
      },
      x);
  BOOST_TEST(draw() == expected[0], boost::test_tools::per_element());
  autograd::sum(y).backward();
  BOOST_TEST(calls == 2);
  BOOST_TEST(of_thread == expected[1], boost::test_tools::per_element());
  BOOST_TEST(draw() == expected[2], boost::test_tools::per_element());
}

// Of captured work on a GPU each replay draws other numbers, so what func draws there cannot be drawn again. Elsewhere
// a replay is another call.
BOOST_AUTO_TEST_CASE(captured_work) {
  const auto expected = sequence(2);
  nd::random::seed(7);
  Variable x(nd::ones({4}, nd::float64));
  const auto step = [&] {
    x.cleargrad();
    autograd::sum(autograd::forget([](const Variable& v) { return v * Variable(nd::random::random_sample({4})); }, x))
        .backward();
  };
  if (nd::current_device().kind == nd::Device::Kind::cuda) {
    BOOST_CHECK_THROW(autograd::CapturedWork{step}, catena::RuntimeError);  // of the library itself
    const catena::Function<Variable(const Variable&)> functions[] = {
        [](const Variable& v) {
          nd::random::get_random_state().reserve(4);  // as functions do that make numbers by kernels of their own
          return v * 2;
        },
        [](const Variable& v) { return nn::dropout(v); }};
    for (const auto& func : functions)
      BOOST_CHECK_EXCEPTION(autograd::CapturedWork([&] { autograd::forget(func, x); }), catena::RuntimeError,
                            [](const catena::RuntimeError& e) {
                              const std::string text = e.what();
                              BOOST_TEST(text.starts_with("forget: func draws random numbers inside of captured work"),
                                         text);
                              return true;
                            });
    BOOST_TEST(!autograd::is_capturing());
  } else {
    autograd::CapturedWork work(step);
    BOOST_TEST(autograd::to_vector<double>(x.grad()) == expected[0], boost::test_tools::per_element());
    work.replay();
    BOOST_TEST(autograd::to_vector<double>(x.grad()) == expected[1], boost::test_tools::per_element());
  }
  // The device works as before.
  nd::random::seed(7);
  step();
  BOOST_TEST(autograd::to_vector<double>(x.grad()) == expected[0], boost::test_tools::per_element());
}

// The place of a generator of cuRAND in its sequence cannot be set again.
BOOST_AUTO_TEST_CASE(generators_of_curand) {
  try {
    nd::cuda::curand();
  } catch (const catena::RuntimeError& e) {
    std::cout << "skipped: " << e.what() << "\n";
    return;
  }
  struct Restored {
    ~Restored() { nd::random::reset_states(); }
  } restored;
  nd::random::get_random_state() = nd::random::RandomState(3, nd::cuda::CurandMethod::philox4_32_10);
  Variable x(nd::ones({4}, nd::float64));
  int calls = 0, draws_from = 1;
  const auto func = [&](const Variable& v) {
    return ++calls >= draws_from ? v * Variable(nd::random::random_sample({4})) : v * 2;
  };
  const auto refused = [](const catena::RuntimeError& e) {
    const std::string text = e.what();
    return text.starts_with("forget: numbers were drawn from the generator of cuRAND on ") &&
           text.find("nd::random::RandomState(seed)") != text.npos;
  };
  BOOST_CHECK_EXCEPTION(autograd::forget(func, x), catena::RuntimeError, refused);
  BOOST_CHECK_EXCEPTION(autograd::forget(func, x), catena::RuntimeError, refused);  // numbers have been drawn before
  {
    const auto no_graph = autograd::no_backprop_mode();
    BOOST_TEST(bool(autograd::forget(func, x)));  // nothing is drawn again
  }

  // Nothing is drawn: the generator goes on from where it is.
  calls = 0, draws_from = 3;
  nd::random::seed(5);
  const std::vector<double> first = draw(), second = draw();
  nd::random::seed(5);
  BOOST_TEST(draw() == first, boost::test_tools::per_element());
  autograd::sum(autograd::forget(func, x)).backward();
  BOOST_TEST(calls == 2);
  BOOST_TEST(autograd::to_vector<double>(x.grad()) == std::vector<double>(4, 2), boost::test_tools::per_element());
  BOOST_TEST(draw() == second, boost::test_tools::per_element());

  const autograd::RandomState state;
  const autograd::Generator before = autograd::default_generator();
  draw();
  autograd::default_generator().offset += 8;
  BOOST_CHECK_EXCEPTION(state.restore(), catena::RuntimeError, [](const catena::RuntimeError& e) {
    return std::string(e.what()).starts_with("random numbers: numbers were drawn from the generator of cuRAND");
  });
  BOOST_TEST(autograd::default_generator().offset == before.offset + 8);
  autograd::default_generator() = before;
}

// Numbers that are drawn while earlier numbers are drawn again are drawn for good.
BOOST_AUTO_TEST_CASE(draws_within_a_replay) {
  try {
    nd::cuda::curand();
  } catch (const catena::RuntimeError& e) {
    std::cout << "skipped: " << e.what() << "\n";
    return;
  }
  nd::random::get_random_state() = nd::random::RandomState(5, nd::cuda::CurandMethod::philox4_32_10);
  const std::vector<double> first = draw(), second = draw(), third = draw();
  for (const bool fresh : {true, false}) {
    nd::random::seed(5);
    if (!fresh) BOOST_TEST(draw() == first, boost::test_tools::per_element());
    const autograd::RandomState state;
    {
      const autograd::ReplayedRandom replayed(state);
      BOOST_TEST(draw() == (fresh ? first : second), boost::test_tools::per_element());
    }
    BOOST_TEST(draw() == (fresh ? second : third), boost::test_tools::per_element());
  }
  nd::random::reset_states();
}

BOOST_AUTO_TEST_SUITE_END()
