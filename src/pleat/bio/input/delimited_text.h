// Delimited text: the records and cells of a table with commas, semicolons or tabs, and quotes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "pleat/core/view.h"

namespace pleat {

/// Takes records of a text, one after another; line ends in quotes are part of a cell.
class RecordReader {
public:
    explicit RecordReader(std::string_view text) : text_(text) {}

    /// Returns false at the end of the text. `record`: without its line end; `line`: where it
    /// begins, from 1.
    bool next(std::string_view& record, std::string_view& end, Index& line);

private:
    std::string_view text_;
    std::size_t at_ = 0;
    Index line_ = 1;
};

/// The cells of a record, as written.
void split_record(std::string_view record, char separator, std::vector<std::string_view>& cells);

/// The text of a cell: without the quotes and blanks around it.
std::string cell_text(std::string_view cell);

}  // namespace pleat
