#!/bin/bash
# The tasks of a job array share one list of alignments: sbatch array.sh LIST FOLDER
#SBATCH --job-name=pleat
#SBATCH --array=0-2
#SBATCH --cpus-per-task=1
#SBATCH --time=02:00:00
#SBATCH --signal=B:TERM@60
# With GPUs add: #SBATCH --gpus=1
exec "${PLEAT:-pleat}" couplings --list "$1" -o "$2" --share --quiet
