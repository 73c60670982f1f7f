// What main.cu uses and elsewhere.cu defines.
#pragma once

extern __device__ int across;
extern __constant__ float scale_across;
__device__ int plus_across(int x);
void launch_elsewhere(int* x);
