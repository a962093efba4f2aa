// JSON text of logs, and of the states that extensions store as in Chainer. Internal to training and
// training/extensions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <catena/training/log_entry.h>

namespace training::internal {

CATENA_EXPORT std::string json_of(const std::string& text);  // in quotes, with escapes
CATENA_EXPORT std::string json_of(const LogValue& value);    // non-finite numbers as NaN, Infinity and -Infinity
// Returns ["a", "b"].
CATENA_EXPORT std::string json_of(const std::vector<std::string>& texts);

// Reads JSON token by token, so that no input can overflow the stack. A syntax error is a ValueError that starts with
// `context` and gives the position in bytes.
class CATENA_EXPORT JsonReader {
 public:
  JsonReader(std::string_view text, std::string_view context) : text_(text), context_(context) {}

  bool accept(char c);                 // skips white space, and c if it is the next character
  void expect(char c);                 // requires c as the next character
  std::string string();                // in quotes
  LogValue value();                    // a number or a string; true and false are 1 and 0, null is NaN
  double number();                     // a value that is no string
  void finish();                       // requires that only white space is left
  std::vector<std::string> strings();  // a list of strings up to the end of the text

 private:
  void skip();
  char next();
  bool word(std::string_view w);
  std::uint32_t code_point();
  std::uint32_t hex4();

  std::string_view text_, context_;
  std::size_t at_ = 0;
};

}  // namespace training::internal
