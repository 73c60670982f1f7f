// What makes a block of calls a fact: its inputs can be read by nobody before a gate opens, and when the
// gate's page says that it is over, its outputs were there. See sealed_page.py for the page, cuda_sealing.py
// for who launches this.
//
//     hold     wait for the key, which the judge writes to a page of the host
//     seal     exclusive or of a region with the key's random stream: seals, and opens again
//     sum_up   a digest of each unit of the outputs
//     fold     one digest of all of them
//     tell     write it to the page
//
// The stream is Philox4x32-10 (Salmon and others, 2011): one block of 128 bits for each pair of words. A digest
// absorbs one such block after the other through the same function, fed forward, so that nobody finds outputs
// for a digest that was told before: 128 bits, in an order that counts.

typedef unsigned long long Word;

namespace {

constexpr unsigned MULTIPLIER_0 = 0xD2511F53u, MULTIPLIER_1 = 0xCD9E8D57u;
constexpr unsigned WEYL_0 = 0x9E3779B9u, WEYL_1 = 0xBB67AE85u;
constexpr int ROUNDS = 10;

// Places in the page, in words.
constexpr int KEY = 0, KEY_CHECK = 1, SUM = 16, SUM_CHECK = 18;
// Places in the state.
constexpr int TAKEN_KEY = 0, FOLDED = 2;

constexpr int BLOCK_BYTES = 16, UNIT_BLOCKS = 4096, UNIT_THREADS = 256, FOLD_THREADS = 512;

struct alignas(16) Block { unsigned words[4]; };

// One output: where it is, its bytes, and the number of its first unit.
struct Output { Word address, num_bytes, first_unit; };

__device__ Block philox(Word key, Block counter) {
    unsigned key_0 = static_cast<unsigned>(key), key_1 = static_cast<unsigned>(key >> 32);
    unsigned c0 = counter.words[0], c1 = counter.words[1], c2 = counter.words[2], c3 = counter.words[3];
    for (int round = 0; round < ROUNDS; ++round) {
        const unsigned high_0 = __umulhi(MULTIPLIER_0, c0), low_0 = MULTIPLIER_0 * c0;
        const unsigned high_1 = __umulhi(MULTIPLIER_1, c2), low_1 = MULTIPLIER_1 * c2;
        c0 = high_1 ^ c1 ^ key_0;
        c1 = low_1;
        c2 = high_0 ^ c3 ^ key_1;
        c3 = low_0;
        key_0 += WEYL_0;
        key_1 += WEYL_1;
    }
    return {{c0, c1, c2, c3}};
}

__device__ Block operator^(Block one, Block other) {
    return {{one.words[0] ^ other.words[0], one.words[1] ^ other.words[1],
             one.words[2] ^ other.words[2], one.words[3] ^ other.words[3]}};
}

// A digest after one more block, at a place of its own.
__device__ Block absorbed(Block digest, Block block, Word place) {
    const Block both = digest ^ block;
    return philox(place, both) ^ both;
}

// The digests of all threads of a block in their order; thread 0 has the result.
template <int THREADS>
__device__ Block folded(Block own, Word place) {
    __shared__ Block digests[THREADS];
    digests[threadIdx.x] = own;
    __syncthreads();
    for (int half = THREADS / 2; half > 0; half /= 2) {
        if (threadIdx.x < half)
            digests[threadIdx.x] = absorbed(digests[threadIdx.x], digests[threadIdx.x + half], place + half);
        __syncthreads();
    }
    const Block result = digests[0];
    __syncthreads();
    return result;
}

// 16 bytes of an output, wherever it begins; zeros behind its end.
__device__ Block loaded(const Output& output, Word offset) {
    const Word address = output.address + offset;
    if (address % BLOCK_BYTES == 0 && offset + BLOCK_BYTES <= output.num_bytes)
        return *reinterpret_cast<const Block*>(address);
    Block block = {{0, 0, 0, 0}};
    for (int i = 0; i < BLOCK_BYTES && offset + i < output.num_bytes; ++i)
        block.words[i / 4] |= static_cast<unsigned>(*reinterpret_cast<const unsigned char*>(address + i)) << 8 * (i % 4);
    return block;
}

// The finaliser of SplitMix64: a bit that changes, changes half of the others.
__device__ Word mixed(Word value) {
    value = (value ^ (value >> 30)) * 0xBF58476D1CE4E5B9ull;
    value = (value ^ (value >> 27)) * 0x94D049BB133111EBull;
    return value ^ (value >> 31);
}

// Of what stands beside it in the page; never zero, so that an empty page has none.
__device__ Word check_of(Word value) { return mixed(value) | 1ull; }

}  // namespace

