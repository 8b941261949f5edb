"""A model that is of no use is told once, and its return too."""

from __future__ import annotations

from datetime import timedelta

import pytest

from league_agents.app.outages import Outages
from league_agents.kit.errors import ModelUnavailable
from league_agents.kit.model_work import ModelWorkUse, Why
from league_agents.llm.exchange import Finish, OverBudget, Reply, Request
from league_agents.llm.port import Prompt, Purpose, Usage

REQUEST = Request(
    prompt=Prompt(system="s", user="u", purpose=Purpose(match_id="m", callback="get_guess", step="guess")),
    schema=None,
    max_output_tokens=10,
    timeout=timedelta(seconds=1),
)


class Moody:
    """Fails for ``-``; else answers, of which nothing (``0``) or something (``+``) can be used."""

    name = "openai:tiny"

    def __init__(self, moods: str) -> None:
        self._moods = iter(moods)
        self.judged: list[ModelWorkUse] = []

    def exchange(self, request: Request) -> Reply:
        if next(self._moods) == "-":
            raise ModelUnavailable(f"{self.name}: nobody\nlistens")
        return Reply(
            text="here",
            finish=Finish.COMPLETE,
            usage=Usage(),
            model=self.name,
            judge=lambda work, why: self.judged.append(work),
        )


def heard(moods: str) -> list[str]:
    """What is told of a model in these moods: ``-`` silent, ``0`` useless, ``+`` well again."""
    told: list[str] = []

    def failed(text: str) -> None:
        assert "\n" not in text
        assert "others or code stand in for it" in text
        silent = text.startswith("openai:tiny does not answer: nobody listens")
        told.append("-" if silent else "0")
        assert silent or "nothing of it can be used: the reply is not in the form" in text

    model = Moody(moods)
    backend = Outages(failed=failed, recovered=lambda _: told.append("+")).watched(model)
    for mood in moods:
        if mood == "-":
            with pytest.raises(ModelUnavailable):
                backend.exchange(REQUEST)
            continue
        reply = backend.exchange(REQUEST)
        assert reply.text == "here"
        reply.judge(*((ModelWorkUse.REPLACED, Why.MALFORMED) if mood == "0" else (ModelWorkUse.USED, None)))
    assert len(model.judged) == sum(mood != "-" for mood in moods), "whoever keeps the books hears it too"
    return told


@pytest.mark.parametrize(
    ("moods", "told"),
    [("+++", ""), ("---", "-"), ("+--++", "-+"), ("-+-+", "-+-+"), ("0+0+", ""), ("000000", "0"), ("00+0", "0+"),
     ("00-0+", "0-+0+"), ("-00+", "-+0+"), ("0000-++00", "0-+0")],
)  # fmt: skip
def test_a_model_that_is_of_no_use_is_told_once_and_its_return_too(moods: str, told: str) -> None:
    assert "".join(heard(moods)) == told


def test_one_model_s_silence_is_not_another_s() -> None:
    failed: list[str] = []
    outages = Outages(failed=failed.append, recovered=failed.append)
    for moods in ("-", "-"):
        with pytest.raises(ModelUnavailable):
            outages.watched(Moody(moods)).exchange(REQUEST)
    assert len(failed) == 2


def test_a_limit_of_one_s_own_is_no_silence_of_the_model() -> None:
    class Forbidden(Moody):
        def exchange(self, request: Request) -> Reply:
            raise OverBudget("the limit of 3 calls per day is reached")

    failed: list[str] = []
    with pytest.raises(OverBudget):
        Outages(failed=failed.append, recovered=failed.append).watched(Forbidden("")).exchange(REQUEST)
    assert failed[0].startswith("openai:tiny is not asked: the limit of 3 calls per day is reached; ")
