// Optional parts of the library that a build lacks.
#pragma once

#include <iostream>
#include <string_view>

namespace test {

// True if the part is not there, which a line on standard output says: the test case or the file is to be left out.
inline bool lacks(bool there, std::string_view part) {
  if (!there) std::cout << "skipped: this build has no " << part << "\n";
  return !there;
}

}  // namespace test
