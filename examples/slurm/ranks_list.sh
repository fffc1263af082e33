#!/bin/bash
# One list of alignments on several machines, a rank on each: sbatch ranks_list.sh LIST FOLDER
#SBATCH --job-name=pleat
#SBATCH --ntasks=2 --cpus-per-task=1
#SBATCH --time=02:00:00
#SBATCH --signal=B:TERM@60
# With GPUs add: #SBATCH --gpus-per-task=1
exec srun --mpi=pmix "${PLEAT:-pleat}" couplings --list "$1" -o "$2" --quiet
