// Conjugate gradients: Fletcher-Reeves directions, a search that shortens, a stop by the fall.
#include "pleat/core/math/conjugate_gradients.h"

#include <cmath>
#include <string>

#include "pleat/core/error.h"
#include "pleat/core/files/npy.h"

namespace pleat {

namespace {

constexpr double kMinGradient2 = 1e-8;
constexpr const char* kVectorNames[] = {"x", "gradient", "direction"};

}  // namespace

ConjugateGradients::ConjugateGradients(VectorStore& vectors, const Options& options)
    : vectors_(vectors), options_(options), recent_(static_cast<std::size_t>(options.window)) {
    vectors_.reserve(kVectorsNeeded);
}

double ConjugateGradients::dot(int a, int b) {
    double value = 0;
    vectors_.dots(a, std::span(&b, 1), std::span(&value, 1));
    return value;
}

void ConjugateGradients::start() {
    objective_ = vectors_.evaluate(kX, kGradient);
    evaluations_ = 1;
    gradient2_ = dot(kGradient, kGradient);
}

bool ConjugateGradients::is_converged_at_start() {
    return gradient2_ <= kMinGradient2 || gradient2_ <= options_.min_fall * dot(kX, kX);
}

// Shortens from step_ until a trial is accepted; each trial moves x by the difference to the one
// before.
bool ConjugateGradients::search() {
    const int vectors[2] = {kX, kDirection};
    double moved = 0;
    for (int trial = 0; trial < options_.max_trials; ++trial) {
        const double factors[2] = {1.0, step_ - moved};
        vectors_.combine(kX, vectors, factors);
        moved = step_;
        const double objective = vectors_.evaluate(kX, kGradient);
        ++evaluations_;
        if (objective <= objective_ + options_.armijo * step_ * slope_ &&
            dot(kDirection, kGradient) < options_.steepness * slope_) {
            objective_ = objective;
            return true;
        }
        step_ *= options_.shortening;
    }
    return false;
}

ConjugateGradients::Outcome ConjugateGradients::step() {
    if (iterations_ == 0) {
        const double minus = -1;
        vectors_.combine(kDirection, std::span(&kGradient, 1), std::span(&minus, 1));
        slope_ = -gradient2_;
        step_ = 1 / std::sqrt(gradient2_);
    } else {
        const int vectors[2] = {kDirection, kGradient};
        const double factors[2] = {gradient2_ / gradient2_before_, -1.0};
        vectors_.combine(kDirection, vectors, factors);
        slope_ = dot(kDirection, kGradient);
        step_ *= slope_before_ / slope_;
    }
    const bool found = search();
    gradient2_before_ = gradient2_;
    gradient2_ = dot(kGradient, kGradient);
    slope_before_ = slope_;
    if (!found) return Outcome::failed;
    double& past = recent_[static_cast<std::size_t>(iterations_ % options_.window)];
    const double fall = (past - objective_) / past;
    if (iterations_ >= options_.window && fall < options_.min_fall) return Outcome::converged;
    past = objective_;
    ++iterations_;
    return Outcome::moved;
}

void ConjugateGradients::save(NpzWriter& writer) const {
    std::vector<float> values(static_cast<std::size_t>(vectors_.size()));
    for (const int vector : {kX, kGradient, kDirection}) {
        vectors_.download(vector, values.data());
        writer.add(kVectorNames[vector], values.data(), {vectors_.size()});
    }
    const double scalars[] = {objective_, gradient2_, gradient2_before_, slope_before_, step_};
    writer.add("scalars", scalars, {5});
    writer.add("recent", recent_.data(), {static_cast<Index>(recent_.size())});
    const Index counts[] = {evaluations_, iterations_};
    writer.add("counts", counts, {2});
}

void ConjugateGradients::load(const NpzReader& reader) {
    const auto check = [&](const char* name, std::size_t found, Index expected) {
        if (static_cast<Index>(found) == expected) return;
        throw InputError(reader.label(name) + ": expected " + std::to_string(expected) +
                         " values, found " + std::to_string(found));
    };
    const auto scalars = reader.get("scalars").as<double>(reader.label("scalars"));
    check("scalars", scalars.size(), 5);
    const auto recent = reader.get("recent").as<double>(reader.label("recent"));
    check("recent", recent.size(), options_.window);
    const auto counts = reader.get("counts").as<Index>(reader.label("counts"));
    check("counts", counts.size(), 2);
    for (const int vector : {kX, kGradient, kDirection}) {
        const char* name = kVectorNames[vector];
        const auto values = reader.get(name).as<float>(reader.label(name));
        check(name, values.size(), vectors_.size());
        vectors_.upload(vector, values.data());
    }
    objective_ = scalars[0];
    gradient2_ = scalars[1];
    gradient2_before_ = scalars[2];
    slope_before_ = scalars[3];
    step_ = scalars[4];
    recent_ = recent;
    evaluations_ = counts[0];
    iterations_ = counts[1];
}

}  // namespace pleat
