#!/usr/bin/env bash
# All that wants a GPU, in four parts of less than ten minutes each on an H200 with 16 cores:
#
#   benchmarks/all_on_gpu.sh speed|hacks|tests|worlds FOLDER [PYTHON]
#
# Figures and the logs of test runs go to FOLDER, a line of each step to the terminal. What fails does not keep the
# rest from being run; the status is then 1. KERNELBENCH and CUDA_AGENT may name checkouts to be measured beside.
set -uo pipefail
cd "$(dirname "$0")/.."
if [ $# -lt 2 ]; then sed -n '2,7s/^# \{0,1\}//p' "$0" >&2; exit 2; fi
part=$1 python=${3:-python}
mkdir -p "$2"
folder=$(realpath "$2")
failed=0

step() { # NAME SECONDS COMMAND...: its output goes to a log, and its last lines to the terminal
  local name=$1 most_s=$2 start=$SECONDS status=0
  shift 2
  timeout --signal=INT --kill-after=20 "$most_s" "$@" >"$folder/$name.log" 2>&1 || status=$?
  tail -n "${LINES_TOLD:-12}" "$folder/$name.log"
  echo "=== $name: status $status, $((SECONDS - start)) s"
  [ $status -eq 0 ] || failed=1
}

measure() { local name=$1 most_s=$2; shift 2; step "$name" "$most_s" "$python" "benchmarks/$name.py" --to "$folder" "$@"; }

tests() { local name=$1 most_s=$2; shift 2; step "$name" "$most_s" "$python" -m pytest -q --no-header "$@"; }

case $part in
  speed)
    measure evaluation_speed 260 ${KERNELBENCH:+--kernelbench "$KERNELBENCH"} ${CUDA_AGENT:+--cuda-agent "$CUDA_AGENT"}
    LINES_TOLD=60 measure cuda_throughput 90
    measure cuda_defences 90
    measure cuda_spread 130
    ;;
  hacks)
    tests hacks 560 -m "gpu and not alone" -n 8 tests/hacks tests/honest
    ;;
  tests)
    tests rest 220 -m "gpu and not slow and not alone" -n 6 --ignore tests/hacks --ignore tests/honest tests
    tests alone 170 -m "gpu and alone" tests
    tests slow 180 -m "gpu and slow and not alone" tests
    ;;
  worlds)
    measure cuda_envs 200
    step core_on_gpu 300 "$python" benchmarks/core_on_gpu.py
    ;;
  *)
    echo "There is no part '$part': speed, hacks, tests or worlds." >&2
    exit 2
    ;;
esac
exit $failed
