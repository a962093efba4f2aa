// One array type to the eye: nd::Arrays, the arrays of the framework and Variables in one program, as a user of NumPy
// and Chainer would type it.
#include <boost/test/unit_test.hpp>
#include <cstdlib>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>

#include <catena/autograd/backend/backend.h>
#include <catena/catena.h>
#include <catena/tests/support/reference_backend.h>

using autograd::Variable;
using catena::ValueError;
using nd::_;
using nd::Slice;
using Values = std::vector<double>;

BOOST_AUTO_TEST_SUITE(mixed_arrays)

BOOST_AUTO_TEST_CASE(data_does_what_an_array_does) {
  const Variable v(nd::arange(6).reshape(2, 3).astype(nd::float32));
  const nd::Array a = v.data();
  // attributes and elements
  BOOST_TEST((v.data().shape<2>() == std::array<std::int64_t, 2>{2, 3}));
  BOOST_TEST(v.data().nbytes() == 24u);
  BOOST_TEST(v.data().len() == 2);
  BOOST_TEST(v.data().strides() == a.strides());
  BOOST_TEST(v.data().flags().c_contiguous);
  BOOST_TEST(v.data().shares_memory(a));
  BOOST_TEST(v.data()(1, 2).item<double>() == 5);
  BOOST_TEST(double(v.data()[1](0)) == 3);
  BOOST_TEST((v.data()(0, 1).item() + 1).to_double() == 2);
  const autograd::Array six(nd::array({6.5}));
  BOOST_TEST((double(six) == 6.5 && int(six) == 6));
  BOOST_CHECK_THROW(static_cast<void>(double(v.data())), catena::TypeError);  // has several elements
  BOOST_CHECK_THROW(static_cast<void>(double(v.data()({0, 1}))), catena::TypeError);
  BOOST_TEST(v.data().to_vector<double>() == (Values{0, 1, 2, 3, 4, 5}));
  // keys
  BOOST_TEST(v.data()(_, Slice(1, {})).to_vector<double>() == (Values{1, 2, 4, 5}));
  BOOST_TEST(v.data()(_, {0, 2}).to_vector<double>() == (Values{0, 2, 3, 5}));
  BOOST_TEST(v.data()({1}).sum().item<double>() == 12);
  BOOST_TEST(v.data()(v.data() > 3).to_vector<double>() == (Values{4, 5}));
  // members with and without braced lists
  BOOST_TEST(v.data().sum().item<double>() == 15);
  BOOST_TEST(v.data().sum(0).to_vector<double>() == (Values{3, 5, 7}));
  BOOST_TEST(v.data().mean({0, 1}).item<double>() == 2.5);
  BOOST_TEST(v.data().max({.axis = 1}).to_vector<double>() == (Values{2, 5}));
  BOOST_TEST(v.data().sum(0, {.keepdims = true}).ndim() == 2);
  BOOST_TEST((v.data().sum(1, nd::float64).dtype() == nd::float64));
  BOOST_TEST(v.data().reshape({3, 2})(2, 0).item<double>() == 4);
  BOOST_TEST(v.data().reshape(-1, 2).transpose({1, 0}).shape(0) == 2);
  BOOST_TEST(v.data().T()(2, 1).item<double>() == 5);
  BOOST_TEST((v.data().astype(nd::int32, {.copy = false}).dtype() == nd::int32));
  BOOST_TEST(v.data().take({0, 1}, 1).to_vector<double>() == (Values{0, 1, 3, 4}));
  BOOST_TEST(v.data().clip(1, 4).argmax().item<int>() == 4);
  BOOST_TEST(v.data().cumsum(1).to_vector<double>() == (Values{0, 1, 3, 3, 7, 12}));
  BOOST_TEST(v.data().argsort().to_vector<double>() == (Values{0, 1, 2, 0, 1, 2}));
  BOOST_TEST(v.data().nonzero().size() == 2u);
  BOOST_TEST(v.data().copy().shares_memory(v.data()) == false);
  Values first;
  for (const nd::Array row : v.data()) first.push_back(row(0).item<double>());
  BOOST_TEST(first == (Values{0, 3}));
  std::ostringstream text;
  text << v.data() << v.grad();
  BOOST_TEST(text.str() == "[[0. 1. 2.]\n [3. 4. 5.]]None");
}

// The words of nd::Array's public part that are followed by parentheses are all in array_members.h.
BOOST_AUTO_TEST_CASE(no_member_is_forgotten) {
  const auto text_of = [](const char* file) {
    std::ifstream in(std::string(std::getenv("CATENA_TEST_SOURCE_DIR")) + file);
    return std::string(std::istreambuf_iterator<char>(in), {});
  };
  const std::string all = text_of("/ndarray/core/array.h"), members = text_of("/kernels/base/array_members.h");
  const std::size_t from = all.find("class CATENA_EXPORT Array :"), to = all.find(" private:", from);
  BOOST_REQUIRE(to != std::string::npos);
  const std::string part = std::regex_replace(all.substr(from, to - from), std::regex("//.*"), "");
  const std::set<std::string> not_members{
      "single_output", "header", "check_element_type", "expose", "item_to", "copy_shape", "move", "size_t", "op",
      "assign_values", "clip_to_bounds", "address_of",
      // of ndarray alone: the structure of kernels given as text, and a shape that is assigned
      "cstruct", "set_shape"};
  const std::regex word("\\b([a-z_A-Z]+)\\([^;{]*\\)\\s*(const|;|&)");
  int seen = 0;
  for (std::sregex_iterator i(part.begin(), part.end(), word), end; i != end; ++i) {
    const std::string name = (*i)[1];
    if (not_members.contains(name) || name.starts_with("ND_")) continue;
    ++seen;
    BOOST_TEST(std::regex_search(members, std::regex("\\b" + name + "\\b")), name << " is not forwarded");
  }
  BOOST_TEST(seen > 40);
}

