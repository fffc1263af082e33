// Citations: the papers behind mutual information and its null models.
#include "pleat/mutual_information/citations.h"

namespace pleat::mutual_information {

namespace {

const Citation kMethod{
    "Waechter2014",
    "Waechter, Jaeger, Thuerck, Weissgraeber, Widmer, Goesele, Hamacher: Using graphics processing "
    "units "
    "to investigate molecular coevolution. Concurrency and Computation 26:1278 (2014), "
    "doi:10.1002/cpe.3074",
    R"(@article{Waechter2014,
  author  = {Waechter, Michael and Jaeger, Kathrin and Thuerck, Daniel and Weissgraeber, Stephanie and Widmer, Sven and Goesele, Michael and Hamacher, Kay},
  title   = {Using graphics processing units to investigate molecular coevolution},
  journal = {Concurrency and Computation: Practice and Experience},
  volume  = {26},
  number  = {6},
  pages   = {1278--1296},
  year    = {2014},
  doi     = {10.1002/cpe.3074}
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

const Citation kMean{"Vinh2010",
                     "Vinh, Epps, Bailey: Information theoretic measures for clusterings "
                     "comparison: variants, properties, "
                     "normalization and correction for chance. J. Mach. Learn. Res. 11:2837 (2010)",
                     R"(@article{Vinh2010,
  author  = {Vinh, Nguyen Xuan and Epps, Julien and Bailey, James},
  title   = {Information theoretic measures for clusterings comparison: variants, properties, normalization and correction for chance},
  journal = {Journal of Machine Learning Research},
  volume  = {11},
  pages   = {2837--2854},
  year    = {2010}
}
)"};

const Citation kVariance{"Romano2014",
                         "Romano, Bailey, Nguyen, Verspoor: Standardized mutual information for "
                         "clustering comparisons: one "
                         "step further in adjustment for chance. ICML 32:1143 (2014)",
                         R"(@inproceedings{Romano2014,
  author    = {Romano, Simone and Bailey, James and Nguyen, Vinh and Verspoor, Karin},
  title     = {Standardized mutual information for clustering comparisons: one step further in adjustment for chance},
  booktitle = {Proceedings of the 31st International Conference on Machine Learning},
  pages     = {1143--1151},
  year      = {2014}
}
)"};

const Citation kRates{
    "Benjamini1995",
    "Benjamini, Hochberg: Controlling the false discovery rate: a practical and powerful approach "
    "to "
    "multiple testing. J. R. Stat. Soc. B 57:289 (1995), doi:10.1111/j.2517-6161.1995.tb02031.x",
    R"(@article{Benjamini1995,
  author  = {Benjamini, Yoav and Hochberg, Yosef},
  title   = {Controlling the false discovery rate: a practical and powerful approach to multiple testing},
  journal = {Journal of the Royal Statistical Society B},
  volume  = {57},
  number  = {1},
  pages   = {289--300},
  year    = {1995},
  doi     = {10.1111/j.2517-6161.1995.tb02031.x}
}
)"};

const Citation kExcess{"Schneidman2003",
                       "Schneidman, Still, Berry, Bialek: Network information and connected "
                       "correlations. Phys. Rev. Lett. "
                       "91:238701 (2003), doi:10.1103/PhysRevLett.91.238701",
                       R"(@article{Schneidman2003,
  author  = {Schneidman, Elad and Still, Susanne and Berry, Michael J. and Bialek, William},
  title   = {Network information and connected correlations},
  journal = {Physical Review Letters},
  volume  = {91},
  pages   = {238701},
  year    = {2003},
  doi     = {10.1103/PhysRevLett.91.238701}
}
)"};

}  // namespace

std::vector<Citation> citations(const Parameters& parameters) {
    std::vector<Citation> list = {kMethod, kCorrection};
    if (parameters.has_exact()) {
        list.push_back(kMean);
        list.push_back(kVariance);
    }
    if (parameters.has_sampled()) list.push_back(kRates);
    if (parameters.order == 3) list.push_back(kExcess);
    return list;
}

}  // namespace pleat::mutual_information
