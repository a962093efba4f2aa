// The main program of every test, compiled once.
#define BOOST_TEST_MODULE catena
#include <boost/test/unit_test.hpp>
