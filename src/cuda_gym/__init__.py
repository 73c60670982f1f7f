"""cuda_gym: a Gymnasium environment in which agents learn to write CUDA kernels."""
