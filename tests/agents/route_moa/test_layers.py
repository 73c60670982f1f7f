from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.agents.route_moa.crews import DOWN, QUERY, Crowd, One, reply

from cuda_gym.agents.route_moa.answers import Answer, Belief, NoAnswer
from cuda_gym.agents.route_moa.layers import Mixture, MixturePlan
from cuda_gym.agents.route_moa.posterior import PosteriorWeights
from cuda_gym.agents.route_moa.ranking import Budget, Preferences
from cuda_gym.agents.route_moa.roster import RouterPrice
from cuda_gym.errors import (
    BudgetExceeded,
    ContextExceeded,
    ModelRefused,
    ModelUnavailable,
    RosterError,
)
from cuda_gym.models.model import DEFAULT_LIMITS, Completion, Limits, Message
from cuda_gym.models.scripted import ScriptedModel

SCORES = PosteriorWeights(self_score=1.0, peer_score=2.0, agreement=1.0)


def different(**more: One) -> Crowd:
    """Three models that never agree, whatever they are shown."""
    ones = {
        name: One(says=reply(f"it is {name}"), prior=prior)
        for name, prior in (("a", 0.6), ("b", 0.5), ("c", 0.4))
    }
    return Crowd(ones | more)


def agreeing(number: int, **more: One) -> Crowd:
    return Crowd({f"m{place}": One(says=reply("42")) for place in range(number)} | more)


def text_of(messages: Sequence[Message]) -> str:
    return "\n".join(message.content for message in messages)


def test_only_the_models_that_are_most_likely_right_are_called() -> None:
    crowd = Crowd({f"m{place}": One(says=reply("42"), prior=place / 10) for place in range(1, 9)})
    crowd.mixture(MixturePlan(width=3)).answer(QUERY)
    assert crowd.called == {"m6": 1, "m7": 1, "m8": 1}


def test_an_answer_on_which_a_layer_agrees_stands_as_it_is() -> None:
    answer = agreeing(3).mixture().answer(QUERY)
    assert (answer.text, answer.route.exit, answer.route.aggregator) == ("42", "unanimity", None)
    assert len(answer.route.layers) == 1


def test_an_answer_that_is_likely_enough_stands_though_others_differ() -> None:
    crowd = different(d=One(says=reply("42"), prior=0.95))
    answer = crowd.mixture().answer(QUERY)
    assert (answer.text, answer.route.exit, answer.route.aggregator) == ("42", "posterior", None)


def test_a_model_is_not_asked_again_to_read_its_own_answer_alone() -> None:
    for crowd in (agreeing(1), different()):
        plan = MixturePlan(exit_posterior=0.95, preferences=Preferences(usd=1000.0))
        answer = crowd.mixture(plan).answer(QUERY)
        assert sum(crowd.called.values()) == 1
        assert len(answer.route.layers) == 1
        assert (answer.route.exit, answer.route.aggregator) == ("one answer", None)


def test_a_single_answer_is_not_unanimity_and_another_model_may_read_it() -> None:
    crowd = Crowd({"a": One(says=reply("41", 0.02), prior=0.6), "b": One(says=reply("42"))})
    answer = crowd.mixture(MixturePlan(width=1, max_layers=2)).answer(QUERY)
    assert [layer.chosen for layer in answer.route.layers] == [("a",), ("b",)]
    assert answer.route.exit == "one answer"


def test_answers_that_differ_to_the_end_are_made_one_by_the_best_ranked_model() -> None:
    answer = different().mixture().answer(QUERY)
    assert [len(layer.proposals) for layer in answer.route.layers] == [3, 3, 3]
    assert (answer.route.exit, answer.route.aggregator) == ("last layer", "a")
    assert answer.text == reply("it is a")


def test_a_later_layer_reads_the_answers_of_the_one_before_without_scores() -> None:
    crowd = Crowd(
        {
            name: One(says=reply(f"it is {name}", 0.8125, [0.3125, 0.4375, 0.6875]))
            for name in ("a", "b", "c")
        }
    )
    crowd.mixture(weights=SCORES).answer(QUERY)
    calls = [call for model in crowd.scripted.values() for call in model.calls]
    later = [text_of(call) for call in calls if "it is b" in text_of(call)]
    assert len(later) == 3 + 3 + 1
    for score in ("0.8125", "0.3125", "0.4375", "0.6875"):
        assert not any(score in text_of(call) for call in calls)


