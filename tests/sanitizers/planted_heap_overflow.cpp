// A planted bug: the build with -fsanitize=address must report it, or its other reports mean nothing.
#include <cstdlib>

int main(int argc, char**) {
  volatile int* values = static_cast<volatile int*>(std::malloc(4 * sizeof(int)));
  values[argc + 3] = 1;  // one past the end
  std::free(const_cast<int*>(values));
}
