// Citations: the papers that runs cite, by key (citations.bib).
#pragma once

#include <string>
#include <string_view>

namespace pleat {

/// A paper on which a result is based.
struct Citation {
    std::string key;     ///< BibTeX key
    std::string text;    ///< one line for people
    std::string bibtex;  ///< whole entry for cite.bib
};

/// The paper with this key in citations.bib. Throws std::logic_error if there is none.
Citation find_citation(std::string_view key);

}  // namespace pleat