def test_a_score_that_counts_for_nothing_is_neither_asked_for_nor_paid_for() -> None:
    def asked_with(weights: PosteriorWeights) -> tuple[str, Answer]:
        crowd = Crowd({name: One(says=f"it is {name}") for name in "abc"})
        answer = crowd.mixture(MixturePlan(max_layers=2), weights).answer(QUERY)
        return "".join(text_of(call) for m in crowd.scripted.values() for call in m.calls), answer

    said_to_all, plain = asked_with(PosteriorWeights(agreement=1.0))
    assert "score" not in said_to_all
    scoring_said_to_all, scoring = asked_with(PosteriorWeights(agreement=1.0, self_score=1.0))
    assert scoring_said_to_all.count("`self_score` is the probability") == 3
    saved = len(scoring_said_to_all) - len(said_to_all)
    paid, paid_for_scores = (one.route.bill.total for one in (plain, scoring))
    more = paid_for_scores.usage.prompt_tokens - paid.usage.prompt_tokens
    assert more == pytest.approx(saved / 4, abs=7)  # a token rounded up in each of seven calls
    assert more > 3 * 80
    assert paid_for_scores.cost_usd - paid.cost_usd == pytest.approx(more / 1e6)


def test_a_score_that_nobody_asked_for_is_taken_off_the_answer() -> None:
    crowd = Crowd({name: One(says=reply(f"it is {name}", 0.8125)) for name in "abc"})
    weights = PosteriorWeights(agreement=1.0)
    answer = crowd.mixture(MixturePlan(max_layers=2), weights).answer(QUERY)
    assert [proposal.text for proposal in answer.route.layers[0].proposals] == [
        f"it is {name}" for name in "abc"
    ]
    assert answer.text == "it is a"
    calls = [call for model in crowd.scripted.values() for call in model.calls]
    assert not any("0.8125" in text_of(call) for call in calls)


def test_others_are_scored_where_their_own_scores_count_for_nothing() -> None:
    crowd = Crowd({name: One(says=reply(f"it is {name}", None, [0.9, 0.1])) for name in "ab"})
    weights = PosteriorWeights(peer_score=2.0)
    route = crowd.mixture(MixturePlan(max_layers=3), weights).answer(QUERY).route
    first, second, *_ = (text_of(call) for call in crowd.scripted["a"].calls)
    assert "score" not in first
    assert "peer_scores" in second
    assert "self_score" not in second
    assert [layer.judge for layer in route.layers[:2]] == [None, "a"]


def test_scores_that_count_for_nothing_are_asked_for_where_weights_are_to_be_fitted() -> None:
    crowd = Crowd({name: One(says=reply(f"it is {name}", 0.9, [0.9, 0.1])) for name in "ab"})
    plan = MixturePlan(max_layers=3, asks_for_scores=True)
    first, second, _ = crowd.mixture(plan, PosteriorWeights()).answer(QUERY).route.layers
    assert [proposal.self_score for proposal in first.proposals] == [0.9, 0.9]
    assert [proposal.peer_scores for proposal in second.proposals] == [(0.9, 0.1)] * 2
    assert second.beliefs == crowd.score(QUERY)


def test_the_best_rated_model_of_a_layer_judges_the_layer_before() -> None:
    judging = reply("it is a", 0.5, [0.5, 0.99, 0.01])
    crowd = different()
    crowd.scripted["a"] = ScriptedModel("a", [reply("it is a"), judging, "a", "a"])
    answer = crowd.mixture(weights=SCORES).answer(QUERY)
    before, after = (layer.beliefs for layer in answer.route.layers[:2])
    assert [layer.judge for layer in answer.route.layers[:2]] == [None, "a"]
    assert after["b"].mean > before["b"].mean
    assert after["c"].mean < before["c"].mean


def test_a_model_that_was_rated_too_low_gets_its_chance() -> None:
    doubtful = {name: One(says=reply(f"it is {name}", 0.02), prior=0.7) for name in "abc"}
    crowd = Crowd(doubtful | {"low": One(says=reply("42", 0.99), prior=0.3)})
    answer = crowd.mixture(MixturePlan(max_layers=3), SCORES).answer(QUERY)
    assert "low" not in answer.route.layers[0].chosen
    assert answer.route.layers[1].chosen[0] == "low"
    assert answer.text == "42"


