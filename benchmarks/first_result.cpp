// The shortest program with a result. compare.sh measures the time from its start to the line it prints.
#include <cstdio>

#include <catena/ndarray/ndarray.h>

int main() { std::printf("%g\n", (nd::ones({3}) + 1).sum().item<double>()); }
