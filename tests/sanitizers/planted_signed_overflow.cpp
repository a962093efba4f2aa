// A planted bug: the build with -fsanitize=undefined must report it, or its silence means nothing.
#include <limits>

int main(int argc, char**) {
  volatile int largest = std::numeric_limits<int>::max();
  volatile int sum = largest + argc;
  (void)sum;
}
