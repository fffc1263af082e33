// Report: pages of small runs.
#include <gtest/gtest.h>
