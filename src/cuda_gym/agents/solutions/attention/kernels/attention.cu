// Causal attention in two kernels. The first divides each key by its root mean square and transposes
// the keys of a head, so that neighbouring keys lie side by side; the last block of KEYS is filled up
// with zeros. In the second, a thread takes ROWS queries through blocks of keys with an online
// softmax: it keeps for each the largest score so far, the sum of exponentials relative to it, and
// the output before the division by that sum.
#include <cuda_runtime.h>

constexpr int KEYS = 32;
constexpr int ROWS = 8;
constexpr int LANES = 32;
static_assert(KEYS % ROWS == 0, "then each query of a thread sees a key of every block");

__device__ __forceinline__ float larger(float a, float b) { return a > b ? a : b; }

__device__ float inverse_rms(const float* __restrict__ row, int features, float eps) {
    float lanes[LANES] = {};
    int i = 0;
    for (; i + LANES <= features; i += LANES)
        for (int lane = 0; lane < LANES; ++lane) lanes[lane] += row[i + lane] * row[i + lane];
    for (; i < features; ++i) lanes[0] += row[i] * row[i];
    for (int lane = 1; lane < LANES; ++lane) lanes[0] += lanes[lane];
    return 1.0f / sqrtf(lanes[0] / features + eps);
}

__global__ void prepare_keys(float* __restrict__ prepared, const float* __restrict__ key,
                             int positions, int padded, int features, float eps) {
    const int position = blockIdx.y * blockDim.x + threadIdx.x;
    if (position >= padded) return;
    float* to = prepared + (size_t)blockIdx.x * padded * features + position;
    if (position >= positions) {
        for (int f = 0; f < features; ++f) to[(size_t)f * padded] = 0.0f;
        return;
    }
    const float* from = key + ((size_t)blockIdx.x * positions + position) * features;
    const float scale = inverse_rms(from, features, eps);
    for (int f = 0; f < features; ++f) to[(size_t)f * padded] = from[f] * scale;
}

// What a query knows of the keys that it has seen.
struct State {
    float scale, maximum, sum;
};

// scores = query @ keys for NUM neighbouring queries and KEYS neighbouring keys.
template <int NUM>
__device__ __forceinline__ void score(float (&scores)[NUM][KEYS], const float* __restrict__ query,
                                      const float* __restrict__ keys, int padded, int features) {
    for (int r = 0; r < NUM; ++r)
        for (int j = 0; j < KEYS; ++j) scores[r][j] = 0.0f;
    for (int f = 0; f < features; ++f) {
        const float* row = keys + (size_t)f * padded;
        for (int r = 0; r < NUM; ++r) {
            const float factor = query[(size_t)r * features + f];
            for (int j = 0; j < KEYS; ++j) scores[r][j] += factor * row[j];
        }
    }
}

// out = out * correction + weights @ values, LANES features at a time.
template <int NUM>
__device__ __forceinline__ void add_values(float* __restrict__ out, const float (&weights)[NUM][KEYS],
                                           const float (&corrections)[NUM],
                                           const float* __restrict__ values, int count,
                                           int features) {
    int f = 0;
    for (; f + LANES <= features; f += LANES) {
        float sums[NUM][LANES];
        for (int r = 0; r < NUM; ++r)
            for (int lane = 0; lane < LANES; ++lane)
                sums[r][lane] = out[(size_t)r * features + f + lane] * corrections[r];
        for (int j = 0; j < count; ++j) {
            const float* row = values + (size_t)j * features + f;
            for (int r = 0; r < NUM; ++r)
                for (int lane = 0; lane < LANES; ++lane) sums[r][lane] += weights[r][j] * row[lane];
        }
        for (int r = 0; r < NUM; ++r)
            for (int lane = 0; lane < LANES; ++lane)
                out[(size_t)r * features + f + lane] = sums[r][lane];
    }
    for (; f < features; ++f)
        for (int r = 0; r < NUM; ++r) {
            float sum = out[(size_t)r * features + f] * corrections[r];
            for (int j = 0; j < count; ++j) sum += weights[r][j] * values[(size_t)j * features + f];
            out[(size_t)r * features + f] = sum;
        }
}

