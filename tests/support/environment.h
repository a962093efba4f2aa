// An environment variable that has another value, or none, until the end of the scope.
#pragma once

#include <cstdlib>
#include <string>

namespace test {

class Environment {
 public:
  Environment(const char* name, const char* value)
      : name_(name), had_(std::getenv(name) != nullptr), before_(had_ ? std::getenv(name) : "") {
    set(value);
  }
  Environment(const char* name, const std::string& value) : Environment(name, value.c_str()) {}
  ~Environment() { set(had_ ? before_.c_str() : nullptr); }
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;

 private:
  void set(const char* value) { value != nullptr ? setenv(name_, value, 1) : unsetenv(name_); }
  const char* name_;
  bool had_;
  std::string before_;
};

}  // namespace test
