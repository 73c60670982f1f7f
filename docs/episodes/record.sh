#!/usr/bin/env bash
# Plays the episodes of this folder anew and renders their pages: record.sh path/to/cuda-gym [NAME ...]
set -euo pipefail
program=$(realpath "$(command -v "$1")")
shift
cd "$(dirname "$0")"

declare -A tasks=(
  [success]="core/row_sum"
  [compile_repair]="core/bias_gelu"
  [race]="core/rmsnorm_residual"
  [numerics]="core/softmax"
  [slow_to_fast]="core/transpose"
)
declare -A titles=(
  [success]="A success: the sum of each row"
  [compile_repair]="A repair after a compile error: bias and GELU"
  [race]="A race found: RMSNorm with a barrier missing"
  [numerics]="A numerics failure: softmax of large numbers"
  [slow_to_fast]="A slow kernel made fast: the transpose of a matrix"
)

names=("$@")
if [ ${#names[@]} -eq 0 ]; then names=(success compile_repair race numerics slow_to_fast); fi
mkdir -p records
for name in "${names[@]}"; do
  rm -f "records/$name.jsonl"
  "$program" play --task "${tasks[$name]}" --record "records/$name.jsonl"
  "$program" show "records/$name.jsonl" --markdown --title "${titles[$name]}" >"$name.md"
done
