"""What is said of the measurements, beside their tables."""

from __future__ import annotations

__all__ = ["HEADER", "HOW", "WHENCE"]

HEADER = (
    "`python benchmarks/routing.py` writes this file, `routing.json` and `routing.svg`.\n\n"
    "Language models are not called here: what 15 of them answered to MMLU-Pro and 28 to ZeroEval is recorded, and is "
    "replayed through the mixture and through what it has to beat."
)

WHENCE = (
    "Accuracy: from recorded answers. Dollars: list prices (assumed) times tokens (estimated, characters / 4). Seconds: "
    "modelled from assumed speeds, calls of a layer side by side. *Simulated*: share of questions whose answer "
    "models had a say in that read other answers, by the rules below; with + simulated self and peer scores "
    "steered the route too. Layer 2, 3 and aggregator rows are worth no more than these rules."
)

HOW = """\
- **Code path.** Every row is the package's own code: `Mixture` and the baselines beside it call replaying models, pay
  bills and count time alike.
- **Split.** Half of the questions to train and half to test on, drawn anew for each seed; of LLMRouter its own split. Two
  thirds of the training questions teach a scorer; the other third gives the posterior's weights and all knobs; then all
  of them teach the scorer of the test. Test questions choose nothing.
- **No leaks.** A question that is tested on is not trained on, nor is one that asks the same: by its letters and digits,
  and of MMLU-Pro by the question and the right option. LLMRouter's own split has 119 of its 500 test questions in its training too
  (all of GPQA's and HumanEval's, 19 of MBPP's): here they are questions of the test alone.
- **Knobs.** Tried for one layer: width 1, 2, 3, 5 and the cost of one answer of the best single model counted as 0, 0.001, 0.003,
  0.01, 0.03 of a right answer. For layers: from there on 1 to 3 of them and an exit at 0.6 or 0.8. Seconds count
  for nothing in any of them: where a routed row is slower than a static one, nothing was done against it.
- **Equal cost.** Each of ours has a rival of its own: of single models and of votes of three, the one that is right most often in
  training among those that cost at most 1.1 times what ours costs there, on the same questions. In the test its cost may
  come out otherwise, so both are printed.
- **Recorded.** Which answers models gave, whether they are right, how long they are. Some of the harnesses that recorded MMLU-Pro
  put a random letter where no answer could be read, which then counts as that model's answer. Two questions of
  one text are one.
- **Votes are helped on ZeroEval.** Answers agree where the data's grader takes them as equal: all right ones do, however they are
  written, wrong ones only where their text is the same. So right answers find each other more easily than wrong ones, in
  every vote, routed or not, and the more so the more models vote.
- **Assumed.** Prices and speeds of models, contexts of 32,768 tokens, a core at $0.05 an hour for the router, which is billed
  and timed as the others are (its encodings come from a file here, so their measured seconds are added).
- **Simulated scores.** How well self scores tell right from wrong (0.65) and peer scores follow the judge's own opinion (0.9)
  is invented, as nobody recorded it. What rests on them is marked, and the table of other rules has what becomes of
  it at 0.5, where scores tell nothing.
- **Not in the figures.** Hidden reasoning: o1-mini is billed for the text that it shows, so wherever it is called
  real costs are higher. What sampling adds to Self-MoA. Answers that a better prompt would have got.
- **LLMRouter** records scores alone: answers cannot be compared, so only choices of one model are measured, with outputs of
  1,000 characters assumed for all.
- **Intervals.** Seeds and questions are drawn anew, each by itself, 2,000 times; a question that is tested under several seeds is drawn
  with all its tests, a seed with its split, fit and knobs. Drawn so, intervals are rather too wide than too narrow, which
  would hide a loss: so losses are judged by intervals over questions alone. Five seeds are few: `routing.json` has
  each difference by seed, and both intervals."""
