// Citations: the papers behind superposition by quaternions and all pairs of an ensemble.
#include "pleat/rmsd/citations.h"

namespace pleat::rmsd {

namespace {

const Citation kAllPairs{
    "Hung2011",
    "Hung, Guerquin, Samudrala: GPU-Q-J, a fast method for calculating root mean square deviation "
    "(RMSD) "
    "after optimal superposition. BMC Research Notes 4:97 (2011), doi:10.1186/1756-0500-4-97",
    R"(@article{Hung2011,
  author  = {Hung, Ling-Hong and Guerquin, Michal and Samudrala, Ram},
  title   = {{GPU-Q-J}, a fast method for calculating root mean square deviation ({RMSD}) after optimal superposition},
  journal = {BMC Research Notes},
  volume  = {4},
  pages   = {97},
  year    = {2011},
  doi     = {10.1186/1756-0500-4-97}
}
)"};

const Citation kQuaternions{"Horn1987",
                            "Horn: Closed-form solution of absolute orientation using unit "
                            "quaternions. Journal of the Optical "
                            "Society of America A 4:629 (1987), doi:10.1364/JOSAA.4.000629",
                            R"(@article{Horn1987,
  author  = {Horn, Berthold K. P.},
  title   = {Closed-form solution of absolute orientation using unit quaternions},
  journal = {Journal of the Optical Society of America A},
  volume  = {4},
  number  = {4},
  pages   = {629--642},
  year    = {1987},
  doi     = {10.1364/JOSAA.4.000629}
}
)"};

}  // namespace

std::vector<Citation> citations() { return {kAllPairs, kQuaternions}; }

}  // namespace pleat::rmsd
