// Comm: agreeing on errors.
#include "pleat/core/ranks/comm.h"

#include "pleat/core/error.h"

namespace pleat {

void agree_on_error(Comm& comm, const std::exception_ptr& error) {
    if (!comm.any(error != nullptr)) return;
    if (error == nullptr) throw OtherRankFailed();
    std::rethrow_exception(error);
}

}  // namespace pleat