BOOST_AUTO_TEST_CASE(operators_and_functions_take_both) {
  const Variable v(nd::array({1.f, 2.f, 3.f}));
  const nd::Array a = nd::array({3.f, 2.f, 1.f});
  BOOST_TEST((a + v.data()).to_vector<double>() == (Values{4, 4, 4}));
  BOOST_TEST((v.data() - a).to_vector<double>() == (Values{-2, 0, 2}));
  BOOST_TEST((v.data() * v.data() / 2 + a).to_vector<double>() == (Values{3.5, 4, 5.5}));
  BOOST_TEST((v.data() % 2).to_vector<double>() == (Values{1, 0, 1}));
  BOOST_TEST((7 % v.data()).to_vector<double>() == (Values{0, 1, 1}));
  BOOST_TEST((v.data() == a).to_vector<double>() == (Values{0, 1, 0}));
  BOOST_TEST((a <= v.data()).to_vector<double>() == (Values{0, 1, 1}));
  BOOST_TEST(((v.data() > 1) & (v.data() < 3)).to_vector<double>() == (Values{0, 1, 0}));
  BOOST_TEST((~(v.data() > 1)).to_vector<double>() == (Values{1, 0, 0}));
  BOOST_TEST((-v.data() + +v.data()).to_vector<double>() == (Values{0, 0, 0}));
  BOOST_TEST(nd::maximum(v.data(), a).to_vector<double>() == (Values{3, 2, 3}));
  BOOST_TEST(nd::where(v.data() > 1, v.data(), a).to_vector<double>() == (Values{3, 2, 3}));
  BOOST_TEST(nd::dot(v.data(), a).item<double>() == 10);
  BOOST_TEST(nd::sum(v.data(), 0).item<double>() == 6);
  BOOST_TEST(nd::concatenate({v.data(), a}).size() == 6);
  BOOST_TEST(nd::square(v.data()).to_vector<double>() == (Values{1, 4, 9}));
  BOOST_TEST((v.data() == nd::sort(a)).all().item<bool>());
  BOOST_TEST(a(v.data().astype(nd::int64) - 1).to_vector<double>() == (Values{3, 2, 1}));
  BOOST_TEST((v * a + v.data() * a).data().sum().item<double>() == 20);
}

BOOST_AUTO_TEST_CASE(selections_are_arguments_of_networks) {
  const nd::Array x = nd::arange(12, nd::float32).reshape(4, 3), t = nd::array({0, 1, 1, 0}, nd::int32);
  const nd::Array i = nd::array({2, 0});
  nn::Classifier model(nn::Linear(3, 2));
  const Variable selected = model(x(i), t(i)), copied = model(nd::Array(x(i)), nd::Array(t(i)));
  BOOST_TEST(selected.item<float>() == copied.item<float>());
  training::SGD optimizer(0.1);
  optimizer.setup(model);
  optimizer.update(model, x(i), t(i));
  BOOST_TEST(model(x(i), t(i)).item<float>() < selected.item<float>());
  BOOST_TEST(Variable(x(x > 5)).shape() == nd::Shape{6});
}

BOOST_AUTO_TEST_CASE(assignments_go_both_ways) {
  Variable v(nd::zeros({2, 3}, nd::float32));
  nd::Array a = nd::ones({2, 3}, nd::float32);
  v.data()(0) = a(1);
  v.data()(_, {1}) += 4;
  a(1) = v.data()(0) * 2;
  BOOST_TEST(v.data().to_vector<double>() == (Values{1, 5, 1, 0, 4, 0}));
  BOOST_TEST(a.to_vector<double>() == (Values{1, 1, 1, 2, 10, 2}));
  v.data() -= 0.5 * a;
  v.data() += v.data();
  v.data() *= 2;
  BOOST_TEST(v.data().to_vector<double>() == (Values{2, 18, 2, -4, -4, -4}));
  a -= v.data();
  BOOST_TEST(a(0).to_vector<double>() == (Values{-1, -17, -1}));
  v.data().fill(7);
  v.set_data(a);
  BOOST_TEST(v.data().is_null() == false);
  BOOST_TEST((v.data().get() == a.get()));
  a = v.data() % 4;
  BOOST_TEST(a(0).to_vector<double>() == (Values{3, 3, 3}));
}

