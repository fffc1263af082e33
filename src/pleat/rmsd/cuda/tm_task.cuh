// TM task: how one warp searches the superpositions of one pair, with up to 64 of them at a time.
#pragma once

#include <cstdint>

#include "pleat/rmsd/cuda/tm_rotation.cuh"
#include "pleat/rmsd/cuda/tm_sets.cuh"

namespace pleat::rmsd::cuda {

constexpr int kMaxTmLengths = 6, kMaxTmRounds = 20;
constexpr unsigned kAllLanes = 0xffffffffu;

/// What all pairs have in common.
struct TmSettings {
    int atoms = 0, lengths = 0, starts = 0;
    int length[kMaxTmLengths] = {};  ///< of the fragments, the longest first
    double per_square = 0.0;         ///< 1 / d0^2
    double first_limit = 0.0, limit = 0.0;
};

/// An atom of both frames.
struct TmAtom {
    double2 xy, zu, vw;  ///< x y z of the first, u v w of the second frame
};

/// The sums over a set of atoms that its superposition needs.
struct TmSums {
    double count = 0.0, p[3] = {}, q[3] = {}, r[9] = {};

    __device__ __forceinline__ void add(const TmAtom& at) {
        const double x[3] = {at.xy.x, at.xy.y, at.zu.x}, u[3] = {at.zu.y, at.vw.x, at.vw.y};
#pragma unroll
        for (int a = 0; a < 3; ++a) {
            p[a] += x[a];
            q[a] += u[a];
#pragma unroll
            for (int b = 0; b < 3; ++b) r[3 * a + b] += x[a] * u[b];
        }
    }
    /// Adds those of `lanes` neighbouring threads.
    __device__ __forceinline__ void join(int lanes) {
        for (int apart = 1; apart < lanes; apart *= 2) {
            count += __shfl_xor_sync(kAllLanes, count, apart);
#pragma unroll
            for (int a = 0; a < 3; ++a) {
                p[a] += __shfl_xor_sync(kAllLanes, p[a], apart);
                q[a] += __shfl_xor_sync(kAllLanes, q[a], apart);
            }
#pragma unroll
            for (int n = 0; n < 9; ++n) r[n] += __shfl_xor_sync(kAllLanes, r[n], apart);
        }
    }
};

/// A rotation and a shift of the first frame.
struct TmMotion {
    double m[9], t[3];

    /// The squared distance of an atom to its place in the second frame.
    __device__ __forceinline__ double square(const TmAtom& at) const {
        const double x = m[0] * at.xy.x + (m[1] * at.xy.y + (m[2] * at.zu.x + t[0])) - at.zu.y;
        const double y = m[3] * at.xy.x + (m[4] * at.xy.y + (m[5] * at.zu.x + t[1])) - at.vw.x;
        const double z = m[6] * at.xy.x + (m[7] * at.xy.y + (m[8] * at.zu.x + t[2])) - at.vw.y;
        return z * z + (y * y + x * x);
    }
};

/// The best motion for a set of atoms. A call, since its code is long.
static __device__ __attribute__((noinline)) void superpose(const TmSums& sums, TmMotion& motion) {
    double p[3], q[3], r[9];
    const double inverse = 1.0 / sums.count;
#pragma unroll
    for (int a = 0; a < 3; ++a) p[a] = sums.p[a] * inverse, q[a] = sums.q[a] * inverse;
#pragma unroll
    for (int n = 0; n < 9; ++n) r[n] = sums.r[n] - sums.p[n / 3] * q[n % 3];
    find_rotation(r, motion.m);
#pragma unroll
    for (int a = 0; a < 3; ++a) {
        const double* const row = motion.m + 3 * a;
        motion.t[a] = q[a] - (row[0] * p[0] + row[1] * p[1] + row[2] * p[2]);
    }
}

/// The same of sums in registers, which a call would take out of them.
static __device__ __forceinline__ void superpose_copy(const TmSums& sums, TmMotion& motion) {
    const TmSums passed = sums;
    TmMotion found;
    superpose(passed, found);
    motion = found;
}

/// The atoms of one superposition that come near.
struct TmNear {
    int count = 0;
    std::uint32_t hash = 0;

    __device__ __forceinline__ void add(std::uint32_t word) {
        count += __popc(word);
        hash = (hash ^ word) * 0x9e3779b1u;
        hash ^= hash >> 15;
    }
};

/// A warp with one pair. Each thread has `kItems` superpositions, so that an atom is loaded once
/// for all. If there are few, groups of `lanes` neighbouring threads share theirs: each takes every
/// `lanes`-th atom. Numbers of a superposition depend on nothing but its set and `lanes`, which
/// depends on how many sets there are; so a value depends on its pair alone.
template <bool kIsGdt, int kItems>
class TmWarp {
public:
    __device__ TmWarp(const TmSettings& settings, const TmAtom* atoms, TmSets& sets, double* best)
        : settings_(settings), atoms_(atoms), sets_(sets), best_(best) {}

