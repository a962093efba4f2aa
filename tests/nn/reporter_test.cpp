// Reports, observations and summaries.
#include <catena/nn/reporter.h>

#include <cmath>
#include <map>
#include <thread>

#include <catena/tests/support/framework_devices.h>
#include <catena/tests/support/training_fixtures.h>

using namespace test;
using nn::Observation;
using nn::Reporter;

BOOST_AUTO_TEST_SUITE(reporters)

BOOST_AUTO_TEST_CASE(without_a_reporter_nothing_happens) {
  nn::report("loss", 1.0);
  BOOST_CHECK_THROW(nn::get_current_reporter(), catena::RuntimeError);
}

// A variable that is not there, or has no data yet, is not 0.
BOOST_AUTO_TEST_CASE(values_that_are_none) {
  Reporter r;
  Observation seen;
  const Reporter::Scope scope = r.scope(seen);
  const nn::Parameter pending;
  BOOST_TEST(has(message_of<catena::TypeError>([] { nn::report("loss", Variable()); }), "null variable"));
  BOOST_TEST(has(message_of<catena::TypeError>([&] { nn::report("loss", pending); }), "without data"));
  BOOST_CHECK_THROW(nn::report("loss", Array()), catena::TypeError);
  const Array complex = autograd::arrays::zeros({}, Dtype::complex64);
  BOOST_TEST(has(message_of<catena::TypeError>([&] { nn::report("loss", complex); }), "complex64"));
  BOOST_TEST(seen.empty());
}

BOOST_AUTO_TEST_CASE(observers_give_prefixes) {
  struct Pair : nn::Chain {
    TinyMLP left, right;
    NN_MEMBERS(left, right)
  } model;
  Reporter r;
  r.add_link("main", model);
  Observation seen;
  {
    const Reporter::Scope scope = r.scope(seen);
    nn::report("loss", 1.0, &model);
    nn::report("accuracy", 0.5, &model.left);
    nn::report("w", 2.0, &model.right.l2);
    nn::report("bare", 3.0);
    const TinyMLP stranger;
    BOOST_TEST(has(message_of<catena::KeyError>([&] { nn::report("loss", 1.0, &stranger); }), "loss"));
    nn::report("bare", 4.0);  // replaces
  }
  std::vector<std::string> keys;
  for (const auto& [key, value] : seen) keys.push_back(key);
  BOOST_TEST(keys == (std::vector<std::string>{"main/loss", "main/left/accuracy", "main/right/l2/w", "bare"}),
             boost::test_tools::per_element());
  BOOST_TEST(seen.at("bare").value() == 4);
  BOOST_TEST(has(message_of<catena::KeyError>([&] { seen.at("nothing"); }), "main/left/accuracy"));
}

BOOST_AUTO_TEST_CASE(observers_that_are_objects) {
  const TinyMLP model;
  Reporter r;
  r.add_observer("main", model);
  Observation seen;
  const Reporter::Scope scope = r.scope(seen);
  nn::report({{"loss", 2.0}, {"accuracy", 0.5}}, model);
  BOOST_TEST(seen.at("main/loss").value() == 2);
  BOOST_TEST(seen.at("main/accuracy").value() == 0.5);
}

BOOST_AUTO_TEST_CASE(values_as_numbers) {
  Observation seen;
  seen.set("loss", Variable(autograd::arrays::full({}, 0.75, Dtype::float32)));
  seen.set("accuracy", 0.5);
  BOOST_TEST(bool(seen["loss"] > 0));
  BOOST_TEST(bool(seen["loss"] == 0.75));
  BOOST_TEST(bool(seen["accuracy"] < seen["loss"]));
  BOOST_TEST(std::abs(seen["loss"] - 1) + 2 * seen["accuracy"] == 1.25);
  const double number = seen["loss"];
  BOOST_TEST(number == 0.75);
  seen.set("copied", seen["loss"]);
  BOOST_TEST(bool(seen["copied"].variable()));  // a copy is no number
}

