// --source: a file of tests runs by itself, although its program has others (support/main.cpp).
#include <catena/tests/support/run_self.h>

BOOST_AUTO_TEST_SUITE(run_one_file)

BOOST_AUTO_TEST_CASE(runs_its_cases_and_no_others) {
  const test::Run list = test::run_self("--source=kernels/run_one_file_test.cpp --list_content");
  BOOST_TEST(list.status == 0, list.output);
  BOOST_TEST(list.says("run_one_file*\n"), list.output);
  BOOST_TEST(list.says("runs_its_cases_and_no_others*\n"), list.output);
  // All others of the program, which are many.
  const test::Run all = test::run_self("--list_content");
  BOOST_TEST(all.status == 0, all.output);
  BOOST_TEST(all.says("runs_its_cases_and_no_others*\n"));
  BOOST_TEST(all.output.size() > 10 * list.output.size());
  const test::Run one = test::run_self("--source=kernels/run_one_file_test.cpp --run_test='*/of_a_child'");
  BOOST_TEST(one.status == 0, one.output);
  BOOST_TEST(one.says("Running 1 test case"), one.output);
}

BOOST_AUTO_TEST_CASE(of_a_child) { BOOST_TEST(true); }

BOOST_AUTO_TEST_CASE(a_file_without_cases_is_an_error) {
  for (const char* source : {"kernels/no_such_test.cpp", "run_one_file_test.cpp", "kernels/main.cpp"}) {
    // The selection keeps a program that ignores --source from running itself without end.
    const test::Run run = test::run_self(std::string("--run_test=run_one_file/of_a_child --source=") + source);
    BOOST_TEST(run.status != 0, run.output);
    BOOST_TEST(run.says(std::string("this program has no case of ") + source), run.output);
  }
}

BOOST_AUTO_TEST_SUITE_END()
