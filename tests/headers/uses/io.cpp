#include <catena/ndarray/routines/io.h>
#include <catena/tests/headers/uses/uses.h>

void use_io() {
  bool refused = false;
  try {
    nd::load("no such file");
  } catch (const nd::IOError&) {
    refused = true;
  }
  REQUIRE(refused);
}
