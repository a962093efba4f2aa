// The configuration of a thread and its scopes.
#include <catena/autograd/config.h>

#include <boost/test/unit_test.hpp>
#include <stdexcept>
#include <string>
#include <thread>

#include <catena/autograd/function_node.h>
#include <catena/autograd/functions/math.h>
#include <catena/tests/support/framework_devices.h>

using namespace autograd;

namespace {

template <class E, class F> std::string words_of(F&& f) {
  try {
    f();
  } catch (const E& e) {
    return e.what();
  }
  return "nothing was thrown";
}

bool builds_graph() { return identity(Variable(arrays::ones({2}), {.volatile_ = AUTO})).creator() != nullptr; }

}  // namespace

BOOST_AUTO_TEST_SUITE(config_suite)

BOOST_AUTO_TEST_CASE(defaults) {
  const Config c = config();
  BOOST_TEST((c.train && c.enable_backprop && c.type_check && !c.cudnn_deterministic));
  BOOST_TEST(c.debug == is_debug());
  BOOST_TEST((c.use_cudnn == UseCudnn::kAuto));
  BOOST_TEST(!c.max_workspace_size.has_value());
  BOOST_TEST((c.dtype == DefaultDtype(Dtype::float32) && !c.keep_graph_on_report));
}

BOOST_AUTO_TEST_CASE(dtype_and_reports) {
  BOOST_TEST((get_dtype() == Dtype::float32 && get_dtype(Dtype::float64) == Dtype::float64));
  {
    const auto outer = using_config({.dtype = Dtype::float64, .keep_graph_on_report = true});
    BOOST_TEST((config().dtype == DefaultDtype("float64") && config().keep_graph_on_report));
    BOOST_TEST((get_dtype() == Dtype::float64 && get_dtype({}, Dtype::float32) == Dtype::float64));
    {
      const auto inner = using_config({.dtype = mixed16});
      BOOST_TEST((config().dtype.is_mixed() && !(config().dtype == DefaultDtype(Dtype::float16))));
      BOOST_TEST((get_dtype() == Dtype::float16 && get_dtype({}, Dtype::float32) == Dtype::float32));
      BOOST_TEST((get_dtype(Dtype::float64, Dtype::float32) == Dtype::float64));
    }
    BOOST_TEST((config().dtype == DefaultDtype(Dtype::float64)));
    const auto by_name = using_config("dtype", "mixed16");
    const auto forget = using_config("keep_graph_on_report", false);
    BOOST_TEST((config().dtype == mixed16 && !config().keep_graph_on_report));
    const auto by_dtype = using_config("dtype", Dtype::bfloat16);
    BOOST_TEST((get_dtype() == Dtype::bfloat16));
    Dtype there{};
    std::thread([&] { there = get_dtype(); }).join();
    BOOST_TEST((there == Dtype::float32));
  }
  BOOST_TEST((get_dtype() == Dtype::float32 && !config().keep_graph_on_report));
  BOOST_TEST(words_of<catena::TypeError>([] { DefaultDtype d(Dtype::int32); }).find("int32") != std::string::npos);
  BOOST_CHECK_THROW(DefaultDtype("float15"), catena::TypeError);
  BOOST_CHECK_THROW(DefaultDtype("int64"), catena::TypeError);
  BOOST_TEST(words_of<catena::TypeError>([] { const auto scope = using_config("dtype", 16); }) ==
             "using_config: dtype takes a floating dtype or \"mixed16\", not a number");
  BOOST_CHECK_THROW(using_config("train", Dtype::float16), catena::TypeError);
}