def test_every_model_keeps_a_belief_after_every_layer() -> None:
    crowd = different(never=One(prior=0.1))
    route = crowd.mixture().answer(QUERY).route
    assert all(set(layer.beliefs) == {"a", "b", "c", "never"} for layer in route.layers)
    assert route.layers[-1].beliefs["never"] == Belief(mean=0.1, weight=0.0)


def test_a_model_that_the_scorer_does_not_know_is_taken_for_the_mean() -> None:
    crowd = different()

    class Knows:
        def score(self, query: str) -> dict[str, Belief]:
            return {"a": Belief(mean=0.8, weight=9.0), "stranger": Belief(mean=0.1, weight=9.0)}

    mixture = Mixture(crowd.roster, crowd.scripted, Knows(), weights=PosteriorWeights())
    prior = mixture.answer(QUERY).route.prior
    assert prior["c"] == Belief(mean=0.8, weight=0.0)
    assert set(prior) == {"a", "b", "c"}


def test_a_model_that_fails_is_replaced_by_the_next_and_not_asked_again() -> None:
    crowd = different(down=One(prior=0.8, fails=DOWN))
    route = crowd.mixture().answer(QUERY).route
    assert route.layers[0].chosen == ("down", "a", "b")
    assert [proposal.model for proposal in route.layers[0].proposals] == ["a", "b", "c"]
    assert "nobody is there" in route.layers[0].failed["down"]
    assert crowd.called["down"] == 1


def test_a_reply_that_hands_in_no_answer_is_no_answer() -> None:
    crowd = different(empty=One(says='{"answer": "", "self_score": 1.0}', prior=0.99))
    route = crowd.mixture().answer(QUERY).route
    assert "empty" in route.layers[0].failed
    assert [proposal.model for proposal in route.layers[0].proposals] == ["a", "b", "c"]


def test_prose_instead_of_json_is_the_answer_and_has_no_score() -> None:
    answer = Crowd({"a": One(says="I'd say forty-two.", prior=0.95)}).mixture().answer(QUERY)
    assert answer.text == "I'd say forty-two."
    assert answer.route.layers[0].proposals[0].self_score is None


@pytest.mark.parametrize("score", [7, float("nan"), "high", True, -0.1])
def test_a_score_that_is_none_changes_no_belief(score: object) -> None:
    crowd = Crowd({"a": One(says=reply("42", score), prior=0.6)})
    weights = PosteriorWeights(self_score=5.0)
    answer = crowd.mixture(MixturePlan(max_layers=1), weights).answer(QUERY)
    assert answer.text == "42"
    assert answer.route.layers[0].proposals[0].self_score is None
    assert answer.route.layers[0].beliefs["a"].mean == pytest.approx(0.6)


def test_a_roster_with_a_model_that_cannot_be_called_is_refused() -> None:
    crowd = different()
    models = {name: crowd.scripted[name] for name in "ab"}
    with pytest.raises(RosterError, match="'c'"):
        Mixture(crowd.roster, models, crowd, weights=PosteriorWeights())


@pytest.mark.parametrize(
    "wrong",
    [
        {"width": 0},
        {"width": 2, "least_width": 3},
        {"max_layers": 0},
        {"exit_posterior": math.nan},
        {"exit_posterior": -0.5},
    ],
)
def test_a_plan_that_cannot_be_is_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="or more"):
        MixturePlan(**wrong)  # type: ignore[arg-type]


def test_a_query_longer_than_every_context_is_refused_before_any_call() -> None:
    crowd = different()
    with pytest.raises(ContextExceeded, match="8,192"):
        crowd.mixture().answer("word " * 20_000)
    assert crowd.called == {}


def test_only_models_whose_context_holds_the_query_are_called() -> None:
    crowd = different(short=One(says=reply("42"), prior=0.95, context_tokens=2048))
    crowd.mixture().answer("word " * 1500)
    assert set(crowd.called) == {"a", "b", "c"}


def test_answers_are_cut_to_the_context_of_the_model_that_reads_them() -> None:
    ones = {name: One(says=reply(f"{name} " * 3000), prior=0.5) for name in "ab"}
    crowd = Crowd(ones | {"short": One(says=reply("42"), prior=0.6, context_tokens=2000)})
    crowd.mixture().answer(QUERY)
    second = crowd.scripted["short"].calls[1]
    assert "characters left out" in text_of(second)
    assert len(text_of(second)) < 2000 * 4


