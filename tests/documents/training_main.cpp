// Runs the statements of a table of training programs that compile, each with a scene of its own: training_spellings
// <folder>.
#include <filesystem>
#include <iostream>

#include "training_checks.h"

namespace spellings {

namespace {
std::string failures;
const char* current = "";
}  // namespace

void check(bool holds, const char* condition) {
  if (!holds) failures += std::string("  ") + current + ": " + condition + "\n";
}

}  // namespace spellings

int main(int, char** arguments) {
  using namespace spellings;
  const std::string folder = std::filesystem::absolute(arguments[1]).string();
  std::filesystem::remove_all(folder);
  for (int i = 0; i < kNumRows; ++i) {
    current = kRows[i].name;
    autograd::seed(0);  // the weights of a scene do not depend on the rows before it
    nd::random::seed(0);
    try {
      kRows[i].run(folder + "/" + current);
    } catch (const std::exception& error) {
      failures += std::string("  ") + current + ": " + error.what() + "\n";
    }
  }
  std::cout << kNumRows << " statements\n" << failures;
  return failures.empty() ? 0 : 1;
}
