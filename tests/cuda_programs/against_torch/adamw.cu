// One step of AdamW over a flat array of parameters, in place.
struct Settings {
  float rate, beta1, beta2, epsilon, decay, correction1, correction2;
};

__global__ void __launch_bounds__(128)
    adamw_kernel(float* parameters, const float* gradients, float* means, float* squares, int n,
                 Settings s) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    const float gradient = gradients[i];
    const float mean = means[i] = s.beta1 * means[i] + (1 - s.beta1) * gradient;
    const float square = squares[i] = s.beta2 * squares[i] + (1 - s.beta2) * gradient * gradient;
    parameters[i] -= s.rate * (s.decay * parameters[i] +
                               mean / s.correction1 / (sqrtf(square / s.correction2) + s.epsilon));
  }
}

extern "C" void adamw(float* parameters, const float* gradients, float* means, float* squares,
                      int n, int step, float rate, float beta1, float beta2, float epsilon,
                      float decay) {
  const Settings settings = {
      rate, beta1, beta2, epsilon, decay, 1 - powf(beta1, step), 1 - powf(beta2, step)};
  adamw_kernel<<<3, 128>>>(parameters, gradients, means, squares, n, settings);
}
