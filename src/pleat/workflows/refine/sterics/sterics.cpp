// Sterics: pairs of points, of which spheres around pieces exclude most.
#include "pleat/workflows/refine/sterics/sterics.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

namespace pleat::refine {

namespace {

constexpr Index kNeighbours = 3;  // residues of a chain less than this apart may be close

}  // namespace

Sterics::Sterics(const ChainModel& model, StericOptions options)
    : model_(&model),
      options_(options),
      x_(model.points.size()),
      y_(model.points.size()),
      z_(model.points.size()) {
    for (Index piece = 0; piece < model.piece_count(); ++piece) {
        const auto first = static_cast<std::size_t>(model.first_point[static_cast<std::size_t>(piece)]),
                   last = static_cast<std::size_t>(
                       model.first_point[static_cast<std::size_t>(piece) + 1]);
        if (first == last) continue;
        Sphere sphere;
        for (std::size_t n = first; n < last; ++n)
            sphere.centre = sphere.centre + model.points[n].position;
        sphere.centre = (1.0 / static_cast<double>(last - first)) * sphere.centre;
        for (std::size_t n = first; n < last; ++n)
            sphere.radius =
                std::max(sphere.radius, distance(sphere.centre, model.points[n].position));
        pieces_.push_back(piece);
        spheres_.push_back(sphere);
    }
    centres_.resize(spheres_.size());
    const auto piece_of = [&](std::size_t point) {
        return std::upper_bound(model.first_point.begin(), model.first_point.end(),
                                static_cast<Index>(point));
    };
    std::map<std::pair<Index, Index>, std::size_t> at;  // by chain and residue
    for (std::size_t n = 0; n < model.points.size(); ++n)
        at[{model.points[n].chain, model.points[n].residue}] = n;
    for (std::size_t n = 0; n < model.points.size(); ++n)
        for (Index apart = 1; apart < kNeighbours; ++apart) {
            const auto other = at.find({model.points[n].chain, model.points[n].residue + apart});
            if (other != at.end() && piece_of(n) != piece_of(other->second))
                excused_.emplace_back(static_cast<Index>(n), static_cast<Index>(other->second));
        }
}

void Sterics::place(const Conformation& conformation) {
    for (std::size_t n = 0; n < pieces_.size(); ++n) {
        const Transform& move = conformation.piece(pieces_[n]);
        centres_[n] = move(spheres_[n].centre);
        const auto piece = static_cast<std::size_t>(pieces_[n]);
        for (Index point = model_->first_point[piece]; point < model_->first_point[piece + 1];
             ++point) {
            const auto at = static_cast<std::size_t>(point);
            const Vector position = move(model_->points[at].position);
            x_[at] = position.x;
            y_[at] = position.y;
            z_[at] = position.z;
        }
    }
}

void Sterics::add_pair(double square, double sign, double& energy, Index& pairs) const {
    if (square >= options_.distance * options_.distance) return;
    const double depth = options_.distance - std::sqrt(square);
    energy += sign * options_.strength * depth * depth;
    if (square < options_.hard * options_.hard) pairs += sign > 0 ? 1 : -1;
}

void Sterics::add_pieces(std::size_t a, std::size_t b, Overlap& sum) const {
    const double reach = options_.distance + spheres_[b].radius;
    const Vector centre = centres_[b];
    const double limit = options_.distance * options_.distance;
    const auto one = static_cast<std::size_t>(pieces_[a]), other = static_cast<std::size_t>(pieces_[b]);
    const auto first = static_cast<std::size_t>(model_->first_point[other]),
               last = static_cast<std::size_t>(model_->first_point[other + 1]);
    constexpr std::size_t kBlock = 32;
    std::array<double, kBlock> squares{};
    for (Index point = model_->first_point[one]; point < model_->first_point[one + 1]; ++point) {
        const auto at = static_cast<std::size_t>(point);
        const double x = x_[at], y = y_[at], z = z_[at];
        const Vector away = Vector{x, y, z} - centre;
        if (dot(away, away) >= reach * reach) continue;
        for (std::size_t from = first; from < last; from += kBlock) {
            const std::size_t count = std::min(kBlock, last - from);
            double nearest = limit;
            for (std::size_t n = 0; n < count; ++n) {
                const double dx = x_[from + n] - x, dy = y_[from + n] - y, dz = z_[from + n] - z;
                squares[n] = dx * dx + dy * dy + dz * dz;
                nearest = std::min(nearest, squares[n]);
            }
            if (nearest >= limit) continue;
            for (std::size_t n = 0; n < count; ++n)
                add_pair(squares[n], 1.0, sum.energy, sum.hard_pairs);
        }
    }
}

Overlap Sterics::overlap(const Conformation& conformation) {
    place(conformation);
    Overlap sum;
    for (std::size_t a = 0; a < pieces_.size(); ++a)
        for (std::size_t b = a + 1; b < pieces_.size(); ++b) {
            const Vector away = centres_[a] - centres_[b];
            const double reach = options_.distance + spheres_[a].radius + spheres_[b].radius;
            if (dot(away, away) >= reach * reach) continue;
            // The rows of the smaller piece are tested against the sphere of the larger one.
            if (spheres_[a].radius < spheres_[b].radius)
                add_pieces(a, b, sum);
            else
                add_pieces(b, a, sum);
        }
    for (const auto& [a, b] : excused_) {
        const auto one = static_cast<std::size_t>(a), other = static_cast<std::size_t>(b);
        const double dx = x_[one] - x_[other], dy = y_[one] - y_[other], dz = z_[one] - z_[other];
        add_pair(dx * dx + dy * dy + dz * dz, -1.0, sum.energy, sum.hard_pairs);
    }
    sum.energy = std::max(sum.energy, 0.0);
    return sum;
}

}  // namespace pleat::refine