BOOST_AUTO_TEST_CASE(a_step_of_gradient_descent_by_hand) {
  nn::Linear l(3, 1);
  const nd::Array x = nd::array({{1.f, 2.f, 3.f}, {4.f, 5.f, 6.f}}), t = nd::array({{1.f}, {2.f}});
  const nd::Array before = l.W.data().copy();
  const Variable loss = nn::mean_squared_error(l(x), t);
  loss.data().item<float>();
  Variable(loss).backward();
  l.W.data() -= 0.1f * l.W.grad();
  const nd::Array error = x.dot(before.T()) + l.b->data() - t;  // d loss / d W = 2 / n error^T x
  const nd::Array expected = before - 0.1f * error.T().dot(x);
  BOOST_TEST(nd::absolute(l.W.data() - expected).max().item<double>() < 1e-5);
}

BOOST_AUTO_TEST_CASE(arrays_are_values_where_functions_are_expected_too) {
  const nd::Array values = nd::array({1.f, 2.f});
  const Variable v(values);
  nn::init_weight(v.data(), nd::Array(values * 2));
  BOOST_TEST(values.to_vector<double>() == (Values{2, 4}));
  nn::init_weight(values, v.data() + 1);
  BOOST_TEST(values.to_vector<double>() == (Values{3, 5}));
  static_assert(!std::is_convertible_v<nd::Array, catena::Function<void(const autograd::Array&)>>);
  static_assert(!std::is_convertible_v<autograd::Array, catena::Function<void(const autograd::Array&)>>);
}

BOOST_AUTO_TEST_CASE(variables_have_keys_and_members) {
  Variable x(nd::arange(6).reshape(2, 3).astype(nd::float32));
  BOOST_TEST(x[1].data().to_vector<double>() == (Values{3, 4, 5}));
  BOOST_TEST(x(0, 2).item<double>() == 2);
  BOOST_TEST(x(_, Slice(0, 2)).sum().item<double>() == 8);
  BOOST_TEST(x(nd::ellipsis, nd::newaxis).shape() == (nd::Shape{2, 3, 1}));
  BOOST_TEST(x({1, 0}).data()(0).to_vector<double>() == (Values{3, 4, 5}));
  BOOST_TEST(x(_, std::vector<int>{0, 2}).shape() == (nd::Shape{2, 2}));
  BOOST_TEST(x(nd::array({1, 1}), 0).data().to_vector<double>() == (Values{3, 3}));
  BOOST_TEST(x.sum(0).data().to_vector<double>() == (Values{3, 5, 7}));
  BOOST_TEST(x.mean({0, 1}).item<double>() == 2.5);
  BOOST_TEST(x.max(1, true).shape() == (nd::Shape{2, 1}));
  BOOST_TEST(double(x.min()) == 0);
  BOOST_TEST(x.T().shape() == (nd::Shape{3, 2}));
  BOOST_TEST((x.astype(nd::float64).dtype() == nd::float64));
  Variable y = (x[0] * x[1]).sum() + x({1, 1}).sum();
  y.backward();
  BOOST_TEST(x.grad().to_vector<double>() == (Values{3, 4, 5, 2, 3, 4}));
}

BOOST_AUTO_TEST_CASE(an_array_of_another_library_says_whose_it_is) {
  const autograd::Array foreign = test::reference_backend().empty({2}, autograd::Dtype::float32, {});
  const auto says_so = [](const ValueError& e) {
    return std::string(e.what()).find("the array was made by reference, not by ndarray") != std::string::npos;
  };
  const nd::Array a = nd::ones({2});
  BOOST_CHECK_EXCEPTION(a + foreign, ValueError, says_so);
  BOOST_CHECK_EXCEPTION(foreign.sum(), ValueError, says_so);
  BOOST_CHECK_EXCEPTION(nd::sum(foreign), ValueError, says_so);
  BOOST_CHECK_THROW(a + autograd::Array(), catena::TypeError);
  BOOST_CHECK_THROW(autograd::Array().sum(), catena::TypeError);
}

// The members of a link are made of arrays as they are: the parameter shares the array, and a step changes it.
BOOST_AUTO_TEST_CASE(parameters_of_arrays) {
  const nd::Array start = nd::array({3.0f, 4.0f});
  struct Line : nn::Link {
    nn::Parameter p;
    explicit Line(const nd::Array& values) : p{values} {}
    NN_MEMBERS(p)
  } line{start};
  BOOST_TEST((line.p.dtype() == catena::Dtype::float32));
  BOOST_TEST(line.p.shape() == catena::Shape{2});
  BOOST_TEST(line.namedparams()[0].path == "/p");
  const nd::Array factors = nd::array({10.0f, 20.0f});
  training::SGD sgd(0.5);
  sgd.setup(line);
  (Variable(line.p) * factors).sum().backward();
  BOOST_TEST(line.p.grad().to_vector<double>() == (Values{10, 20}));
  sgd.update();
  BOOST_TEST(line.p.data().to_vector<double>() == (Values{-2, -6}));
  const nn::Parameter in_braces{nd::array({1.5, 2.5})};
  BOOST_TEST(in_braces.data().to_vector<double>() == (Values{1.5, 2.5}));
}

BOOST_AUTO_TEST_SUITE_END()
