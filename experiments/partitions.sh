#!/usr/bin/env bash
# How much the choice of the halves matters: Table 2's protocol, five runs, for the halves of ten seeds.
#
#   experiments/partitions.sh DATA_DIR > experiments/results/partitions.csv
set -euo pipefail
data=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
echo "partition,dataset,column,mean,std"
for seed in 0 1 2 3 4 5 6 7 8 9; do
  ubauc reproduce table2 --data "$data" --results "$work/$seed" --partition "$seed" --runs 5 --quiet \
    --datasets usps --algorithms ba-ubauc,solam,opauc,svm-or > /dev/null
  python3 - "$seed" "$work/$seed/table2.json" <<'PY'
import json, statistics, sys
seed, path = sys.argv[1:]
for key, cell in json.load(open(path))["cells"].items():
    dataset, column = key.split("/")
    print(f"{seed},{dataset},{column},{statistics.mean(cell['auc']):.4f},{statistics.stdev(cell['auc']):.4f}")
PY
done
