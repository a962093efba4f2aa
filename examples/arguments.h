// Command lines of the example programs.
#pragma once

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <system_error>
#include <type_traits>
#include <vector>

#include <catena/ndarray/ndarray.h>

// The options of a command line, read one by one, as with Python's argparse:
//
//   Arguments args(argc, argv, "Catena example: MNIST");
//   const int epoch = args.option("-e,--epoch", 20, "sweeps over the training images");
//   const bool test = args.flag("--test", "use a small part of the data");
//   const std::string list = args.positional("LIST", "file with a path and a label in each line");
//   args.finish();
//
// A wrong command line ends the program with a message and the status 2. finish() ends it after printing the help if
// --help was given, and rejects arguments that no call has read.
class Arguments {
 public:
  Arguments(int argc, char** argv, std::string_view description)
      : program_(argv[0]), help_(std::string(description) + "\n\noptions:\n") {
    program_ = program_.substr(program_.rfind('/') + 1);
    for (const std::string& argument : std::vector<std::string>(argv + 1, argv + argc)) {
      const std::size_t equals = argument.starts_with("--") ? argument.find('=') : std::string::npos;
      rest_.push_back(argument.substr(0, equals));
      if (equals != std::string::npos) rest_.push_back(argument.substr(equals + 1));
    }
    wants_help_ = flag("-h,--help", "print this text");
  }

  // Returns the value after one of the names (-e 5, --epoch 5 or --epoch=5), or `value` if there is none.
  template <class T> T option(std::string_view names, T value, std::string_view help) {
    for (std::size_t at; (at = find(names)) < rest_.size();) {
      const std::string name = take(at, "");
      value = parse<T>(name, take(at, name));
    }
    describe(std::string(names) + (std::is_same_v<T, std::string> ? " TEXT" : " NUMBER"), help, text_of(value));
    return value;
  }
  std::string option(std::string_view names, const char* value, std::string_view help) {
    return option(names, std::string(value), help);
  }
  // Returns one of `choices`, of which the first is the default.
  std::string choice(std::string_view names, const std::vector<std::string>& choices, std::string_view help) {
    std::string all;
    for (const std::string& c : choices) all += (all.empty() ? "" : ", ") + c;
    const std::string value = option(names, choices[0], std::string(help) + ": " + all);
    if (std::find(choices.begin(), choices.end(), value) == choices.end())
      fail(std::string(names) + " is one of " + all + ", not \"" + value + '"');
    return value;
  }
  // Returns the numbers after one of the names: --gpus 0 1 2.
  std::vector<int> list(std::string_view names, std::vector<int> values, std::string_view help) {
    if (const std::size_t at = find(names); at < rest_.size()) {
      const std::string name = take(at, "");
      for (values.clear(); at < rest_.size() && is_integer(rest_[at]);)
        values.push_back(parse<int>(name, take(at, name)));
    }
    std::string all;
    for (const int v : values) all += (all.empty() ? "" : " ") + text_of(v);
    describe(std::string(names) + " NUMBER...", help, all);
    return values;
  }
  bool flag(std::string_view names, std::string_view help) {
    describe(std::string(names), help, "");
    const std::size_t at = find(names);
    return at < rest_.size() && !take(at, "").empty();
  }
  // Returns the next argument that is no option. To be called after all options were read.
  std::string positional(std::string_view name, std::string_view help) {
    usage_ += " " + std::string(name);
    describe(std::string(name), help, "");
    if (rest_.empty() && !wants_help_) fail(std::string(name) + " is missing: " + std::string(help));
    return rest_.empty() ? std::string() : take(0, name);
  }

  void finish() {
    if (wants_help_) {
      std::printf("usage: %s [options]%s\n\n%s", program_.c_str(), usage_.c_str(), help_.c_str());
      std::exit(0);
    }
    if (!rest_.empty()) fail("there is no argument \"" + rest_[0] + "\"; --help lists them");
  }
  [[noreturn]] void fail(const std::string& message) const {
    std::fprintf(stderr, "%s: %s\n", program_.c_str(), message.c_str());
    std::exit(2);
  }

 private:
  // Returns the position of the first argument with one of the names, which are separated by commas.
  std::size_t find(std::string_view names) const {
    const auto is_name = [all = ',' + std::string(names) + ','](const std::string& argument) {
      return all.find(',' + argument + ',') != std::string::npos;
    };
    return std::size_t(std::find_if(rest_.begin(), rest_.end(), is_name) - rest_.begin());
  }
  static bool is_integer(std::string_view argument) {
    if (argument.starts_with('-')) argument.remove_prefix(1);
    return !argument.empty() && argument.find_first_not_of("0123456789") == std::string_view::npos;
  }
  // Removes the argument at a position and returns it.
  std::string take(std::size_t at, std::string_view name) {
    if (at == rest_.size()) fail(std::string(name) + " needs a value");
    const std::string argument = rest_[at];
    rest_.erase(rest_.begin() + std::ptrdiff_t(at));
    return argument;
  }
  template <class T> T parse(const std::string& name, const std::string& text) const {
    if constexpr (std::is_same_v<T, std::string>) {
      return text;
    } else {
      T value{};
      const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
      if (error != std::errc() || end != text.data() + text.size()) fail(name + ": \"" + text + "\" does not fit");
      return value;
    }
  }
  template <class T> static std::string text_of(const T& value) {
    if constexpr (std::is_same_v<T, std::string>) {
      return value;
    } else {
      char text[32];
      return std::string(text, std::to_chars(text, text + sizeof text, value).ptr);
    }
  }
  void describe(const std::string& names, std::string_view help, const std::string& value) {
    help_ += "  " + names + std::string(names.size() < 28 ? 30 - names.size() : 2, ' ') + std::string(help) +
             (value.empty() ? "" : " (" + value + ")") + '\n';
  }

  std::string program_, usage_, help_;
  std::vector<std::string> rest_;
  bool wants_help_ = false;
};

// Returns a GPU, or for a negative number the CPU.
inline nd::Device device_of(int gpu) {
  return gpu < 0 ? nd::cpu_device : nd::Device{nd::Device::Kind::cuda, static_cast<std::int16_t>(gpu)};
}
// Makes it the device of new arrays: weights, batches and results.
inline void use_device(int gpu) { nd::set_current_device(device_of(gpu)); }