BOOST_AUTO_TEST_CASE(a_scope_changes_what_it_names_and_restores_it) {
  {
    const auto outer = using_config({.train = false,
                                     .type_check = false,
                                     .cudnn_deterministic = true,
                                     .use_cudnn = "always",
                                     .max_workspace_size = 64 << 20});
    BOOST_TEST((!config().train && config().enable_backprop && !config().type_check && config().cudnn_deterministic));
    BOOST_TEST(!internal::modes().train.now);
    BOOST_TEST((config().use_cudnn == UseCudnn::kAlways));
    BOOST_TEST(config().max_workspace_size.value() == 64 << 20);
    {
      const auto inner = using_config({.train = true, .use_cudnn = false, .max_workspace_size = 0});
      BOOST_TEST((config().train && config().cudnn_deterministic));
      BOOST_TEST((config().use_cudnn == UseCudnn::kNever));
      BOOST_TEST(config().max_workspace_size.value() == 0);
    }
    BOOST_TEST((config().use_cudnn == UseCudnn::kAlways));
    BOOST_TEST(config().max_workspace_size.value() == 64 << 20);
  }
  BOOST_TEST((config().train && config().type_check && !config().cudnn_deterministic));
  BOOST_TEST((config().use_cudnn == UseCudnn::kAuto));
  BOOST_TEST(!config().max_workspace_size.has_value());
  // It is the state that the modes of flag.h have.
  {
    const auto scope = using_config({.enable_backprop = false, .debug = true});
    BOOST_TEST(!builds_graph());
    BOOST_TEST(is_debug());
    const auto forced = force_backprop_mode();
    BOOST_TEST(config().enable_backprop);
    BOOST_TEST(builds_graph());
  }
  BOOST_TEST(builds_graph());
  BOOST_TEST(!is_debug());
}

// A choice for the process is not seen in a scope, and is seen again behind it.
BOOST_AUTO_TEST_CASE(type_checks_of_the_process) {
  const bool before = internal::checks_types(internal::Modes());
  {
    const auto scope = using_config({.type_check = true});
    set_type_check(false);
    BOOST_TEST(config().type_check);
  }
  BOOST_TEST(!config().type_check);
  set_type_check(before);
  BOOST_TEST(config().type_check == before);
}

BOOST_AUTO_TEST_CASE(entries_by_name) {
  {
    const auto train = using_config("train", false);
    const auto backprop = using_config("enable_backprop", false);
    const auto types = using_config("type_check", false);
    const auto debug = using_config("debug", true);
    const auto fixed = using_config("cudnn_deterministic", true);
    const auto never = using_config("use_cudnn", "never");
    const auto room = using_config("max_workspace_size", 1 << 20);
    const Config c = config();
    BOOST_TEST((!c.train && !c.enable_backprop && !c.type_check && c.debug && c.cudnn_deterministic));
    BOOST_TEST((c.use_cudnn == UseCudnn::kNever));
    BOOST_TEST(c.max_workspace_size.value() == 1 << 20);
    const auto again = using_config("use_cudnn", true);
    BOOST_TEST((config().use_cudnn == UseCudnn::kAuto));
  }
  BOOST_TEST((config().train && config().enable_backprop && config().type_check && !config().debug));
  BOOST_TEST(!config().cudnn_deterministic);
}

BOOST_AUTO_TEST_CASE(entries_as_variables) {
  {
    const auto scope = using_config({.train = true});
    config.train = false;
    BOOST_TEST(!config.train);
    BOOST_TEST(!config().train);
    BOOST_TEST(!internal::trains("dropout"));
  }
  BOOST_TEST(config.train);  // the scope has put it back
  {
    const auto scope = using_config({.enable_backprop = true, .type_check = true, .debug = false});
    config.enable_backprop = false;
    config.type_check = false;
    config.debug = true;
    BOOST_TEST(!builds_graph());
    BOOST_TEST(!is_type_check_enabled());
    BOOST_TEST(is_debug());
  }
  BOOST_TEST((config.enable_backprop && config.type_check && !config.debug));
  {
    const auto scope = using_config({.cudnn_deterministic = false,
                                     .use_cudnn = "auto",
                                     .max_workspace_size = 1,
                                     .dtype = Dtype::float32,
                                     .keep_graph_on_report = false});
    config.cudnn_deterministic = true;
    config.use_cudnn = "never";
    config.max_workspace_size = 1 << 20;
    config.dtype = Dtype::float16;
    config.keep_graph_on_report = true;
    const Config c = config();
    BOOST_TEST((c.cudnn_deterministic && c.keep_graph_on_report));
    BOOST_TEST((c.use_cudnn == UseCudnn::kNever));
    BOOST_TEST(c.max_workspace_size.value() == 1 << 20);
    BOOST_TEST((get_dtype() == Dtype::float16));
    const std::optional<std::int64_t> size = config.max_workspace_size;
    BOOST_TEST(size.value() == 1 << 20);
    BOOST_CHECK_THROW(config.max_workspace_size = -1, catena::ValueError);
    BOOST_CHECK_THROW(config.use_cudnn = "sometimes", catena::ValueError);
    BOOST_TEST(config().max_workspace_size.value() == 1 << 20);
  }
  BOOST_TEST(!config().max_workspace_size.has_value());
  BOOST_TEST((get_dtype() == Dtype::float32));
  // Another thread has its own entries.
  bool there = false;
  const auto scope = using_config({.train = true});
  config.train = false;
  std::thread([&] { there = config.train; }).join();
  BOOST_TEST(there);
}

