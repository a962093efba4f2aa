// Regular expressions (ECMAScript), in one translation unit, because <regex> is slow to compile.
#pragma once

#include <string>

namespace test {

bool matches(const std::string& text, const std::string& pattern);         // the whole text matches
bool contains_match(const std::string& text, const std::string& pattern);  // a part of the text matches

}  // namespace test
