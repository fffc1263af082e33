// Minimise: L-BFGS from inner products, with a line search that trusts slopes where f is rounding,
// and conjugate gradients.
#include "pleat/core/math/minimise.h"

#include <algorithm>
#include <cmath>

#include "pleat/core/error.h"
#include "pleat/core/files/npy.h"

namespace pleat {

namespace {

constexpr double kArmijo = 1e-4;
constexpr double kApproximateWolfe = 0.1;  // delta of Hager and Zhang (2005), their section 3
constexpr double kCurvature = 0.9;         // sigma of the strong Wolfe conditions
constexpr int kMaxTrials = 20;

void erase_front(std::vector<std::vector<double>>& matrix) {
    matrix.erase(matrix.begin());
    for (auto& row : matrix) row.erase(row.begin());
}

}  // namespace

Lbfgs::Lbfgs(VectorStore& vectors, const Options& options) : Minimiser(vectors), options_(options) {
    vectors_.reserve(vectors_needed(options_));
    for (int vector = vectors_needed(options_) - 1; vector > direction_; --vector)
        free_vectors_.push_back(vector);
}

double Minimiser::dot(int a, int b) {
    double value = 0;
    vectors_.dots(a, std::span(&b, 1), std::span(&value, 1));
    return value;
}

void Lbfgs::start() {
    objective_ = vectors_.evaluate(x_, gradient_);
    evaluations_ = 1;
    gradient_gradient_ = dot(gradient_, gradient_);
}

// The two-loop recursion on coefficients: d = on_gradient g + sum on_s s + sum on_y y.
void Lbfgs::direction(std::vector<double>& on_s, std::vector<double>& on_y,
                      double& on_gradient) const {
    const int m = static_cast<int>(s_.size());
    on_s.assign(m, 0.0);
    on_y.assign(m, 0.0);
    std::vector<double> alpha(m);
    for (int i = m - 1; i >= 0; --i) {  // q = g - sum alpha_j y_j
        double s_q = s_gradient_[i];
        for (int j = i + 1; j < m; ++j) s_q -= alpha[j] * s_y_[i][j];
        alpha[i] = s_q / s_y_[i][i];
    }
    const double gamma =
        m > 0 ? s_y_[m - 1][m - 1] / products_y_y_[m - 1][m - 1] : options_.first_step;
    for (int i = 0; i < m; ++i) {  // z = gamma q + sum (alpha_j - beta_j) s_j
        double y_z = products_y_gradient_[i];
        for (int j = 0; j < m; ++j) y_z -= alpha[j] * products_y_y_[i][j];
        y_z *= gamma;
        for (int j = 0; j < i; ++j) y_z += on_s[j] * s_y_[j][i];
        on_s[i] = alpha[i] - y_z / s_y_[i][i];
    }
    for (int i = 0; i < m; ++i) {
        on_s[i] = -on_s[i];
        on_y[i] = gamma * alpha[i];
    }
    on_gradient = -gamma;
}

void Lbfgs::set_direction(bool steepest) {
    if (steepest) {
        free_vectors_.insert(free_vectors_.end(), s_.begin(), s_.end());
        free_vectors_.insert(free_vectors_.end(), y_.begin(), y_.end());
        for (auto* list : {&s_gradient_, &products_y_gradient_}) list->clear();
        for (auto* matrix : {&s_y_, &products_y_y_}) matrix->clear();
        s_.clear();
        y_.clear();
    }
    std::vector<double> factors, on_y;
    double on_gradient = 0;
    direction(factors, on_y, on_gradient);
    slope_ = on_gradient * gradient_gradient_;
    for (std::size_t i = 0; i < s_.size(); ++i)
        slope_ += factors[i] * s_gradient_[i] + on_y[i] * products_y_gradient_[i];
    std::vector<int> vectors = s_;
    vectors.insert(vectors.end(), y_.begin(), y_.end());
    vectors.push_back(gradient_);
    factors.insert(factors.end(), on_y.begin(), on_y.end());
    factors.push_back(on_gradient);
    vectors_.combine(direction_, vectors, factors);
}

Lbfgs::Trial Lbfgs::evaluate(double step) {
    const int from[2] = {x_, direction_};
    const double factors[2] = {1.0, step};
    vectors_.combine(trial_x_, from, factors);
    Trial trial{step, vectors_.evaluate(trial_x_, trial_gradient_), 0, {}};
    ++evaluations_;
    // Computes in one pass the slope and all inner products of the new gradient g' that accept()
    // may need: <g', s_i>, <g', y_i>, <g', g>, <g', g'>, <g', d>.
    std::vector<int> with = s_;
    with.insert(with.end(), y_.begin(), y_.end());
    with.insert(with.end(), {gradient_, trial_gradient_, direction_});
    trial.products.resize(with.size());
    vectors_.dots(trial_gradient_, with, trial.products);
    trial.slope = trial.products.back();
    return trial;
}

// Line search by slopes: too long if f rose or the slope is steeply positive, too short if the
// slope is still steeply negative. Interpolates slopes inside a bracket; doubles the step outside.
bool Lbfgs::search() {
    // The newest pair replaces the oldest one, which the direction no longer needs.
    if (static_cast<int>(s_.size()) == options_.history) drop_oldest_pair();
    double low = 0, low_slope = slope_, high = -1, high_slope = 0;
    double step = 1.0;
    const double rounding = options_.f_precision * std::abs(objective_);
    for (int trial = 0; trial < kMaxTrials; ++trial) {
        const Trial at = evaluate(step);
        const bool finite = std::isfinite(at.objective) && std::isfinite(at.slope);
        const bool lower = finite && at.objective <= objective_ + kArmijo * step * slope_;
        const bool approximately = finite && at.objective <= objective_ + rounding &&
                                   at.slope <= (2 * kApproximateWolfe - 1) * slope_;
        if ((lower || approximately) && at.slope >= kCurvature * slope_) {
            accept(at);
            return true;
        }
        if (lower || approximately) {
            low = step;
            low_slope = at.slope;
        } else {
            high = step;
            high_slope = finite ? at.slope : 0;
        }
        if (high < 0) {
            step *= 2;
            continue;
        }
        const double width = high - low;
        // Secant step on the slopes, kept away from both ends. If it missed twice, or the slopes do
        // not bracket, bisects instead: the logarithms while only the start is known to be low.
        if (high_slope > 0 && trial % 3 != 2) {
            const double secant = low + width * low_slope / (low_slope - high_slope);
            step = std::clamp(secant, low + 0.1 * width, low + 0.9 * width);
        } else {
            step = low > 0 ? low + 0.5 * width : 0.1 * high;
        }
        if (width < 1e-12) break;
    }
    return false;
}

void Lbfgs::drop_oldest_pair() {
    free_vectors_.push_back(s_.front());
    free_vectors_.push_back(y_.front());
    s_.erase(s_.begin());
    y_.erase(y_.begin());
    s_gradient_.erase(s_gradient_.begin());
    products_y_gradient_.erase(products_y_gradient_.begin());
    erase_front(s_y_);
    erase_front(products_y_y_);
}

void Lbfgs::accept(const Trial& trial) {
    const int m = static_cast<int>(s_.size());
    const std::vector<double>& products = trial.products;
    const double old_new = products[2 * m];
    const double new_new = products[2 * m + 1];
    // The slopes at both ends of the step give <s,y> without another pass.
    const double s_y = trial.step * (trial.slope - slope_);
    const double y_y = new_new - 2 * old_new + gradient_gradient_;
    const bool keep = s_y > 0 && y_y > 0;
    if (keep) {
        std::vector<double> last_row(m);
        for (int i = 0; i < m; ++i) {
            s_y_[i].push_back(products[i] - s_gradient_[i]);
            last_row[i] = products[m + i] - products_y_gradient_[i];
            products_y_y_[i].push_back(last_row[i]);
        }
        last_row.push_back(y_y);
        products_y_y_.push_back(last_row);
        s_y_.emplace_back(m, 0.0).push_back(s_y);  // <s, y_j> of an older y_j is never read
    }
    s_gradient_.assign(products.begin(), products.begin() + m);
    products_y_gradient_.assign(products.begin() + m, products.begin() + 2 * m);
    if (keep) {
        s_gradient_.push_back(trial.step * trial.slope);
        products_y_gradient_.push_back(new_new - old_new);
        add_newest_pair(trial.step);
    }
    std::swap(x_, trial_x_);
    std::swap(gradient_, trial_gradient_);
    objective_ = trial.objective;
    gradient_gradient_ = new_new;
    ++iterations_;
}

// The direction becomes s and the old gradient y, in place; both get a free vector in exchange.
void Lbfgs::add_newest_pair(double step) {
    if (step != 1.0) vectors_.combine(direction_, std::span(&direction_, 1), std::span(&step, 1));
    const int gradients[2] = {trial_gradient_, gradient_};
    const double difference[2] = {1.0, -1.0};
    vectors_.combine(gradient_, gradients, difference);
    s_.push_back(direction_);
    y_.push_back(gradient_);
    direction_ = free_vectors_.back();
    free_vectors_.pop_back();
    gradient_ = free_vectors_.back();
    free_vectors_.pop_back();
}

bool Lbfgs::step() {
    const bool from_history = !s_.empty();
    set_direction(false);
    if (slope_ < 0 && search()) return true;
    if (!from_history) return false;
    // The search failed along a direction from the history: restart from the gradient, unless f has
    // not fallen since the last restart.
    const double rounding = options_.f_precision * std::abs(objective_);
    if (objective_at_restart_ - objective_ <= rounding &&
        gradient_gradient_ > 0.25 * restart_gradient_gradient_) {
        return false;
    }
    objective_at_restart_ = objective_;
    restart_gradient_gradient_ = gradient_gradient_;
    set_direction(true);
    return slope_ < 0 && search();
}

void Lbfgs::save(NpzWriter& writer) const {
    std::vector<float> copy;  // only if vectors are not in host memory, since they may be large
    const auto put = [&](const std::string& name, int vector) {
        const float* values = vectors_.host_data(vector);
        if (values == nullptr) {
            copy.resize(vectors_.size());
            vectors_.download(vector, copy.data());
            values = copy.data();
        }
        writer.add(name, values, {vectors_.size()});
    };
    put("x", x_);
    put("gradient", gradient_);
    const Index m = std::ssize(s_);
    std::vector<double> s_y, y_y;
    for (Index i = 0; i < m; ++i) {
        put("s" + std::to_string(i), s_[i]);
        put("y" + std::to_string(i), y_[i]);
        s_y.insert(s_y.end(), s_y_[i].begin(), s_y_[i].end());
        y_y.insert(y_y.end(), products_y_y_[i].begin(), products_y_y_[i].end());
    }
    writer.add("s_y", s_y.data(), {m, m});
    writer.add("y_y", y_y.data(), {m, m});
    writer.add("s_gradient", s_gradient_.data(), {m});
    writer.add("y_gradient", products_y_gradient_.data(), {m});
    const double scalars[4] = {objective_, gradient_gradient_, objective_at_restart_,
                               restart_gradient_gradient_};
    writer.add("scalars", scalars, {4});
    const Index counts[2] = {evaluations_, iterations_};
    writer.add("counts", counts, {2});
}

void Lbfgs::load(const NpzReader& reader) {
    const auto get = [&](const std::string& name, int vector) {
        const NpyArray array = reader.get(name);
        if (array.dtype != "<f4" || array.size() != vectors_.size()) {
            throw InputError("checkpoint: expected " + std::to_string(vectors_.size()) +
                             " values of type <f4 in '" + name + "', found " +
                             std::to_string(array.size()) + " of type " + array.dtype);
        }
        // Does not convert the vector: a second copy of a large vector may not fit in memory.
        vectors_.upload(vector, reinterpret_cast<const float*>(array.bytes.data()));
    };
    s_gradient_ = reader.get("s_gradient").as<double>("s_gradient");
    products_y_gradient_ = reader.get("y_gradient").as<double>("y_gradient");
    const std::size_t m = s_gradient_.size();
    const std::vector<double> s_y = reader.get("s_y").as<double>("s_y");
    const std::vector<double> y_y = reader.get("y_y").as<double>("y_y");
    const std::vector<double> scalars = reader.get("scalars").as<double>("scalars");
    const std::vector<Index> counts = reader.get("counts").as<Index>("counts");
    if (products_y_gradient_.size() != m || s_y.size() != m * m || y_y.size() != m * m ||
        scalars.size() != 4 || counts.size() != 2) {
        throw InputError("checkpoint: expected the state of a minimiser, found other shapes");
    }
    const auto history = static_cast<std::size_t>(options_.history);
    const std::size_t oldest = m > history ? m - history : 0;
    s_gradient_.erase(s_gradient_.begin(), s_gradient_.begin() + oldest);
    products_y_gradient_.erase(products_y_gradient_.begin(), products_y_gradient_.begin() + oldest);
    get("x", x_);
    get("gradient", gradient_);
    s_y_.clear();
    products_y_y_.clear();
    for (std::size_t i = oldest; i < m; ++i) {
        s_.push_back(free_vectors_.back());
        free_vectors_.pop_back();
        y_.push_back(free_vectors_.back());
        free_vectors_.pop_back();
        get("s" + std::to_string(i), s_.back());
        get("y" + std::to_string(i), y_.back());
        s_y_.emplace_back(s_y.begin() + i * m + oldest, s_y.begin() + (i + 1) * m);
        products_y_y_.emplace_back(y_y.begin() + i * m + oldest, y_y.begin() + (i + 1) * m);
    }
    objective_ = scalars[0];
    gradient_gradient_ = scalars[1];
    objective_at_restart_ = scalars[2];
    restart_gradient_gradient_ = scalars[3];
    evaluations_ = counts[0];
    iterations_ = counts[1];
}

namespace {

constexpr double kMinGradient2 = 1e-8;
constexpr const char* kVectorNames[] = {"x", "gradient", "direction"};

}  // namespace

ConjugateGradients::ConjugateGradients(VectorStore& vectors, const Options& options)
    : Minimiser(vectors), options_(options), recent_objectives_(options.window) {
    vectors_.reserve(kVectorsNeeded);
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
    double& past = recent_objectives_[iterations_ % options_.window];
    const double fall = (past - objective_) / past;
    if (iterations_ >= options_.window && fall < options_.min_fall) return Outcome::converged;
    past = objective_;
    ++iterations_;
    return Outcome::moved;
}

void ConjugateGradients::save(NpzWriter& writer) const {
    std::vector<float> values(vectors_.size());
    for (const int vector : {kX, kGradient, kDirection}) {
        vectors_.download(vector, values.data());
        writer.add(kVectorNames[vector], values.data(), {vectors_.size()});
    }
    const double scalars[] = {objective_, gradient2_, gradient2_before_, slope_before_, step_};
    writer.add("scalars", scalars, {5});
    writer.add("recent", recent_objectives_.data(), {std::ssize(recent_objectives_)});
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
    recent_objectives_ = recent;
    evaluations_ = counts[0];
    iterations_ = counts[1];
}

}  // namespace pleat
