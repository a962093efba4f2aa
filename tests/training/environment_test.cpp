// Environment variables that training reads.
#include <boost/test/unit_test.hpp>

#include <cstdlib>
#include <optional>
#include <string>

#include <catena/training/dataset.h>

namespace {

// A variable of the environment, which is restored at the end.
class Environment {
 public:
  explicit Environment(const char* name) : name_(name) {
    if (const char* const value = std::getenv(name)) before_ = value;
  }
  ~Environment() { set(before_ ? before_->c_str() : nullptr); }
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;
  void set(const char* value) const {
    if (value != nullptr) ::setenv(name_, value, 1);
    else ::unsetenv(name_);
  }

 private:
  const char* name_;
  std::optional<std::string> before_;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(environment)

BOOST_AUTO_TEST_CASE(the_root_of_data_sets) {
  const Environment catena("CATENA_DATASET_ROOT"), chainer("CHAINER_DATASET_ROOT"), home("HOME");
  home.set("/of/the/user");
  catena.set(nullptr);
  chainer.set(nullptr);
  BOOST_TEST(training::get_dataset_root() == "/of/the/user/.chainer/dataset");
  chainer.set("/of/chainer");
  BOOST_TEST(training::get_dataset_root() == "/of/chainer");
  catena.set("/of/catena");
  BOOST_TEST(training::get_dataset_root() == "/of/catena");
  catena.set("");  // as if it were not set
  BOOST_TEST(training::get_dataset_root() == "/of/chainer");
  training::set_dataset_root("/of/the/program");
  BOOST_TEST(training::get_dataset_root() == "/of/the/program");
  training::set_dataset_root("");
  BOOST_TEST(training::get_dataset_root() == "/of/chainer");
}

BOOST_AUTO_TEST_SUITE_END()
