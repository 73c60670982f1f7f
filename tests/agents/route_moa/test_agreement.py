"""When two answers say the same, and what follows from it."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cuda_gym.agents.route_moa.agreement import (
    group,
    normalise,
    plurality,
    same_answer,
    shares,
    unanimous,
)

QUICK = settings(max_examples=60, deadline=None)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("1,000", "1000.0"),
        ("$1,250.50", "1250.5"),
        (r"\boxed{\frac{3}{4}}", "0.75"),
        (r"So \boxed{2} is wrong, it is \boxed{x^{2}}.", "x^{2}"),
        ("-.5", "-1/2"),
        ("1e3", "1000"),
        ("(C)", "c"),
        ("C. The mitochondrion", "**C**"),
        ("The answer is (C).", "Thinking...\n\nAnswer: C"),
        ("**Answer:** 42", "The final answer is: 42."),
        ("  Paris ", "paris."),
        (r"$\text{New  York}$", "new york"),
        ("[1,2, 'a']", '[1, 2, "a"]'),
        ("Here it is:\n```python\nx = 1\n```", "```py\nx = 1\n```\nIt works."),
    ],
)
def test_one_result_written_in_two_ways_is_one(first: str, second: str) -> None:
    assert same_answer(first, second)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("1,000", "1,00"),
        ("1000", "1000%"),
        ("0.1", "0.10000000000000000001"),
        ("1/0", "0"),
        ("A", "B"),
        ("'Abc'", "'abc'"),
        ("f(X)", "f(x)"),
        ("Paris", "Not Paris"),
        ("```\nx = 1\n```", "```\n  x = 1\n```"),
        ("```\nX = 1\n```", "```\nx = 1\n```"),
        ("[1, 2]", "(1, 2)"),
    ],
)
def test_different_results_stay_different(first: str, second: str) -> None:
    assert not same_answer(first, second)


@QUICK
@given(st.text(alphabet="aB1,. /\\{}[]()'\"`\n$*:boxedfracanswer is", max_size=60))
def test_every_text_can_be_compared_with_itself(text: str) -> None:
    assert same_answer(text, text)
    assert normalise(text) == normalise(text + "\n")


@QUICK
@given(st.integers(-(10**12), 10**12))
def test_thousands_may_be_set_apart(number: int) -> None:
    assert same_answer(f"{number:,}", f"{number}.000")


@QUICK
@given(st.lists(st.sampled_from("ABC"), min_size=2, max_size=7))
def test_shares_count_the_others_alone(answers: list[str]) -> None:
    assert list(shares(answers)) == [
        (answers.count(answer) - 1) / (len(answers) - 1) for answer in answers
    ]


def test_one_answer_alone_agrees_with_nobody() -> None:
    assert shares(["A"]) == (None,)
    assert not unanimous(["A"])
    assert not unanimous([])


def test_all_answers_alike_are_unanimous() -> None:
    assert unanimous(["A", "(a)", "The answer is A."])
    assert not unanimous(["A", "A", "B"])


def test_most_votes_win_and_a_tie_goes_to_the_first() -> None:
    assert plurality(["A", "B", "B"]) == 1
    assert plurality(["A", "B", "B", "A"]) == 0


def test_weights_decide_between_groups_and_inside_one() -> None:
    assert plurality(["A", "B", "B"], weights=[0.9, 0.1, 0.2]) == 0
    assert plurality(["A", "B", "B"], weights=[0.9, 0.5, 0.6]) == 2


def test_a_vote_needs_an_answer() -> None:
    with pytest.raises(ValueError, match="at least one"):
        plurality([])


def test_a_caller_says_what_the_same_is() -> None:
    def same_length(first: str, second: str) -> bool:
        return len(first) == len(second)

    assert group(["ab", "cd", "e"], same_length) == ((0, 1), (2,))
    assert shares(["ab", "cd"], same_length) == (1.0, 1.0)


def test_answers_are_grouped_by_the_first_so_that_small_steps_do_not_chain() -> None:
    def close(first: str, second: str) -> bool:
        return abs(float(first) - float(second)) <= 1

    assert group(["0", "1", "2", "3"], close) == ((0, 1), (2, 3))
