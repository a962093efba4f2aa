// Where extensions print. Internal to this folder.
#pragma once

#include <unistd.h>

#include <iostream>
#include <optional>

namespace training::internal {

// An output and whether it is a terminal, where the cursor can be moved; a file and a pipe get plain lines.
struct Console {
  std::ostream* out;
  bool terminal;

  Console(std::ostream* given, std::optional<bool> is_terminal)
      : out(given ? given : &std::cout),
        terminal(is_terminal.value_or(out == &std::cout && ::isatty(STDOUT_FILENO) == 1)) {}
  // Removes what stands below the cursor: a progress bar that an earlier call left there.
  void erase_below() const {
    if (terminal) *out << "\033[J";
  }
};

}  // namespace training::internal
