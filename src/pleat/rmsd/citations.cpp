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

const Citation kDistances{
    "Cohen1980",
    "Cohen, Sternberg: On the prediction of protein structure: the significance of the "
    "root-mean-square deviation. Journal of Molecular Biology 138:321 (1980), "
    "doi:10.1016/0022-2836(80)90289-2",
    R"(@article{Cohen1980,
  author  = {Cohen, Fred E. and Sternberg, Michael J. E.},
  title   = {On the prediction of protein structure: the significance of the root-mean-square deviation},
  journal = {Journal of Molecular Biology},
  volume  = {138},
  number  = {2},
  pages   = {321--333},
  year    = {1980},
  doi     = {10.1016/0022-2836(80)90289-2}
}
)"};

const Citation kTmScore{
    "Zhang2004",
    "Zhang, Skolnick: Scoring function for automated assessment of protein structure template "
    "quality. Proteins 57:702 (2004), doi:10.1002/prot.20264",
    R"(@article{Zhang2004,
  author  = {Zhang, Yang and Skolnick, Jeffrey},
  title   = {Scoring function for automated assessment of protein structure template quality},
  journal = {Proteins: Structure, Function, and Bioinformatics},
  volume  = {57},
  number  = {4},
  pages   = {702--710},
  year    = {2004},
  doi     = {10.1002/prot.20264}
}
)"};

const Citation kGdt{
    "Zemla2003",
    "Zemla: LGA: a method for finding 3D similarities in protein structures. Nucleic Acids "
    "Research 31:3370 (2003), doi:10.1093/nar/gkg571",
    R"(@article{Zemla2003,
  author  = {Zemla, Adam},
  title   = {{LGA}: a method for finding {3D} similarities in protein structures},
  journal = {Nucleic Acids Research},
  volume  = {31},
  number  = {13},
  pages   = {3370--3374},
  year    = {2003},
  doi     = {10.1093/nar/gkg571}
}
)"};

}  // namespace

std::vector<Citation> citations(Metric metric) {
    switch (metric) {
        case Metric::drmsd: return {kDistances};
        case Metric::tm: return {kTmScore, kQuaternions};
        case Metric::gdt_ts: return {kGdt, kTmScore, kQuaternions};
        case Metric::rmsd: break;
    }
    return {kAllPairs, kQuaternions};
}

}  // namespace pleat::rmsd
