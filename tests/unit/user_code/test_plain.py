"""Nothing of a user's classes comes through: not their comparison, not their hash, not their pretended type."""

from __future__ import annotations

import math
from collections import OrderedDict, UserDict
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pytest

from league_agents.games.q21.callbacks import Known, end_of_call
from league_agents.games.q21.rules import PRD
from league_agents.kit.violation import COPY_CHANGES
from league_agents.user_code.called import End, UnusableResult
from league_agents.user_code.instance import UserInstance
from league_agents.user_code.instances import InstanceHere
from league_agents.user_code.plain import MOST_BITS, MOST_CHARACTERS, MOST_LEVELS, MOST_VALUES, plain


class EvilText(str):
    """Ends the process when it is compared."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        raise SystemExit(1)

    __hash__ = str.__hash__

    def __str__(self) -> str:
        raise SystemExit(2)


class Liar:
    """Says that it is a dict."""

    @property
    def __class__(self) -> Any:
        raise SystemExit(3)


class EvilMapping(Mapping[str, object]):
    def __getitem__(self, key: str) -> object:
        raise SystemExit(4)

    def __iter__(self) -> Iterator[str]:
        return iter(["answer"])

    def __len__(self) -> int:
        return 1


def exact_types(value: object) -> set[type]:
    found = {type(value)}
    if isinstance(value, dict):
        found |= {kind for pair in value.items() for item in pair for kind in exact_types(item)}
    if isinstance(value, list):
        found |= {kind for item in value for kind in exact_types(item)}
    return found


def test_every_level_is_copied_into_built_in_types() -> None:
    class Number(int):
        pass

    value = OrderedDict([(EvilText("a"), [Number(3), (EvilText("b"), 1.5, True, None)]), ("c", UserDict({"d": "e"}))])
    copied = plain(value)
    assert copied == {"a": [3, ["b", 1.5, True, None]], "c": {"d": "e"}}
    assert exact_types(copied) == {dict, list, str, int, float, bool, type(None)}


def test_an_object_of_another_type_is_known_by_its_name_only() -> None:
    class DataFrame:
        def __eq__(self, other: object) -> bool:
            raise SystemExit(5)

        __hash__ = None  # type: ignore[assignment]

    copied = plain({"questions": DataFrame(), "more": {1, 2}})
    assert isinstance(copied, dict)
    assert type(copied["questions"]).__name__ == "DataFrame"
    assert copied["questions"] != DataFrame
    assert type(copied["more"]).__name__ == "set"
    assert copied["more"] is not set


def test_keys_that_json_would_spell_are_kept_and_others_left_out() -> None:
    assert plain({1: "a", "b": 2, (1, 2): 3, 1.5: 4}) == {"1": "a", "b": 2}


def test_a_reply_says_what_its_copy_lost() -> None:
    called = UserInstance(Careless).call("get_warmup_answer", ({},))
    result = called.result
    assert isinstance(result, dict)
    assert result.pop(COPY_CHANGES) == [
        ["", "a dict whose keys are texts", "tuple of 2", "what stands under it is left out"],
        ["", "a dict whose keys are texts", "7", "it is read as a text"],
        ["", "a dict whose keys UTF-8 can hold, without half a surrogate pair", r"'\ud800'", "it is read as a text"],
        ["more[1].score", "a number that JSON can spell", "nan", "nothing reads it"],
        ["tags", "a value that JSON can spell", "an object of type set", "nothing reads it"],
    ]
    assert list(result) == ["answer", "7", "?", "more", "tags"]


class Careless:
    def get_warmup_answer(self, ctx: Mapping[str, object]) -> object:
        more = [0, {"score": math.nan}]
        return {"answer": "4", (1, 2): 1, 7: 2, "\ud800": 3, "more": more, "tags": {1}, COPY_CHANGES: "mine"}


def test_the_author_is_told_what_the_copy_lost_unless_the_contract_tells_it() -> None:
    replied = UserInstance(Careless).call("get_warmup_answer", ({},)).result
    end = end_of_call("get_warmup_answer", replied, None, Known(rules=PRD))
    assert (end.value, end.noted.failure) == ("4", "")
    assert end.noted.repairs[2:] == [
        "more[1].score: must be a number that JSON can spell, found nan; nothing reads it",
        "tags: must be a value that JSON can spell, found an object of type set; nothing reads it",
    ]
    assert {each.path for each in end.noted.remarks} == {"", "more[1].score", "tags"}

    class Wrong:
        def get_score_feedback(self, ctx: Mapping[str, object]) -> object:
            return {"league_points": 3, "private_score": 90, "breakdown": {1, 2}, "feedback": {}}

    replied = UserInstance(Wrong).call("get_score_feedback", ({},)).result
    remarks = end_of_call("get_score_feedback", replied, None, Known(rules=PRD)).noted.remarks
    assert [each.path for each in remarks].count("breakdown") == 1


def test_a_reply_that_lost_nothing_says_nothing_of_it() -> None:
    class Neat:
        def get_warmup_answer(self, ctx: Mapping[str, object]) -> object:
            return {"answer": "4", COPY_CHANGES: [["a", "b", "c", "d"]]}

    assert UserInstance(Neat).call("get_warmup_answer", ({},)).result == {"answer": "4"}


def test_a_float_that_is_no_number_is_left_for_the_contract_to_refuse() -> None:
    copied = plain([float("nan")])
    assert isinstance(copied, list)
    assert math.isnan(copied[0])


def test_what_is_too_large_or_too_deep_is_refused() -> None:
    with pytest.raises(UnusableResult, match=str(MOST_VALUES)):
        plain(["x"] * (MOST_VALUES + 1))
    nested: list[object] = []
    for _ in range(10_000):
        nested = [nested]
    with pytest.raises(UnusableResult, match=str(MOST_LEVELS)):
        plain(nested)
    endless: dict[str, object] = {}
    endless["again"] = endless
    with pytest.raises(UnusableResult):
        plain(endless)


def test_long_texts_and_integers_of_many_digits_are_bounded() -> None:
    with pytest.raises(UnusableResult, match=str(MOST_CHARACTERS)):
        plain({"a": "x" * MOST_CHARACTERS, "b": "y"})
    copied = plain([2**MOST_BITS, 2**MOST_BITS - 1])
    assert isinstance(copied, list)
    assert (type(copied[0]).__name__, copied[1]) == ("int", 2**MOST_BITS - 1)
    assert type(copied[0]) is not int


@pytest.mark.parametrize(
    ("make_result", "end", "said"),
    [
        (Liar, End.RETURNED, ""),
        (EvilMapping, End.RAISED, "SystemExit: 4"),
        (lambda: {"answer": ["x"] * 100_000}, End.UNUSABLE, f"more than {MOST_VALUES} values"),
    ],
    ids=["liar", "mapping", "flood"],
)
def test_a_result_that_fights_back_fails_its_own_call(make_result: Callable[[], object], end: End, said: str) -> None:
    class Agent:
        def get_warmup_answer(self, ctx: Mapping[str, object]) -> object:
            return make_result()

    called = UserInstance(Agent).call("get_warmup_answer", ({},))
    assert called.end is end
    assert said in called.detail
    assert not isinstance(called.result, dict)


def test_an_exception_without_a_text_of_its_own_is_named() -> None:
    class Mute(Exception):
        def __str__(self) -> str:
            raise SystemExit(6)

    class Agent:
        def get_warmup_answer(self, ctx: Mapping[str, object]) -> object:
            raise Mute

    called = UserInstance(Agent).call("get_warmup_answer", ({},))
    assert (called.end, called.detail) == (End.RAISED, "Mute")


def test_an_agent_of_this_process_that_spoils_its_context_spoils_its_own_copy() -> None:
    class Agent:
        def get_warmup_answer(self, ctx: dict[str, Any]) -> object:
            ctx["dynamic"].clear()
            return {"answer": "4"}

    context = {"dynamic": {"warmup_question": "2 + 2?"}, "service": {}}
    called = InstanceHere(Agent).call("get_warmup_answer", (context,), 5.0)
    assert (called.end, called.result) == (End.RETURNED, {"answer": "4"})
    assert context["dynamic"] == {"warmup_question": "2 + 2?"}
