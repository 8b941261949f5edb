"""The scripted player: what it says, whom it votes for, and that it is never refused."""

from __future__ import annotations

from typing import Any

import pytest

from league_agents.games.game import HOST, SPECTATOR
from league_agents.games.undercover.game import Undercover
from league_agents.games.undercover.hints import GENERIC, HINTS
from league_agents.games.undercover.own_word import reveals
from league_agents.games.undercover.scripted import Suspect, chosen, next_description, scripted, seems_undercover
from league_agents.games.undercover.words import DEFAULT_PAIRS
from league_agents.kit.draw import Draw
from league_agents.kit.likeness import comparable
from league_agents.turns.match import Match
from league_agents.turns.sequential import SequentialHandoff

GAME = Undercover()


def played(config: dict[str, Any], players: int, seed: int, *, sequential: bool = False) -> Match[Any]:
    """A whole match of scripted players. Any refusal is raised."""
    agents = [f"a{seat}" for seat in range(players)]
    protocol = SequentialHandoff(agents) if sequential else None
    match = Match(GAME, config=config, agent_ids=agents, seed=seed, protocol=protocol)
    while match.active():
        for agent in match.active():
            draw = Draw(seed, f"{agent}/{len(match.events)}")
            match.act(agent, scripted(match.view(agent), match.legal(agent), draw))
    return match


@pytest.mark.parametrize("lang", ["zh", "en"])
def test_every_default_word_has_hints_that_keep_it(lang: str) -> None:
    for pair in DEFAULT_PAIRS[lang]:
        for word, other in (pair, pair[::-1]):
            hints = HINTS[word]
            assert len(hints.shared + hints.own) >= 5
            assert not any(reveals(word, text) for text in hints.shared + hints.own)
            assert not any(reveals(other, text) for text in hints.shared)
            everything = [comparable(text) for text in hints.shared + hints.own + hints.others]
            assert len(set(everything)) == len(everything)
            assert (hints.shared, hints.own, hints.others) == (
                HINTS[other].shared,
                HINTS[other].others,
                HINTS[other].own,
            )


@pytest.mark.parametrize("lang", ["zh", "en"])
@pytest.mark.parametrize("tie", ["no_elimination", "random", "revote"])
def test_scripted_matches_end_without_a_refusal(lang: str, tie: str) -> None:
    reasons = {played({"lang": lang, "tie": tie}, 6, seed).outcome().reason for seed in range(8)}  # type: ignore[union-attr]
    assert reasons <= {"all_undercover_out", "parity", "max_rounds"}


@pytest.mark.parametrize(
    "config",
    [
        {"pair": ["the", "a"], "lang": "en"},
        {"pair": ["我", "见"], "lang": "zh"},
        {"pair": ["1", "2"], "max_description": 1, "lang": "en"},
        {"pair": ["number", "remark"], "lang": "en", "max_description": 12, "tie": "revote"},
        {"pair": ["w-5f1c", "w-77aa"], "allow_abstain": False, "lang": "zh", "know_own_role": True},
    ],
)
@pytest.mark.parametrize("sequential", [False, True])
def test_foreign_words_tight_bounds_and_small_protocols_are_no_reason_for_a_refusal(
    config: dict[str, Any], sequential: bool
) -> None:
    for seed in range(3):
        match = played({**config, "num_undercover": 2, "max_rounds": 12}, 5, seed, sequential=sequential)
        assert match.is_over


def test_without_hints_every_seat_and_round_says_something_else() -> None:
    said: list[str] = []
    for round_num in range(1, 31):
        for seat in range(1, 7):
            text = next_description(
                "w-5f1c",
                said,
                lang="en",
                player_id=seat,
                round_num=round_num,
                most=200,
                others=[],
                draw=Draw(seat, str(round_num)),
            )
            said.append(text)
    assert len({comparable(text) for text in said}) == 180


def test_it_votes_for_whoever_speaks_of_the_other_word() -> None:
    hints = HINTS["violin"]
    others = [
        Suspect(player_id=2, name="b", descriptions=(hints.own[0],)),
        Suspect(player_id=3, name="c", descriptions=(hints.others[0],)),
        Suspect(player_id=4, name="d", descriptions=(hints.shared[0],)),
    ]
    target, reason = chosen("violin", others, others, "en", Draw(1, "vote"))
    assert target == 3
    assert "I vote for number 3" in reason
    assert "Number 2" in reason
    assert "Number 4" in reason
    assert "卧底" not in reason
    assert "我投3号" in chosen("violin", others, others, "zh", Draw(1, "vote"))[1]


def test_silence_is_suspicious_and_earlier_votes_decide_between_equals() -> None:
    quiet = Suspect(player_id=2, name="b", descriptions=("",))
    plain = Suspect(player_id=3, name="c", descriptions=("it is round",))
    blamed = Suspect(player_id=4, name="d", descriptions=("something else",), votes_received=2)
    assert chosen("w-1", [quiet, plain], [quiet, plain], "en", Draw(1, "v"))[0] == 2
    assert chosen("w-1", [plain, blamed], [plain, blamed], "en", Draw(1, "v"))[0] == 4


def test_whoever_seems_to_be_undercover_talks_as_the_others_do() -> None:
    hints = HINTS["cello"]
    others = [Suspect(player_id=n, name="x", descriptions=(hints.others[n],)) for n in (0, 1)]
    assert seems_undercover("cello", others)
    heard = [*hints.shared, hints.others[0], hints.others[1]]
    text = next_description(
        "cello", heard, lang="en", player_id=3, round_num=1, most=200, others=others, draw=Draw(1, "d")
    )
    assert text == hints.others[2]


def test_what_fits_everything_is_said_in_the_matchs_language() -> None:
    assert all(text.isascii() for text in GENERIC["en"])
    assert not any(text.isascii() for text in GENERIC["zh"])


def test_the_same_view_and_draw_give_the_same_action() -> None:
    match = Match(GAME, config={"lang": "zh"}, agent_ids=["a", "b", "c"], seed=4)
    view, legal = match.view("a"), match.legal("a")
    assert scripted(view, legal, Draw(1, "x")) == scripted(view, legal, Draw(1, "x"))
    assert match.view(SPECTATOR)["me"] is None
    assert match.view(HOST)["seed"] == 4
