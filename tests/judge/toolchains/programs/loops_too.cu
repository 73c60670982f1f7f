// A second file of the same submission, with names that the first one has as well.
#include "shared_header.cuh"

__device__ int global_index() { return 41; }
__device__ float helper_of_the_header(float x);
__global__ void second_kernel(int* x) { x[0] = global_index() + (int)helper_of_the_header(0.5f); }
__global__ void own_kernel(int* x) { x[1] = 43; }

extern "C" void other_file(int* x) { second_kernel<<<1, 1>>>(x); }
__device__ float helper_of_the_header(float x) { return 2.0f * x; }
