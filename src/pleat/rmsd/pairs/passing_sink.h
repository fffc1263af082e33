// Passing sink: hands each tile's values on, and keeps none.
#pragma once

#include <functional>
#include <utility>

#include "pleat/core/loops/sweep.h"

namespace pleat::rmsd {

class PassingSink final : public TileSink {
public:
    /// Takes the values of the tile's rows; valid during the call.
    using Take = std::function<void(Block rows, const float* values)>;
    explicit PassingSink(Take take) : take_(std::move(take)) {}
    bool has(const Tile&) const override { return false; }
    void put(const Tile& tile, View<const float, 2> output) override {
        take_(tile.side[0], output.data);
    }

private:
    Take take_;
};

}  // namespace pleat::rmsd
