// The expectations of the programs of spellings: a spelling that compiles and holds, or a message that it raises.
#pragma once

#include <cstdio>
#include <exception>
#include <string>

inline int failures = 0;

inline void expect(bool holds, const char* spelling) {
  if (holds) return;
  std::printf("wrong: %s\n", spelling);
  ++failures;
}

// Whether f throws an exception whose text has `what` in it.
template <class F> bool raises(const char* what, F&& f) {
  try {
    f();
  } catch (const std::exception& e) {
    if (std::string(e.what()).find(what) != std::string::npos) return true;
    std::printf("message: %s\n", e.what());
  }
  return false;
}

#define EXPECT(...) expect((__VA_ARGS__), #__VA_ARGS__)
#define RAISES(what, ...) expect(raises(what, [&] { __VA_ARGS__; }), #__VA_ARGS__)
