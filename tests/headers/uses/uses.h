// The functions of this folder, each in a file that includes one header of the library and nothing else.
#pragma once

// Ends the program with the line that does not hold.
void require(bool condition, const char* file, int line);
#define REQUIRE(...) require((__VA_ARGS__), __FILE__, __LINE__)

void use_creation();
void use_device();
void use_elementwise_kernel();
void use_fusion();
void use_indexing();
void use_io();
void use_linalg();
void use_math();
void use_memoize();
void use_raw_kernel();
void use_random();
void use_reduction();
void use_memory();
void use_autograd_functions();
void use_classifier();
void use_gradient_check();
void use_linear();
void use_optimizers();
void use_serializers();
void use_trainer();
