// The modes of links: eval() and train() of models and of single layers, scopes, threads, functions outside of links.
#include <thread>

#include <catena/autograd/forget.h>
#include <catena/autograd/functions/reduction.h>
#include <catena/nn/links.h>
#include <catena/tests/support/training_fixtures.h>

using namespace test;

namespace {

Variable ones() { return Variable(autograd::arrays::ones({64, 8})); }

// True if no element is changed, false if dropout has set some to 0.
bool is_identity(const Variable& y) { return values(y.data()) == std::vector<double>(std::size_t(y.size()), 1.0); }

// Calls dropout in each of the ways that a class may: as a listed member, as another member, and as a function.
struct Net : nn::Chain {
  nn::Dropout listed{0.5}, unlisted{0.5};
  nn::BatchNormalization norm{8};
  nn::ReLU relu;
  NN_MEMBERS(listed, norm, relu)
  Variable operator()(const Variable& x) { return relu(nn::dropout(unlisted(listed(x)), {.ratio = 0.5})); }
};

}  // namespace

BOOST_AUTO_TEST_CASE(a_sequence_evaluates_after_eval_and_trains_after_train) {
  nn::Sequential net(nn::Dropout(0.5), nn::Sequential(nn::Dropout(0.5)));
  BOOST_TEST(net.training());
  BOOST_TEST(!is_identity(net(ones())));
  BOOST_TEST(&net.eval() == &net);
  BOOST_TEST(!net.training());
  BOOST_TEST(!net[1].as_link().training());
  BOOST_TEST(is_identity(net(ones())));
  BOOST_TEST(&net.train() == &net);
  BOOST_TEST(net[1].as_link().training());
  BOOST_TEST(!is_identity(net(ones())));
  net.train(false);
  BOOST_TEST(is_identity(net(ones())));
  net.train();
}

BOOST_AUTO_TEST_CASE(functions_in_the_operator_of_a_class_follow_the_whole_model) {
  Net net;
  BOOST_TEST(!is_identity(net(ones())));
  net.eval();
  BOOST_TEST(is_identity(net(ones())));
  BOOST_TEST(!autograd::config().train);
  net.train();
  BOOST_TEST(!is_identity(net(ones())));
  BOOST_TEST(autograd::config().train);
  BOOST_TEST(net.params().size() == 2);  // of the normalization only
}

BOOST_AUTO_TEST_CASE(one_layer_evaluates_alone) {
  struct Two : nn::Chain {
    nn::BatchNormalization norm1{8}, norm2{8};
    NN_MEMBERS(norm1, norm2)
    // Both dropouts follow the model, also the one behind the layer that evaluates.
    Variable operator()(const Variable& x) {
      first = nn::dropout(norm1(x) * 0 + 1, {.ratio = 0.5});
      return nn::dropout(norm2(x) + 1, {.ratio = 0.5});
    }
    Variable first;
  } net;
  net.norm1.eval();  // before anything has named the links
  BOOST_TEST(net.training());
  BOOST_TEST(!is_identity(net(Variable(autograd::arrays::zeros({64, 8})))));
  BOOST_TEST(!is_identity(net.first));
  const Variable x(floats({1, 2, 3, 4, 5, 6, 7, 8, 2, 3, 4, 5, 6, 7, 8, 9}, {2, 8}));
  net(x);
  BOOST_TEST(values(net.norm1.avg_mean.array()) == std::vector<double>(8, 0));  // unchanged
  BOOST_TEST(values(net.norm2.avg_mean.array()) != std::vector<double>(8, 0));
}

BOOST_AUTO_TEST_CASE(a_layer_may_train_in_a_model_that_evaluates) {
  nn::Sequential net(nn::Dropout(0.5), nn::BatchNormalization(8));
  net.eval();
  nn::Link& norm = net[1].as_link();
  norm.train();
  net(ones() * 3.0f);
  BOOST_TEST(values(dynamic_cast<nn::BatchNormalization&>(norm).avg_mean.array()) != std::vector<double>(8, 0));
  net.train();
}

