#include "elsewhere.h"

__device__ int across = 40;
__constant__ float scale_across = 2.5f;
__device__ int plus_across(int x) { return x + across; }

static __device__ int same_name = 1;
static __global__ void same_kernel(int* x) { *x = same_name; }
void launch_elsewhere(int* x) { same_kernel<<<1, 1>>>(x); }
