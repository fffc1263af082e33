// Citations: the papers behind the couplings engine.
#include "pleat/couplings/citations.h"

namespace pleat::couplings {

namespace {

const Citation kObjective{
    "Seemayer2014",
    "Seemayer, Gruber, Soeding: CCMpred - fast and precise prediction of protein residue-residue "
    "contacts from correlated mutations. Bioinformatics 30:3128 (2014), doi:10.1093/bioinformatics/"
    "btu500",
    R"(@article{Seemayer2014,
  author  = {Seemayer, Stefan and Gruber, Markus and S{\"o}ding, Johannes},
  title   = {{CCMpred} - fast and precise prediction of protein residue-residue contacts from correlated mutations},
  journal = {Bioinformatics},
  volume  = {30},
  number  = {21},
  pages   = {3128--3130},
  year    = {2014},
  doi     = {10.1093/bioinformatics/btu500}
}
)"};

const Citation kPseudolikelihood{
    "Ekeberg2013",
    "Ekeberg, Loevkvist, Lan, Weigt, Aurell: Improved contact prediction in proteins: using "
    "pseudolikelihoods to infer Potts models. Phys. Rev. E 87:012707 (2013), doi:10.1103/PhysRevE."
    "87.012707",
    R"(@article{Ekeberg2013,
  author  = {Ekeberg, Magnus and L{\"o}vkvist, Cecilia and Lan, Yueheng and Weigt, Martin and Aurell, Erik},
  title   = {Improved contact prediction in proteins: using pseudolikelihoods to infer {Potts} models},
  journal = {Physical Review E},
  volume  = {87},
  pages   = {012707},
  year    = {2013},
  doi     = {10.1103/PhysRevE.87.012707}
}
)"};

const Citation kCorrection{
    "Dunn2008",
    "Dunn, Wahl, Gloor: Mutual information without the influence of phylogeny or entropy "
    "dramatically "
    "improves residue contact prediction. Bioinformatics 24:333 (2008), doi:10.1093/bioinformatics/"
    "btm604",
    R"(@article{Dunn2008,
  author  = {Dunn, S. D. and Wahl, L. M. and Gloor, G. B.},
  title   = {Mutual information without the influence of phylogeny or entropy dramatically improves residue contact prediction},
  journal = {Bioinformatics},
  volume  = {24},
  number  = {3},
  pages   = {333--340},
  year    = {2008},
  doi     = {10.1093/bioinformatics/btm604}
}
)"};

}  // namespace

std::vector<Citation> citations(const Parameters& parameters) {
    std::vector<Citation> list = {kObjective, kPseudolikelihood};
    if (parameters.apc) list.push_back(kCorrection);
    return list;
}

}  // namespace pleat::couplings
