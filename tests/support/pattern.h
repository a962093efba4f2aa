// Regular expressions (ECMAScript), compiled once: <regex> costs every file that uses it seconds.
#pragma once

#include <string>

namespace test {

bool matches(const std::string& text, const std::string& pattern);         // as a whole
bool contains_match(const std::string& text, const std::string& pattern);  // in some place

}  // namespace test
