// Console output of extensions. Internal to this folder.
#pragma once

#include <unistd.h>

#include <iostream>
#include <optional>
#include <string>

namespace training::internal {

// An output stream, and whether it is a terminal with a movable cursor; files and pipes get plain lines.
struct Console {
  std::ostream* out;
  bool terminal;

  Console(std::ostream* given, std::optional<bool> is_terminal)
      : out(given ? given : &std::cout),
        terminal(is_terminal.value_or(out == &std::cout && ::isatty(STDOUT_FILENO) == 1)) {}
  // Erases everything below the cursor: the progress bar of an earlier call.
  void erase_below() const {
    if (terminal) *out << "\033[J";
  }
};

// Returns "[####......] 40.00%" for 0.4.
std::string progress_bar_text(double part, int length);

}  // namespace training::internal