BOOST_AUTO_TEST_CASE(an_exception_leaves_the_configuration_as_it_was) {
  try {
    const auto scope = using_config({.train = false, .use_cudnn = "never"});
    throw std::runtime_error("out");
  } catch (const std::runtime_error&) {}
  BOOST_TEST(config().train);
  BOOST_TEST((config().use_cudnn == UseCudnn::kAuto));
}

BOOST_AUTO_TEST_CASE(a_thread_has_its_own) {
  const auto scope = using_config({.train = false, .cudnn_deterministic = true, .use_cudnn = "never"});
  Config there{};
  std::thread([&] { there = config(); }).join();
  BOOST_TEST((there.train && !there.cudnn_deterministic));
  BOOST_TEST((there.use_cudnn == UseCudnn::kAuto));
}

BOOST_AUTO_TEST_CASE(errors) {
  const auto by = [](const char* name, auto value) { const auto scope = using_config(name, value); };
  BOOST_TEST(words_of<catena::AttributeError>([&] { by("cudnn", true); }) ==
             "using_config: there is no entry \"cudnn\"; the entries are train, enable_backprop, type_check, debug, "
             "cudnn_deterministic, keep_graph_on_report, use_cudnn, max_workspace_size and dtype");
  BOOST_CHECK_THROW(by("workspace", 3), catena::AttributeError);
  BOOST_CHECK_THROW(by("trains", "never"), catena::AttributeError);
  BOOST_TEST(words_of<catena::TypeError>([&] { by("train", "never"); }) ==
             "using_config: train takes a bool, not a text");
  BOOST_CHECK_THROW(by("train", 1), catena::TypeError);
  BOOST_CHECK_THROW(by("use_cudnn", 1), catena::TypeError);
  BOOST_CHECK_THROW(by("max_workspace_size", true), catena::TypeError);
  BOOST_CHECK_THROW(by("max_workspace_size", "auto"), catena::TypeError);
  // The name is looked at before the text.
  BOOST_TEST(words_of<catena::TypeError>([&] { by("train", "yes"); }) ==
             "using_config: train takes a bool, not a text");
  BOOST_CHECK_THROW(by("device", "float32"), catena::AttributeError);
  BOOST_CHECK_THROW(by("device", std::string("float32")), catena::AttributeError);
  BOOST_TEST(words_of<catena::TypeError>([&] { by("max_workspace_size", 1e6); }) ==
             "using_config: max_workspace_size takes a number of bytes, not a floating-point number");
  BOOST_TEST(words_of<catena::TypeError>([&] { by("use_cudnn", 0.5); }) ==
             "using_config: use_cudnn takes \"never\", \"auto\" or \"always\", not a floating-point number");
  BOOST_CHECK_THROW(by("train", UseCudnn::kNever), catena::TypeError);
  static_assert(std::is_constructible_v<UseCudnn, bool> && !std::is_constructible_v<UseCudnn, double> &&
                !std::is_constructible_v<UseCudnn, int>);
  BOOST_TEST(words_of<catena::ValueError>([&] { by("use_cudnn", "nope"); }) ==
             "use_cudnn: \"nope\" is not one of never, auto, always");
  BOOST_TEST(words_of<catena::ValueError>([&] {
               const auto scope = using_config({.train = false, .max_workspace_size = -1});
             }) == "using_config: max_workspace_size is -1 bytes; it must not be negative");
  BOOST_TEST(config().train);
}

BOOST_AUTO_TEST_SUITE_END()