// A gate that nobody opens ends by itself after so many cycles.
extern "C" __global__ void hold(volatile Word* page, Word* state, Word most_cycles) {
    const long long start = clock64();
    Word key;
    do {
        key = page[KEY];
    } while (page[KEY_CHECK] != check_of(key) && static_cast<Word>(clock64() - start) < most_cycles);
    state[TAKEN_KEY] = key;
}

// first: the number of the first pair of words in the stream.
extern "C" __global__ void seal(Word* words, Word count, const Word* state, Word first) {
    const Word key = state[TAKEN_KEY], stride = static_cast<Word>(gridDim.x) * blockDim.x;
    for (Word pair = static_cast<Word>(blockIdx.x) * blockDim.x + threadIdx.x; 2 * pair < count; pair += stride) {
        const Word number = first + pair;
        const Block block = philox(key, {{static_cast<unsigned>(number), static_cast<unsigned>(number >> 32), 0, 0}});
        words[2 * pair] ^= static_cast<Word>(block.words[1]) << 32 | block.words[0];
        if (2 * pair + 1 < count)
            words[2 * pair + 1] ^= static_cast<Word>(block.words[3]) << 32 | block.words[2];
    }
}

// Launched with UNIT_THREADS threads a block.
extern "C" __global__ void sum_up(const Output* outputs, Word num_outputs, Word num_units, Block* digests) {
    for (Word unit = blockIdx.x; unit < num_units; unit += gridDim.x) {
        Word low = 0, high = num_outputs;  // the last output whose first unit is this one or before
        while (high - low > 1) {
            const Word middle = (low + high) / 2;
            if (outputs[middle].first_unit <= unit) low = middle;
            else high = middle;
        }
        const Output output = outputs[low];
        const Word first = (unit - output.first_unit) * UNIT_BLOCKS;
        Block digest = {{0, 0, 0, 0}};
        for (int i = threadIdx.x; i < UNIT_BLOCKS; i += UNIT_THREADS) {
            const Word offset = (first + i) * BLOCK_BYTES;
            if (offset < output.num_bytes) digest = absorbed(digest, loaded(output, offset), unit * UNIT_BLOCKS + i + 1);
        }
        digest = folded<UNIT_THREADS>(digest, 1ull << 62);
        if (threadIdx.x == 0) digests[unit] = digest;
    }
}

// Launched with one block of FOLD_THREADS threads.
extern "C" __global__ void fold(const Block* digests, Word num_units, Word* state) {
    Block digest = {{0, 0, 0, 0}};
    for (Word unit = threadIdx.x; unit < num_units; unit += FOLD_THREADS)
        digest = absorbed(digest, digests[unit], unit + 1);
    digest = folded<FOLD_THREADS>(digest, 1ull << 63);
    if (threadIdx.x == 0) {
        state[FOLDED] = static_cast<Word>(digest.words[1]) << 32 | digest.words[0];
        state[FOLDED + 1] = static_cast<Word>(digest.words[3]) << 32 | digest.words[2];
    }
}

extern "C" __global__ void tell(volatile Word* page, const Word* state) {
    page[SUM] = state[FOLDED];
    page[SUM + 1] = state[FOLDED + 1];
    __threadfence_system();
    page[SUM_CHECK] = check_of(state[FOLDED] ^ mixed(state[FOLDED + 1]));
}