// Shows NUM neighbouring queries a block of keys: the first query those up to `last`, each next query
// one more.
template <int NUM>
__device__ __forceinline__ void attend(float* __restrict__ out, State (&states)[NUM],
                                       const float* __restrict__ query,
                                       const float* __restrict__ keys,
                                       const float* __restrict__ values, int last, int padded,
                                       int features) {
    float scores[NUM][KEYS], corrections[NUM];
    score<NUM>(scores, query, keys, padded, features);
    for (int r = 0; r < NUM; ++r) {
        float maximum = states[r].maximum;
        for (int j = 0; j < KEYS; ++j) {
            scores[r][j] = j <= last + r ? scores[r][j] * states[r].scale : -INFINITY;
            maximum = larger(scores[r][j], maximum);
        }
        for (int j = 0; j < KEYS; ++j) scores[r][j] = expf(scores[r][j] - maximum);
        corrections[r] = expf(states[r].maximum - maximum);
        states[r].sum *= corrections[r];
        for (int j = 0; j < KEYS; ++j) states[r].sum += scores[r][j];
        states[r].maximum = maximum;
    }
    add_values<NUM>(out, scores, corrections, values, min(KEYS, last + NUM), features);
}

// Answers NUM neighbouring queries, the first of them at `position`.
template <int NUM>
__device__ __forceinline__ void answer(float* __restrict__ out, const float* __restrict__ query,
                                       const float* __restrict__ keys,
                                       const float* __restrict__ values, int position, int padded,
                                       int features, float eps) {
    State states[NUM];
    for (int r = 0; r < NUM; ++r) {
        const float scale = inverse_rms(query + (size_t)r * features, features, eps);
        states[r] = {scale / sqrtf((float)features), -INFINITY, 0.0f};
    }
    for (int i = 0; i < NUM * features; ++i) out[i] = 0.0f;
    for (int first = 0; first < position + NUM; first += KEYS)
        attend<NUM>(out, states, query, keys + first, values + (size_t)first * features,
                    position - first, padded, features);
    for (int r = 0; r < NUM; ++r)
        for (int f = 0; f < features; ++f) out[(size_t)r * features + f] /= states[r].sum;
}

__global__ void attention_kernel(float* __restrict__ out, const float* __restrict__ query,
                                 const float* __restrict__ prepared, const float* __restrict__ value,
                                 int positions, int padded, int features, float eps) {
    const int position = (blockIdx.y * blockDim.x + threadIdx.x) * ROWS;
    const size_t head = (size_t)blockIdx.x * positions * features;
    const float* keys = prepared + (size_t)blockIdx.x * padded * features;
    const float* from = query + head;
    float* to = out + head;
    if (position + ROWS <= positions) {
        const size_t start = (size_t)position * features;
        answer<ROWS>(to + start, from + start, keys, value + head, position, padded, features, eps);
    } else {
        for (int row = position; row < positions; ++row) {
            const size_t start = (size_t)row * features;
            answer<1>(to + start, from + start, keys, value + head, row, padded, features, eps);
        }
    }
}

extern "C" void attention(float* out, float* prepared, const float* query, const float* key,
                          const float* value, int heads, int positions, int padded, int features,
                          float eps, cudaStream_t stream) {
    const int threads = 8;
    const dim3 key_blocks(heads, (padded + threads - 1) / threads);
    prepare_keys<<<key_blocks, threads, 0, stream>>>(prepared, key, positions, padded, features, eps);
    const dim3 blocks(heads, (positions + threads * ROWS - 1) / (threads * ROWS));
    attention_kernel<<<blocks, threads, 0, stream>>>(out, query, prepared, value, positions, padded,
                                                     features, eps);
}
