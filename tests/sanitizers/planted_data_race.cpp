// A planted bug: the build with -fsanitize=thread must report it, or its silence means nothing.
#include <thread>

int counter = 0;

int main() {
  auto count = [] {
    for (int i = 0; i < 10000; ++i) ++counter;
  };
  std::thread other(count);
  count();
  other.join();
}
