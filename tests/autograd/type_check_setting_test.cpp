// Whether types are checked: the setting of the process, the environment variable, scopes of a thread.
#include <boost/test/unit_test.hpp>
#include <cstdlib>
#include <string>
#include <thread>

#include <catena/autograd/flag.h>
#include <catena/autograd/function.h>
#include <catena/tests/support/run_self.h>

using namespace autograd;

namespace {

struct OneInput final : Function {
  void check_type_forward(const type_check::TypeInfoTuple& in_types) const override {
    type_check::expect(in_types.size() == 1);
  }
  Arrays forward(const Arrays& x) override { return {x[0]}; }
};

bool is_checked() {
  const Variable x(arrays::ones({2}));
  try {
    make_function<OneInput>()(x, x);
    return false;
  } catch (const catena::InvalidType&) {
    return true;
  }
}

// Restores the setting of the process.
struct Restored {
  bool before = Function::type_check_enable;
  ~Restored() { set_type_check(before); }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(type_check_setting)

BOOST_AUTO_TEST_CASE(of_the_process) {
  const Restored restored;
  for (const bool on : {false, true}) {
    Function::type_check_enable = on;
    BOOST_TEST(Function::type_check_enable == on);
    BOOST_TEST(is_type_check_enabled() == on);
    BOOST_TEST(is_checked() == on);
    bool elsewhere = !on;
    std::thread([&] { elsewhere = is_checked(); }).join();
    BOOST_TEST(elsewhere == on);
    set_type_check(!on);
    BOOST_TEST(is_checked() == !on);
  }
}

BOOST_AUTO_TEST_CASE(a_scope_goes_before_it) {
  const Restored restored;
  set_type_check(true);
  {
    const auto off = type_check_mode(false);
    BOOST_TEST(!is_checked());
    set_type_check(false);
    {
      const auto on = type_check_mode(true);
      BOOST_TEST(is_checked());
    }
    BOOST_TEST(!is_checked());
    bool elsewhere = false;
    std::thread([&] {
      const auto on = type_check_mode(true);
      elsewhere = is_checked();
    }).join();
    BOOST_TEST(elsewhere);
    set_type_check(true);
    BOOST_TEST(!is_checked());
  }
  BOOST_TEST(is_checked());
  set_type_check(false);  // the thread follows the process again
  BOOST_TEST(!is_checked());
  try {
    const auto on = type_check_mode(true);
    throw 1;
  } catch (int) {}
  BOOST_TEST(!is_checked());
}

// Run by itself and in the children of the next case.
BOOST_AUTO_TEST_CASE(as_the_environment_says) {
  const char* const text = std::getenv("CHAINER_TYPE_CHECK");
  const bool on = text == nullptr || std::string(text) != "0";
  BOOST_TEST(Function::type_check_enable == on);
  BOOST_TEST(is_checked() == on);
}

BOOST_AUTO_TEST_CASE(environment) {
  for (const char* setting : {"CHAINER_TYPE_CHECK=0", "CHAINER_TYPE_CHECK=1", "CHAINER_TYPE_CHECK="}) {
    const test::Run child = test::run_self("--run_test=type_check_setting/as_the_environment_says", setting);
    BOOST_TEST(child.status == 0, child.output);
    BOOST_TEST(child.says("Running 1 test case"), child.output);
  }
}

BOOST_AUTO_TEST_SUITE_END()
