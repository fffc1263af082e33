// pleat: every installed header at once.
#pragma once

#include "pleat/bio/alignment/filter.h"
#include "pleat/bio/alignment/read_alignment.h"
#include "pleat/bio/ensemble/ensemble.h"
#include "pleat/bio/scattering/profile.h"
#include "pleat/bio/structure/selection.h"
#include "pleat/bio/structure/structure.h"
#include "pleat/cluster/cluster.h"
#include "pleat/core/version.h"
#include "pleat/couplings/couplings.h"
#include "pleat/mutual_information/mutual_information.h"
#include "pleat/report/report.h"
#include "pleat/rmsd/rmsd.h"
#include "pleat/saxs/saxs.h"
#include "pleat/saxs/session/profile_session.h"
#include "pleat/select/select.h"
#include "pleat/weights/weights.h"
