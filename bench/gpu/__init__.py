# What scripts/gpu_test runs on a machine with a GPU: one file a subject, one record of all.
