// Citations: the papers behind profiles, form factors, hydration and ensembles.
#include "pleat/saxs/citations.h"

namespace pleat::saxs {

namespace {

const Citation kProfiles{
    "Antonov2012",
    "Antonov, Andreetta, Hamelryck: An efficient parallel GPU evaluation of small angle X-ray "
    "scattering profiles. BIOINFORMATICS 2012, 102-108",
    R"(@inproceedings{Antonov2012,
  author    = {Antonov, Lubomir D. and Andreetta, Christian and Hamelryck, Thomas},
  title     = {An efficient parallel {GPU} evaluation of small angle {X}-ray scattering profiles},
  booktitle = {Proceedings of the International Conference on Bioinformatics Models, Methods and Algorithms (BIOINFORMATICS)},
  pages     = {102--108},
  year      = {2012}
}
)"};

const Citation kDebye{"Debye1915",
                      "Debye: Zerstreuung von Roentgenstrahlen. Annalen der Physik 351:809 (1915), "
                      "doi:10.1002/andp.19153510606",
                      R"(@article{Debye1915,
  author  = {Debye, P.},
  title   = {Zerstreuung von {R}{\"o}ntgenstrahlen},
  journal = {Annalen der Physik},
  volume  = {351},
  number  = {6},
  pages   = {809--823},
  year    = {1915},
  doi     = {10.1002/andp.19153510606}
}
)"};

const Citation kExcluded{
    "Fraser1978",
    "Fraser, MacRae, Suzuki: An improved method for calculating the contribution "
    "of solvent to the X-ray diffraction pattern of biological molecules. "
    "Journal of Applied Crystallography 11:693 (1978), "
    "doi:10.1107/S0021889878014296",
    R"(@article{Fraser1978,
  author  = {Fraser, R. D. B. and MacRae, T. P. and Suzuki, E.},
  title   = {An improved method for calculating the contribution of solvent to the {X}-ray diffraction pattern of biological molecules},
  journal = {Journal of Applied Crystallography},
  volume  = {11},
  number  = {6},
  pages   = {693--694},
  year    = {1978},
  doi     = {10.1107/S0021889878014296}
}
)"};

const Citation kHydration{"SchneidmanDuhovny2013",
                          "Schneidman-Duhovny, Hammel, Tainer, Sali: Accurate SAXS profile "
                          "computation and its assessment "
                          "by contrast variation experiments. Biophysical Journal 105:962 (2013), "
                          "doi:10.1016/j.bpj.2013.07.020",
                          R"(@article{SchneidmanDuhovny2013,
  author  = {Schneidman-Duhovny, Dina and Hammel, Michal and Tainer, John A. and Sali, Andrej},
  title   = {Accurate {SAXS} profile computation and its assessment by contrast variation experiments},
  journal = {Biophysical Journal},
  volume  = {105},
  number  = {4},
  pages   = {962--974},
  year    = {2013},
  doi     = {10.1016/j.bpj.2013.07.020}
}
)"};

const Citation kCoarse{
    "Stovgaard2010",
    "Stovgaard, Andreetta, Ferkinghoff-Borg, Hamelryck: Calculation of accurate "
    "small angle X-ray scattering curves from coarse-grained protein models. BMC "
    "Bioinformatics 11:429 (2010), doi:10.1186/1471-2105-11-429",
    R"(@article{Stovgaard2010,
  author  = {Stovgaard, Kasper and Andreetta, Christian and Ferkinghoff-Borg, Jesper and Hamelryck, Thomas},
  title   = {Calculation of accurate small angle {X}-ray scattering curves from coarse-grained protein models},
  journal = {BMC Bioinformatics},
  volume  = {11},
  pages   = {429},
  year    = {2010},
  doi     = {10.1186/1471-2105-11-429}
}
)"};

const Citation kReweighting{"Rozycki2011",
                            "Rozycki, Kim, Hummer: SAXS ensemble refinement of ESCRT-III CHMP3 "
                            "conformational transitions. Structure 19:109 (2011), "
                            "doi:10.1016/j.str.2010.10.006",
                            R"(@article{Rozycki2011,
  author  = {R{\'o}{\.z}ycki, Bartosz and Kim, Youngchan C. and Hummer, Gerhard},
  title   = {{SAXS} ensemble refinement of {ESCRT-III CHMP3} conformational transitions},
  journal = {Structure},
  volume  = {19},
  number  = {1},
  pages   = {109--116},
  year    = {2011},
  doi     = {10.1016/j.str.2010.10.006}
}
)"};

}  // namespace

std::vector<Citation> citations(const Result& result) {
    std::vector<Citation> all = {kProfiles, kDebye};
    if (result.model == Resolution::all_atom)
        all.push_back(kExcluded);
    else
        all.push_back(kCoarse);
    if (result.has_fit) all.push_back(kHydration);
    if (!result.ensemble.scan.empty()) all.push_back(kReweighting);
    return all;
}

}  // namespace pleat::saxs
