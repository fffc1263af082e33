// Order search: which orders of groups of atoms bring two frames closest when all are superposed.
#pragma once

#include <cstdint>
#include <vector>

#include "pleat/rmsd/measures/covariance_root.h"

namespace pleat::rmsd {

/// For each group the number of its order.
using OrderChoice = std::vector<std::int32_t>;
/// [group][order][position], positions among the atoms of a frame
using OrderGroups = std::vector<std::vector<std::vector<Index>>>;

/// Choices that may be the best of all; those that are not listed are proven to be worse.
struct OrderCandidates {
    std::vector<OrderChoice> choices;
    bool is_proven = true;
};

/// Finds the choices within `margin` (of the sum of products that superposition reaches) of the
/// best one for frames p and q [axis, atom], which are centred.
///
/// Few choices are tried one by one. Else the rotation of the atoms in no group, and that of all as
/// they are named, are followed: each group takes its best order, all are superposed, until nothing
/// changes. Let U be the rotation found, N = U R, and V a rotation by the angle t that leads from U
/// to that of another choice. Then
///
///     tr(V N) <= tr N - (1 - cos t)(tr N - s),   s: largest eigenvalue of N
///     tr(V D) <= cos t tr D + (1 - cos t)|sym D| + sin t |axial D|
///
/// where D = U (R_other - R_chosen) of one group. The second, summed over groups where it is above
/// 0, must outweigh the first, which bounds t; and up to this t few groups can change their order
/// (hydrogens and flips are small beside the molecule). These are tried together, up to kMaxOrders
/// choices; beyond them nothing is proven.
OrderCandidates find_orders(const OrderGroups& groups, const std::vector<Index>& others,
                            const double* p, const double* q, Index atoms, double margin);

}  // namespace pleat::rmsd