    __device__ double search() {
        sets_.clear_table();
        for (int first = 0; first < settings_.starts; first += kBatch) superpose_fragments(first);
        for (int round = 0; round < kMaxTmRounds; ++round) {
            sets_.next_round();
            if (sets_.count == 0) break;
            for (int first = 0; first < sets_.count; first += kBatch) superpose_sets(first);
        }
        return result();
    }

private:
    static constexpr int kBatch = kItems * kTmThreads;

    /// Superpositions of this thread.
    struct Items {
        TmMotion motion[kItems];
        int position[kItems];  ///< of its set of near atoms
        bool is_own[kItems];   ///< whether this thread keeps it
    };

    __device__ static int lane() { return static_cast<int>(threadIdx.x); }

    __device__ void superpose_fragments(int first) {
        Items items;
#pragma unroll
        for (int h = 0; h < kItems; ++h) {
            const int item = lane() + h * kTmThreads;
            items.is_own[h] = first + item < settings_.starts;
            items.position[h] = sets_.end + item;
            superpose_copy(sums_of_fragment(min(first + item, settings_.starts - 1)),
                           items.motion[h]);
        }
        measure(items, 1, settings_.first_limit);
    }

    __device__ TmSums sums_of_fragment(int start) const {
        int first = start, length = 0;
        for (int n = 0; n < settings_.lengths; ++n) {
            length = settings_.length[n];
            const int fragments = settings_.atoms - length + 1;
            if (first < fragments) break;
            first -= fragments;
        }
        TmSums sums;
        sums.count = length;
        const TmAtom* const from = atoms_ + first;
        for (int k = 0; k < length; ++k) sums.add(from[k]);
        return sums;
    }

    /// Those from `first` on among the sets of this round, up to kBatch.
    __device__ void superpose_sets(int first) {
        const int count = min(sets_.count - first, kBatch);
        int lanes = 1;
        while (2 * lanes * count <= kBatch && lanes < kTmThreads) lanes *= 2;
        Items items;
        int position[kItems];
#pragma unroll
        for (int h = 0; h < kItems; ++h) {
            const int item = lane() / lanes + h * (kTmThreads / lanes);
            items.is_own[h] = item < count && lane() % lanes == 0;
            items.position[h] = sets_.end + item;
            position[h] = sets_.first + first + min(item, count - 1);
        }
        TmSums sums[kItems];
        add_sets(position, lanes, sums);
#pragma unroll
        for (int h = 0; h < kItems; ++h) {
            sums[h].join(lanes);
            superpose_copy(sums[h], items.motion[h]);
        }
        measure(items, lanes, settings_.limit);
    }

    /// This thread's share of the sums.
    __device__ __forceinline__ void add_sets(const int (&position)[kItems], int lanes,
                                             TmSums (&sums)[kItems]) const {
        int count[kItems] = {};
        for (int n = 0; n < sets_.words; ++n) {
            std::uint32_t word[kItems];
#pragma unroll
            for (int h = 0; h < kItems; ++h) word[h] = sets_.word(n, position[h]);
            const TmAtom* const from = atoms_ + 32 * n;
            const int atoms = min(settings_.atoms - 32 * n, 32);
            for (int k = lane() % lanes; k < atoms; k += lanes) {
                const TmAtom at = from[k];
#pragma unroll
                for (int h = 0; h < kItems; ++h) {
                    if ((word[h] >> k & 1) == 0) continue;
                    sums[h].add(at);
                    ++count[h];
                }
            }
        }
#pragma unroll
        for (int h = 0; h < kItems; ++h) sums[h].count = count[h];
    }

    /// Measures all atoms, and keeps the sets of those nearer than `limit` that are new.
    __device__ __forceinline__ void measure(const Items& items, int lanes, double limit) {
        const long long limit_bits = __double_as_longlong(limit * limit);
        const auto per_square = static_cast<float>(settings_.per_square);
        TmNear near[kItems];
        float sum[kItems] = {};
        int within[kItems][4] = {};
        for (int n = 0; n < sets_.words; ++n) {
            const TmAtom* const from = atoms_ + 32 * n;
            const int atoms = min(settings_.atoms - 32 * n, 32);
            std::uint32_t word[kItems] = {};
            float shares[kItems] = {};
#pragma unroll 2
            for (int k = lane() % lanes; k < atoms; k += lanes) {
                const TmAtom at = from[k];
#pragma unroll
                for (int h = 0; h < kItems; ++h) {
                    const double square = items.motion[h].square(at);
                    const long long bits = __double_as_longlong(square);
                    if (bits < limit_bits) word[h] |= 1u << k;
                    if constexpr (kIsGdt) {
                        count_within(bits, within[h]);
                    } else {
                        shares[h] += pleat::cuda::rough_inverse(1.0f + static_cast<float>(square) *
                                                                           per_square);
                    }
                }
            }
#pragma unroll
            for (int h = 0; h < kItems; ++h) {
                for (int apart = 1; apart < lanes; apart *= 2)
                    word[h] |= __shfl_xor_sync(kAllLanes, word[h], apart);
                sum[h] += shares[h];
                near[h].add(word[h]);
                if (items.is_own[h]) sets_.word(n, items.position[h]) = word[h];
            }
        }
#pragma unroll
        for (int h = 0; h < kItems; ++h) {
            keep_best(items.motion[h], sum[h], within[h], lanes);
            if (near[h].count < 3 && settings_.atoms > 3)
                near[h] = take_three(items.motion[h], items.is_own[h], limit, items.position[h]);
        }
#pragma unroll
        for (int h = 0; h < kItems; ++h)
            sets_.insert(items.is_own[h] && near[h].count >= min(3, settings_.atoms),
                         items.position[h], near[h].hash);
    }