def test_where_all_models_are_down_the_error_has_the_bill() -> None:
    refused = ModelRefused("no such key")
    crowd = Crowd({"a": One(fails=DOWN), "b": One(fails=(refused,))})
    with pytest.raises(
        ModelUnavailable, match=r"of 2 that were asked\. .*nobody is there; .*no such key\.$"
    ) as caught:
        crowd.mixture().answer(QUERY)
    assert isinstance(caught.value, NoAnswer)
    lines = caught.value.bill.lines
    assert [(line.model, line.billed_for) for line in lines] == [
        ("router", "router"),
        ("a", "failed"),
        ("b", "failed"),
    ]


def test_models_that_go_down_after_the_first_layer_leave_its_best_answer() -> None:
    after_one = (None, *DOWN)
    crowd = Crowd(
        {name: One(says=reply(f"it is {name}"), prior=prior, fails=after_one)
         for name, prior in (("a", 0.3), ("b", 0.6))}
    )  # fmt: skip
    answer = crowd.mixture().answer(QUERY)
    assert (answer.text, answer.route.aggregator) == ("it is b", None)
    assert set(answer.route.layers[1].failed) == {"a", "b"}


def test_an_aggregator_that_fails_is_replaced_by_the_next_in_rank() -> None:
    crowd = different()
    crowd.scripted["a"] = ScriptedModel(
        "a", [reply("it is a")] * 3, fails=(None, None, None, *DOWN)
    )
    route = crowd.mixture().answer(QUERY).route
    assert route.aggregator == "b"
    assert [line.billed_for for line in route.bill.lines[-2:]] == ["failed", "aggregator"]


def test_without_any_aggregator_the_best_proposal_stands() -> None:
    crowd = Crowd(
        {name: One(says=reply(f"it is {name}"), prior=prior, fails=(None, *DOWN))
         for name, prior in (("a", 0.6), ("b", 0.5))}
    )  # fmt: skip
    answer = crowd.mixture(MixturePlan(max_layers=1)).answer(QUERY)
    assert (answer.text, answer.route.aggregator) == ("it is a", None)
    assert answer.route.exit == "last layer"


def test_the_bill_has_the_router_and_every_call_at_its_price() -> None:
    crowd = different()
    crowd.router = RouterPrice(usd_per_cpu_hour=3600.0)
    route = crowd.mixture().answer(QUERY).route
    calls = [proposal.completion for layer in route.layers for proposal in layer.proposals]
    lines = route.bill.lines
    assert [line.billed_for for line in lines] == ["router"] + ["proposer"] * 9 + ["aggregator"]
    assert [line.cost_usd for line in lines[1:-1]] == [call.cost_usd for call in calls]
    assert 0 < lines[0].cost_usd < 1.0
    assert route.bill.cost_usd == pytest.approx(sum(line.cost_usd for line in lines))


def test_latency_is_the_slowest_call_of_each_layer_and_the_router() -> None:
    crowd = different()
    crowd.ones["b"].latency_s = 3.0
    crowd = Crowd(crowd.ones)
    route = crowd.mixture().answer(QUERY).route
    assert [layer.latency_s for layer in route.layers] == [3.0, 3.0, 3.0]
    assert 0 < route.latency_s - (3 * 3.0 + 1.0) < 0.5


@pytest.mark.parametrize("share", [0.2, 0.5, 0.9, 2.0])
def test_no_query_costs_more_than_its_budget(share: float) -> None:
    wordy = "word " * 2000
    crowd = Crowd({name: One(says=reply(f"{name}: {wordy}"), prior=0.6) for name in "abcd"})
    budget = Budget(usd=share * 0.01)
    answer = crowd.mixture(MixturePlan(budget=budget)).answer(QUERY)
    assert answer.route.bill.cost_usd <= share * 0.01
    assert answer.text


