#!/bin/bash
# All GPUs of one machine, or its cores, for one list of alignments: sbatch one_machine.sh LIST FOLDER
#SBATCH --job-name=pleat
#SBATCH --nodes=1 --ntasks=1 --cpus-per-task=2
#SBATCH --time=02:00:00
#SBATCH --signal=B:TERM@60
# With GPUs add: #SBATCH --gpus=2
exec "${PLEAT:-pleat}" couplings --list "$1" -o "$2" --quiet