// One call for several values, as in report({'loss': loss, 'accuracy': accuracy}, self).
BOOST_AUTO_TEST_CASE(several_values_at_once) {
  TinyMLP model;
  const autograd::Variable loss = floats({0.25f}, {});
  Reporter r;
  r.add_link("main", model);
  Observation seen;
  const Reporter::Scope scope = r.scope(seen);
  nn::report({{"loss", loss}, {"accuracy", 0.5}, {"array", floats({2}, {})}}, &model);
  nn::report({{"bare", 3}});
  nn::report(std::map<std::string, double>{{"a", 1}, {"b", 2}}, &model.l2);
  const std::vector<std::pair<const char*, autograd::Variable>> list{{"c", loss}};
  r.report(list);
  r.report({{"d", 4.0}});
  std::vector<std::string> keys;
  std::vector<double> values;
  for (const auto& [key, value] : seen) {
    keys.push_back(key);
    values.push_back(value.value());
  }
  BOOST_TEST(keys == (std::vector<std::string>{"main/loss", "main/accuracy", "main/array", "bare", "main/l2/a",
                                               "main/l2/b", "c", "d"}),
             boost::test_tools::per_element());
  BOOST_TEST(values == (std::vector<double>{0.25, 0.5, 2, 3, 1, 2, 0.25, 4}), boost::test_tools::per_element());
  const TinyMLP stranger;
  BOOST_CHECK_THROW(nn::report({{"loss", 1.0}}, &stranger), catena::KeyError);
  BOOST_TEST(seen.size() == 8u);
}

BOOST_AUTO_TEST_CASE(scopes_nest_and_survive_exceptions) {
  Reporter outer, inner;
  Observation a, b, c;
  const Reporter::Scope scope = outer.scope(a);
  nn::report("x", 1.0);
  try {
    const Reporter::Scope second = inner.scope(b);
    nn::report("x", 2.0);
    const Reporter::Scope third = nn::report_scope(c);
    nn::report("x", 3.0);
    throw 1;
  } catch (int) {}
  nn::report("y", 4.0);
  BOOST_TEST(a.at("x").value() == 1);
  BOOST_TEST(b.at("x").value() == 2);
  BOOST_TEST(c.at("x").value() == 3);
  BOOST_TEST(a.at("y").value() == 4);
  BOOST_TEST(&inner.observation() != &b);
}

BOOST_AUTO_TEST_CASE(scopes_of_maps) {
  Reporter r;
  const Variable loss(floats({2.5f}, {}));
  std::map<std::string, Variable> variables;
  std::map<std::string, Array> arrays;
  std::map<std::string, float> numbers;
  {
    const auto outer = r.scope(variables);
    nn::report({{"loss", loss}, {"lr", 0.5}});
    const auto inner = nn::report_scope(arrays);
    nn::report("loss", loss);
    const auto last = nn::report_scope(numbers);
    nn::report("loss", loss);
  }
  BOOST_TEST(variables.at("loss").is_same(loss));
  BOOST_TEST(values(variables.at("lr").data())[0] == 0.5);
  BOOST_TEST((variables.at("lr").dtype() == Dtype::float64));
  BOOST_TEST(values(arrays.at("loss"))[0] == 2.5);
  BOOST_TEST(numbers.at("loss") == 2.5f);
}

BOOST_AUTO_TEST_CASE(observations_are_made_and_changed) {
  Observation o{{"a", 1.0}};
  o["b"] = 2;
  o["a"] = Variable(floats({4}, {}));
  o["c"] = o["b"];
  BOOST_TEST(o.size() == 3u);
  BOOST_TEST(double(o["a"]) == 4);
  BOOST_TEST(o["c"].value() == 2);
  BOOST_TEST(o["c"].as<int>() == 2);
  BOOST_TEST(values(o["a"].as<Variable>().data())[0] == 4);
  const nn::Observed taken(o["a"]);
  BOOST_TEST(taken.value() == 4);
  BOOST_CHECK_THROW(o["d"].value(), catena::KeyError);
  BOOST_TEST(!o.contains("d"));
  nn::DictSummary summary;
  summary.add(std::map<std::string, double>{{"x", 1}});
  summary.add(std::map<std::string, double>{{"x", 3}});
  const Observation means = summary.compute_mean();
  BOOST_TEST(means.at("x").value() == 2);
}

BOOST_AUTO_TEST_CASE(every_thread_has_its_own_stack) {
  Reporter r;
  Observation seen;
  const Reporter::Scope scope = r.scope(seen);
  bool alone = false;
  std::thread([&] {
    try {
      nn::get_current_reporter();
    } catch (const catena::RuntimeError&) {
      alone = true;
    }
  }).join();
  BOOST_TEST(alone);
}

BOOST_AUTO_TEST_CASE(variables_stay_on_their_device_until_read) {
  Observation o;
  const Variable v(floats({2.5f}, {}));
  o.set("v", v);
  o.set("a", nn::Observed(floats({1.5f}, {1})));
  BOOST_TEST(o.at("v").variable().is_same(v));
  BOOST_TEST(o.at("v").value() == 2.5);
  BOOST_TEST(o.at("a").value() == 1.5);
}