def test_a_budget_that_is_used_up_leaves_the_best_answer_so_far() -> None:
    ones = {
        name: One(says=reply(f"it is {name}" + "!" * 2000), prior=prior)
        for name, prior in (("a", 0.4), ("b", 0.6), ("c", 0.5))
    }
    answer = Crowd(ones).mixture(MixturePlan(budget=Budget(usd=0.0025))).answer(QUERY)
    assert len(answer.route.layers) == 1
    assert answer.route.exit == "budget"
    assert answer.text.startswith("it is b")
    assert answer.route.aggregator is None


def test_where_the_budget_has_no_room_for_another_than_those_that_failed_the_error_says_so() -> (
    None
):
    crowd = Crowd({"a": One(fails=DOWN), "b": One(says="b", usd=1e6)})
    plan = MixturePlan(budget=Budget(usd=1.0))
    with pytest.raises(NoAnswer, match=r"of 1 that were asked\. a: .* is too little for another"):
        crowd.mixture(plan).answer(QUERY)
    assert crowd.called == {"a": 1}


def test_a_budget_too_small_for_any_call_is_an_error_and_nothing_is_called() -> None:
    crowd = different()
    with pytest.raises(BudgetExceeded, match="1e-06 US dollars"):
        crowd.mixture(MixturePlan(budget=Budget(usd=1e-6))).answer(QUERY)
    assert crowd.called == {}


def test_layers_end_where_the_time_is_up() -> None:
    crowd = different()
    answer = crowd.mixture(MixturePlan(budget=Budget(seconds=2.5))).answer(QUERY)
    assert len(answer.route.layers) == 2
    assert answer.route.exit == "budget"
    assert answer.route.latency_s <= 2.5


def test_dollars_that_are_dear_make_the_layers_narrow_and_cheap() -> None:
    crowd = Crowd({"dear": One(says="1", prior=0.9, usd=100.0), "cheap": One(says="2", prior=0.8)})
    plan = MixturePlan(preferences=Preferences(usd=100.0), max_layers=1)
    crowd.mixture(plan).answer(QUERY)
    assert crowd.called == {"cheap": 1}


def test_the_same_query_takes_the_same_route() -> None:
    first, second = (different().mixture(weights=SCORES).answer(QUERY) for _ in range(2))
    assert first.text == second.text
    assert first.route.layers == second.route.layers
    assert first.route.bill == second.route.bill


def pieces_of(mixture: Mixture) -> tuple[list[str], Answer]:
    *pieces, answer = mixture.stream(QUERY)
    assert isinstance(answer, Answer)
    return [piece for piece in pieces if isinstance(piece, str)], answer


def test_a_stream_gives_the_pieces_of_the_answer_and_then_the_answer() -> None:
    crowd = different()
    crowd.scripted["a"] = ScriptedModel("a", [*[reply("it is a")] * 3, "all in all it is a"])
    pieces, answer = pieces_of(crowd.mixture())
    assert len(pieces) > 1
    assert "".join(pieces) == answer.text == "all in all it is a"
    assert answer.route.aggregator == "a"
    assert answer.route.bill.lines[-1].billed_for == "aggregator"


def test_a_stream_of_an_answer_that_stands_is_that_answer() -> None:
    pieces, answer = pieces_of(agreeing(3).mixture())
    assert pieces == [answer.text] == ["42"]


def test_an_answer_that_a_limit_cut_says_so_whoever_wrote_it() -> None:
    def cut(*models: str) -> tuple[bool, bool, str | None]:
        ends = {name: "!" * 50 if name in models else "" for name in "ab"}
        answers = []
        for is_stream in (False, True):
            crowd = Crowd({n: One(says=[n, f"all in all it is {n}{ends[n]}"]) for n in "ab"})
            plan = MixturePlan(width=2, max_layers=1, limits=Limits(max_tokens=10))
            mixture = crowd.mixture(plan, PosteriorWeights(agreement=1.0))
            answers.append(pieces_of(mixture)[1] if is_stream else mixture.answer(QUERY))
        whole, streamed = answers
        return whole.is_cut, streamed.is_cut, whole.route.aggregator

    assert cut() == cut("b") == (False, False, "a")
    assert cut("a") == (True, True, "a")


def test_an_answer_that_stands_is_cut_where_its_own_model_was() -> None:
    ones = {"a": One(says="42" + "!" * 50, prior=0.6), "b": One(says="43", prior=0.5)}
    for best, is_cut in (("a", True), ("b", False)):
        ones[best].prior = 0.95
        plan = MixturePlan(width=2, limits=Limits(max_tokens=10))
        mixture = Crowd(ones).mixture(plan)
        assert mixture.answer(QUERY).is_cut == pieces_of(mixture)[1].is_cut == is_cut
        ones[best].prior = 0.5