BOOST_AUTO_TEST_CASE(two_models_have_modes_of_their_own) {
  nn::Sequential policy(nn::BatchNormalization(8)), target(nn::BatchNormalization(8));
  target.eval();
  const Variable x(floats({1, 2, 3, 4, 5, 6, 7, 8, 2, 3, 4, 5, 6, 7, 8, 9}, {2, 8}));
  policy(x), target(x);
  const auto mean = [](nn::Sequential& s) {
    return values(dynamic_cast<nn::BatchNormalization&>(s[0].as_link()).avg_mean.array());
  };
  BOOST_TEST(mean(policy) != std::vector<double>(8, 0));
  BOOST_TEST(mean(target) == std::vector<double>(8, 0));
  policy.train();
}

// A model that evaluates, such as a teacher, leaves the functions of one that trains as they are.
BOOST_AUTO_TEST_CASE(functions_follow_the_model_whose_layers_are_called) {
  struct Model : nn::Chain {
    nn::Linear layer{8, 8};
    NN_MEMBERS(layer)
    Variable operator()(const Variable& x) {
      const Variable h = layer(x) * 0.0f + 1.0f;
      return nn::dropout(h, {.ratio = 0.5});
    }
  } student, teacher;
  teacher.eval();
  BOOST_TEST(!is_identity(student(ones())));
  for (int i = 0; i < 2; ++i) {
    BOOST_TEST(is_identity(teacher(ones())));
    BOOST_TEST(!is_identity(student(ones())));
  }
  student.train();
}

BOOST_AUTO_TEST_CASE(scopes_turn_training_off_and_leave_the_modes_of_links) {
  nn::Sequential net(nn::Dropout(0.5), nn::Sequential(nn::Dropout(0.5)));
  {
    const auto scope = autograd::train_mode(false);
    BOOST_TEST(is_identity(net(ones())));
    net.train();
    BOOST_TEST(is_identity(net(ones())));
  }
  BOOST_TEST(!is_identity(net(ones())));
  net.eval();
  for (const bool train : {true, false}) {
    const auto scope = autograd::using_config({.train = train});
    BOOST_TEST(autograd::config().train == train);
    BOOST_TEST(is_identity(net(ones())));
  }
  BOOST_TEST(!autograd::config().train);  // as eval() has left it
  {
    const autograd::train_mode scope(true);
    BOOST_TEST(!is_identity(nn::dropout(ones())));
  }
  BOOST_TEST(is_identity(nn::dropout(ones())));
  net.train();
  BOOST_TEST(!is_identity(nn::dropout(ones())));
}

BOOST_AUTO_TEST_CASE(copies_have_the_mode_and_other_threads_see_it) {
  nn::Sequential net(nn::Dropout(0.5), nn::BatchNormalization(8));
  net.eval();
  nn::Sequential copy = net, shared = nn::copy(net);
  net.train();
  BOOST_TEST(!copy.training());
  BOOST_TEST(!copy[1].as_link().training());
  BOOST_TEST(!shared.training());
  nn::Sequential dropout(nn::Dropout(0.5));
  dropout.eval();
  bool same = false;
  std::thread([&] { same = is_identity(dropout(ones())); }).join();
  BOOST_TEST(same);
  dropout.train();
}

BOOST_AUTO_TEST_CASE(call_through_the_base_class_and_recomputation_keep_the_mode) {
  Net net;
  net.eval();
  nn::Link& link = net;
  net.train();
  net.norm.train(), link.eval();
  autograd::internal::set_mode_of_functions(true);  // as on a thread that has not called eval()
  BOOST_TEST(is_identity(link.call({ones()})));
  Variable x(autograd::arrays::ones({64, 8}));
  const Variable y = autograd::forget([&](const Variable& v) { return link.call({v}) * v; }, x);
  autograd::sum(y).backward();
  BOOST_TEST(values(x.grad()) == std::vector<double>(512, 2.0));
  link.train();
}