    /// Adds 1 for 1, 2, 4 and 8 angstrom if the square is at most theirs.
    __device__ static void count_within(long long bits, int (&within)[4]) {
        constexpr long long kOne = 0x3ff0000000000000;  // of 1.0; four times as much adds 2
#pragma unroll
        for (int n = 0; n < 4; ++n)
            within[n] += bits <= kOne + (static_cast<long long>(2 * n) << 52);
    }

    __device__ void keep_best(const TmMotion& motion, float sum, int (&within)[4], int lanes) {
        for (int apart = 1; apart < lanes; apart *= 2) {
            if constexpr (kIsGdt) {
                for (int& count : within) count += __shfl_xor_sync(kAllLanes, count, apart);
            } else {
                sum += __shfl_xor_sync(kAllLanes, sum, apart);
            }
        }
        if constexpr (kIsGdt) {
            for (int n = 0; n < 4; ++n) max_within_[n] = max(max_within_[n], within[n]);
        } else {
            // Positive numbers are in the order of their bits.
            const unsigned bits = __float_as_uint(sum);
            const unsigned largest = __reduce_max_sync(kAllLanes, bits);
            if (largest < above_best_) return;
            above_best_ = largest + 1;
            const unsigned having = __ballot_sync(kAllLanes, bits == largest);
            if ((having & (0u - having)) == 1u << lane()) {
                for (int n = 0; n < 9; ++n) best_[n] = motion.m[n];
                for (int a = 0; a < 3; ++a) best_[9 + a] = motion.t[a];
            }
        }
    }

    /// The set of less than three near atoms, taken again with a limit that is increased in steps
    /// until three are within it.
    __device__ TmNear take_three(const TmMotion& motion, bool is_own, double limit,
                                 int position) const {
        constexpr double kStep = 0.5;
        constexpr double kFar = 1e300;
        double first = kFar, second = kFar, third = kFar;
        for (int k = 0; k < settings_.atoms; ++k) {
            const double square = motion.square(atoms_[k]);
            if (square < first) {
                third = second, second = first, first = square;
            } else if (square < second) {
                third = second, second = square;
            } else if (square < third) {
                third = square;
            }
        }
        limit += kStep * (floor((sqrt(third) - limit) / kStep) + 1.0);
        // Makes sure that rounding does not exclude the third atom.
        const long long limit_bits =
            max(__double_as_longlong(limit * limit), __double_as_longlong(third) + 1);
        TmNear near;
        for (int n = 0; n < sets_.words; ++n) {
            std::uint32_t word = 0;
            const int atoms = min(settings_.atoms - 32 * n, 32);
            for (int k = 0; k < atoms; ++k)
                if (__double_as_longlong(motion.square(atoms_[32 * n + k])) < limit_bits)
                    word |= 1u << k;
            near.add(word);
            if (is_own) sets_.word(n, position) = word;
        }
        return near;
    }

    __device__ double result() {
        if constexpr (kIsGdt) {
            double score = 0.0;
            for (const int count : max_within_)
                score += 0.25 * static_cast<double>(__reduce_max_sync(kAllLanes, unsigned(count))) /
                         static_cast<double>(settings_.atoms);
            return score;
        }
        // The best sum was found in float32.
        __syncwarp();
        TmMotion motion;
        for (int n = 0; n < 9; ++n) motion.m[n] = best_[n];
        for (int a = 0; a < 3; ++a) motion.t[a] = best_[9 + a];
        double sum = 0.0;
        for (int k = lane(); k < settings_.atoms; k += kTmThreads)
            sum += 1.0 / (1.0 + motion.square(atoms_[k]) * settings_.per_square);
        for (int apart = 1; apart < kTmThreads; apart *= 2)
            sum += __shfl_xor_sync(kAllLanes, sum, apart);
        return sum / settings_.atoms;
    }

    const TmSettings& settings_;
    const TmAtom* atoms_;
    TmSets& sets_;
    double* best_;             ///< the motion with the largest sum, shared by the warp
    unsigned above_best_ = 0;  ///< the bits of the largest sum, plus 1
    int max_within_[4] = {};
};

}  // namespace pleat::rmsd::cuda