def test_a_stream_goes_on_to_the_next_model_where_the_first_does_not_begin() -> None:
    crowd = different()
    crowd.scripted["a"] = ScriptedModel(
        "a", [reply("it is a")] * 3, fails=(None, None, None, *DOWN)
    )
    pieces, answer = pieces_of(crowd.mixture())
    assert answer.route.aggregator == "b"
    assert "".join(pieces) == answer.text


def test_a_stream_that_breaks_off_is_an_error_with_the_whole_bill() -> None:
    class Breaks(ScriptedModel):
        def stream(
            self, messages: Sequence[Message], *, limits: Limits = DEFAULT_LIMITS
        ) -> Iterator[str | Completion]:
            yield "all in"
            raise ModelUnavailable("the connection was cut")

    crowd = different()
    crowd.scripted["a"] = Breaks("a", [reply("it is a")] * 3)
    with pytest.raises(NoAnswer, match="broke off after 6 characters") as caught:
        list(crowd.mixture().stream(QUERY))
    lines = caught.value.bill.lines
    assert lines[0].billed_for == "router"
    assert lines[-1].billed_for == "failed"
    assert lines[-1].usage.prompt_tokens > 0
    assert lines[-1].cost_usd > 0


def test_a_stream_without_any_aggregator_is_the_best_proposal() -> None:
    crowd = Crowd({name: One(says=reply(f"it is {name}"), fails=(None, *DOWN)) for name in "ab"})
    pieces, answer = pieces_of(crowd.mixture(MixturePlan(max_layers=1)))
    assert pieces == [answer.text]
    assert answer.route.exit == "last layer"


def test_beliefs_stay_numbers_whatever_models_say() -> None:
    says: list[Any] = ["", "{", reply("1", 1e308), reply("2", 0.0, [1.0]), reply("3", 1.0, [0, 1])]
    crowd = Crowd({f"m{place}": One(says=text) for place, text in enumerate(says)})
    answer = crowd.mixture(MixturePlan(width=5), SCORES).answer(QUERY)
    assert all(
        math.isfinite(belief.mean)
        for layer in answer.route.layers
        for belief in layer.beliefs.values()
    )


SAYINGS = ("", '{"answer": ""}', "prose " * 500, reply("1", 0.9, [0.1]), reply("2", 7), reply("3"))
FAILURES = (None, None, ModelUnavailable("nobody is there"), ModelRefused("no such key"))


@st.composite
def crowds(draw: st.DrawFn) -> Crowd:
    ones = {
        f"m{place}": One(
            says=draw(st.lists(st.sampled_from(SAYINGS), min_size=9, max_size=9)),
            fails=draw(st.lists(st.sampled_from(FAILURES), max_size=4)),
            prior=draw(st.floats(0.05, 0.95)),
            usd=draw(st.sampled_from([0.01, 1.0, 10.0])),
            latency_s=draw(st.sampled_from([0.5, 5.0, 150.0])),
            context_tokens=draw(st.sampled_from([600, 1500, 100_000])),
        )
        for place in range(draw(st.integers(1, 5)))
    }
    return Crowd(ones, router=RouterPrice(usd_per_cpu_hour=draw(st.sampled_from([0.0, 1.0]))))


@settings(max_examples=60, deadline=None)
@given(crowd=crowds(), usd=st.sampled_from([0.0003, 0.003, 0.03]), seconds=st.floats(1.0, 400.0))
def test_whatever_models_do_every_call_is_billed_and_the_budget_holds(
    crowd: Crowd, usd: float, seconds: float
) -> None:
    mixture = crowd.mixture(MixturePlan(budget=Budget(usd=usd, seconds=seconds)), SCORES)
    try:
        answer = mixture.answer(QUERY)
        assert answer.text
        assert answer.route.latency_s <= seconds + 0.5  # the router's own, on a busy machine
        bill = answer.route.bill
    except NoAnswer as error:
        bill = error.bill
    except BudgetExceeded:
        assert crowd.called == {}
        return
    assert bill.cost_usd <= usd
    assert len(bill.lines) == 1 + sum(crowd.called.values())