BOOST_AUTO_TEST_CASE(summary) {
  nn::Summary s;
  BOOST_CHECK_THROW(s.compute_mean(), catena::RuntimeError);
  for (const double x : {1.0, 2.0, 4.0}) s.add(x);
  BOOST_TEST(s.compute_mean() == 7.0 / 3);
  const auto [mean, deviation] = s.make_statistics();
  BOOST_TEST(mean == 7.0 / 3);
  BOOST_TEST(std::fabs(deviation - std::sqrt(14.0 / 9)) < 1e-12);  // population
  nn::Summary weighted;
  weighted.add(1.0, 3);
  weighted.add(5.0);
  BOOST_TEST(weighted.compute_mean() == 2.0);
  BOOST_TEST(std::fabs(weighted.make_statistics().second - std::sqrt(3.0)) < 1e-12);
  BOOST_TEST(weighted.count() == 4);
  nn::Summary constant;
  for (int i = 0; i < 3; ++i) constant.add(0.1);
  BOOST_TEST(constant.make_statistics().second < 1e-8);
}

BOOST_AUTO_TEST_CASE(summary_of_arrays) {
  nn::Summary s;
  s.add(floats({1}, {}));
  s.add(floats({2}, {1, 1}), 2);
  s.add(Variable(autograd::array(std::vector<std::int32_t>{4}, {})));
  s.add(5);
  BOOST_TEST(s.count() == 5);
  BOOST_TEST(s.compute_mean() == 14.0 / 5);
  BOOST_TEST(s.sum_of_squares() == 50);
  BOOST_TEST(std::fabs(s.make_statistics().second - std::sqrt(10 - 2.8 * 2.8)) < 1e-12);
  // 2^24 + 1 is no float32.
  nn::Summary precise;
  precise.add(floats({16777216}, {}));
  precise.add(floats({1}, {}));
  BOOST_TEST(precise.sum() == 16777217);
  // Later additions count, a copy has sums of its own, and the array may change.
  const Array a = floats({3}, {});
  nn::Summary copied = s;
  copied.add(a);
  autograd::fill(a, 100);
  BOOST_TEST(copied.sum() == 17);
  BOOST_TEST(s.sum() == 14);
  copied.set(1, 2, 3);
  BOOST_TEST(copied.sum() == 1);
  BOOST_TEST(has(message_of<catena::ValueError>([&] { s.add(floats({1, 2}, {2})); }), "an array of shape (2,)"));
  BOOST_CHECK_THROW(s.add(Array()), catena::ValueError);
  BOOST_TEST(s.count() == 5);
  if (const auto other = other_device()) {
    s.add(autograd::to_device(floats({1}, {}), *other));
    s.add(floats({1}, {}));
    BOOST_TEST(s.compute_mean() == 16.0 / 7);
  }
}

BOOST_AUTO_TEST_CASE(dict_summary) {
  nn::DictSummary s;
  Observation o;
  o.set("a", 1.0);
  o.set("v", Variable(floats({3}, {})));
  o.set("vector", Variable(floats({1, 2}, {2})));  // no scalar: left out
  s.add(o);
  Observation second;
  second.set("a", 2.0);
  s.add(second);
  const auto means = s.compute_mean();
  BOOST_TEST(means.size() == 2u);
  BOOST_TEST(means[0].first == "a");
  BOOST_TEST(means[0].second == 1.5);
  BOOST_TEST(means[1].first == "v");
  BOOST_TEST(means[1].second == 3.0);  // divided by its own count
  const auto statistics = s.make_statistics();
  BOOST_TEST(statistics.size() == 4u);
  BOOST_TEST(statistics[1].first == "a.std");
  BOOST_TEST(statistics[1].second == 0.5);
}

BOOST_AUTO_TEST_CASE(dict_summary_of_lists_and_by_name) {
  nn::DictSummary s;
  s.add({{"loss", 1.0}, {"accuracy", 0.5}});
  s.add({{"loss", 4.0}}, 2);
  BOOST_TEST(s.compute_mean()["loss"] == 3.0);
  BOOST_TEST(s.compute_mean()["accuracy"] == 0.5);
  BOOST_TEST(s.make_statistics()["accuracy.std"] == 0.0);
  BOOST_TEST(s.compute_mean()[0].first == "loss");
  BOOST_TEST(has(message_of<catena::KeyError>([&] { s.compute_mean()["lost"]; }), "loss, accuracy"));
}

BOOST_AUTO_TEST_CASE(a_summary_keeps_the_value_of_the_moment) {
  nn::DictSummary s;
  const Variable v(floats({1}, {}));
  s.add("v", v);
  autograd::fill(v.data(), 100);
  s.add("v", v);
  BOOST_TEST(s.compute_mean()[0].second == 50.5);
}

BOOST_AUTO_TEST_SUITE_END()
