#include <catena/ndarray/user_kernel/memoize.h>
#include <catena/tests/headers/uses/uses.h>

void use_memoize() {
  int calls = 0;
  const auto f = nd::memoize([&calls](int n, const std::string& text) {
    ++calls;
    return text + std::to_string(n);
  });
  REQUIRE(f(1, "a") == "a1" && f(1, "a") == "a1" && f(2, "a") == "a2");
  REQUIRE(calls == 2);
  nd::clear_memo();
  f(1, "a");
  REQUIRE(calls == 3);
}
