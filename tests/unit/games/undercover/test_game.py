"""Undercover as it is played: the deal, the rounds, the check, the end (arena 3.2)."""

from __future__ import annotations

from typing import Any

import pytest

from league_agents.games.game import ALL, HOST, SPECTATOR, ForfeitCause, IllegalAction, Mode
from league_agents.games.registry import game_of
from league_agents.games.undercover.game import Undercover
from league_agents.games.undercover.state import RoundPhase, WordRole
from league_agents.games.undercover.words import DEFAULT_PAIRS
from league_agents.kit.draw import Draw
from league_agents.kit.errors import ConfigError

GAME = Undercover()
SIX = [f"a{seat}" for seat in range(1, 7)]


def test_the_registry_gives_the_game_by_its_code() -> None:
    assert game_of("undercover").code == "undercover"


def test_pair_swap_and_seats_are_drawn_under_their_own_labels() -> None:
    for seed in range(20):
        state = GAME.setup({"lang": "zh", "num_undercover": 2}, SIX, seed)
        pair = Draw(seed, "pair").choice(DEFAULT_PAIRS["zh"])
        swapped = Draw(seed, "swap").below(2) == 1
        assert tuple(state.deal.words.values()) == (pair[::-1] if swapped else pair)
        hidden = set(Draw(seed, "roles").sample(range(1, 7), 2))
        assert {p.player_id for p in state.deal.players if p.role is WordRole.UNDERCOVER} == hidden
        assert {p.word for p in state.deal.players if p.player_id in hidden} == {state.deal.words[WordRole.UNDERCOVER]}


def test_without_swap_the_first_word_is_always_the_civilians() -> None:
    def civilians(swap: bool) -> set[str]:
        config = {"pair": ["wolf", "fox"], "swap_pair": swap}
        return {GAME.setup(config, SIX, seed).deal.words[WordRole.CIVILIAN] for seed in range(10)}

    assert civilians(False) == {"wolf"}
    assert civilians(True) == {"wolf", "fox"}


def test_the_opening_tells_the_table_and_each_word_to_its_player_alone(table: Any) -> None:
    started, *dealt, first_round = table().events
    assert (started.kind, started.visible_to, started.data["num_undercover"]) == ("game_started", ALL, 1)
    assert [(event.visible_to, event.data["word"]) for event in dealt] == [
        (("a1",), table().word(1)),
        (("a2",), table().word(2)),
        (("a3",), table().word(3)),
        (("a4",), table().word(4)),
    ]
    assert not any("role" in event.data for event in dealt)
    assert (first_round.kind, first_round.data) == ("round_started", {"round": 1, "order": [1, 2, 3, 4]})


def test_counts_and_roles_are_told_only_where_the_configuration_says_so(table: Any) -> None:
    quiet = table(announce_counts=False)
    assert "num_undercover" not in quiet.events[0].data
    assert "num_undercover" not in quiet.view(1)
    told = table(know_own_role=True)
    assert told.events[3].data["role"] == "undercover"
    assert told.view(3)["me"]["role"] == "undercover"
    assert "role" not in told.view(3)["players"][0]


def test_all_describe_then_all_vote_then_the_next_round_begins(table: Any) -> None:
    t = table()
    assert GAME.pending(t.state) == ("a1", "a2", "a3", "a4")
    assert GAME.phase_mode(t.state) is Mode.SPOKEN
    t.say(2)  # the protocol decides on the order; the game takes whoever owes one
    assert GAME.pending(t.state) == ("a1", "a3", "a4")
    t.say_all()
    assert (t.state.phase, GAME.phase_mode(t.state)) == (RoundPhase.VOTING, Mode.SEALED)
    assert GAME.pending(t.state) == ("a1", "a2", "a3", "a4")
    t.vote_all({1: 2, 2: 1, 3: 1, 4: 2})
    assert (t.state.phase, t.state.round, t.last("votes_revealed").data["how"]) == (RoundPhase.DESCRIPTION, 2, "tie")


def test_a_description_is_announced_before_the_next_speaker_is_asked(table: Any) -> None:
    t = table()
    t.say(1, "  grey and\nhungry ")
    event = t.events[-1]
    assert (event.kind, event.visible_to, event.text) == ("description", ALL, "a1: grey and hungry")
    assert event.data == {"round": 1, "player_id": 1, "name": "a1", "description": "grey and\nhungry"}
    assert t.view(2)["current_descriptions"] == [event.data]
    assert t.view(2)["players"][0]["description_history"] == ["grey and\nhungry"]


# Arena 3.4, the vectors: four players, number 3 is undercover.
def test_three_votes_against_the_undercover_player_let_the_civilians_win(table: Any) -> None:
    t = table()
    t.round({1: 3, 2: 3, 3: 1, 4: 2})
    outcome = GAME.outcome(t.state)
    assert outcome is not None
    assert (outcome.winners, outcome.reason) == (("a1", "a2", "a4"), "all_undercover_out")
    assert outcome.scores == {"a1": 1.0, "a2": 1.0, "a3": 0.0, "a4": 1.0}
    assert outcome.metrics == {
        "rounds": 1,
        "civilian_votes_on_undercover": 0.6667,
        "first_undercover_out_round": 1,
        "blanks": 0,
        "abstentions": 0,
        "forfeits": {},
    }
    assert GAME.pending(t.state) == ()


def test_a_tie_leaves_everybody_in_and_a_second_round_begins(table: Any) -> None:
    t = table()
    t.round({1: 2, 2: 1, 3: 1, 4: 2})
    assert (t.state.round, t.state.living, GAME.outcome(t.state)) == (2, (1, 2, 3, 4), None)
    assert t.last("votes_revealed").data["tally"] == {"1": 2, "2": 2}


def test_one_against_one_is_won_by_the_undercover_side(table: Any) -> None:
    t = table()
    t.round({1: 2, 2: 1, 3: 1, 4: 1})
    assert (t.state.living, GAME.outcome(t.state)) == ((2, 3, 4), None)
    t.round({2: 4, 3: 2, 4: 2})
    outcome = GAME.outcome(t.state)
    assert outcome is not None
    assert (outcome.winners, outcome.reason) == (("a3",), "parity")


def test_the_dead_of_the_winning_side_win_too(table: Any) -> None:
    t = table(6, (5, 6))
    t.round({1: 5, 2: 5, 3: 5, 4: 5, 5: 1, 6: 1})
    t.round({1: 2, 2: 1, 3: 1, 4: 1, 6: 1})
    t.round({2: 3, 3: 2, 4: 2, 6: 2})
    t.round({3: 4, 4: 3, 6: 3})
    outcome = GAME.outcome(t.state)
    assert outcome is not None
    assert (outcome.winners, outcome.reason) == (("a5", "a6"), "parity")


def test_the_last_round_without_a_winner_is_the_undercover_sides(table: Any) -> None:
    t = table(max_rounds=2)
    t.round(dict.fromkeys((1, 2, 3, 4)))
    assert t.last("votes_revealed").data["how"] == "no_votes"
    assert t.last("votes_revealed").data["eliminated"] is None
    t.round(dict.fromkeys((1, 2, 3, 4)))
    outcome = GAME.outcome(t.state)
    assert outcome is not None
    assert (outcome.reason, outcome.metrics["abstentions"]) == ("max_rounds", 8)


def test_finding_the_undercover_player_in_the_last_round_still_counts(table: Any) -> None:
    t = table(max_rounds=1)
    t.round({1: 3, 2: 3, 3: 1, 4: 3})
    assert t.state.winner is WordRole.CIVILIAN


def test_a_tie_may_be_broken_by_lot(table: Any) -> None:
    t = table(5, (3,), tie="random")
    t.round({1: 2, 2: 1, 3: 2, 4: 1, 5: None})
    data = t.last("votes_revealed").data
    drawn = Draw(t.seed, "tie:1").choice((1, 2))
    assert (data["how"], data["eliminated"]) == ("random", drawn)
    assert drawn not in t.state.living


def test_a_tie_may_lead_to_one_more_vote_between_the_tied(table: Any) -> None:
    t = table(5, (3,), tie="revote")
    t.round({1: 2, 2: 1, 3: 2, 4: 1, 5: None})
    first = t.last("votes_revealed").data
    assert (first["how"], first["candidates"], first["eliminated"]) == ("revote", [1, 2], None)
    assert t.last("vote_opened").data == {"round": 1, "ballot": 2, "candidates": [1, 2]}
    assert GAME.pending(t.state) == ("a1", "a2", "a3", "a4", "a5")
    assert GAME.info(t.state, "a4").stage == "revote"
    choices = GAME.legal(t.state, "a1")[0].schema["properties"]["vote_number"]["enum"]
    assert choices == [2, None]  # a tied player cannot vote for itself
    t.vote_all({1: 2, 2: 1, 3: 1, 4: 1, 5: 1})
    assert (t.state.round, t.state.living) == (2, (2, 3, 4, 5))
    assert [entry["ballot"] for entry in t.view(2)["all_votes_history"]] == [1, 2]
    assert t.view(2)["elimination_history"] == [{"round": 1, "player_id": 1, "votes": 4, "how": "plurality"}]


@pytest.mark.parametrize("second", [{1: 2, 2: 1, 3: 2, 4: 1, 5: None}, dict.fromkeys((1, 2, 3, 4, 5))])
def test_after_a_second_tie_or_no_votes_nobody_is_out(table: Any, second: dict[int, int | None]) -> None:
    t = table(5, (3,), tie="revote")
    t.round({1: 2, 2: 1, 3: 2, 4: 1, 5: None})
    t.vote_all(second)
    assert (t.state.round, t.state.living, t.state.ballot, t.state.candidates) == (2, (1, 2, 3, 4, 5), 1, ())


def test_votes_in_any_order_of_arrival_are_revealed_in_seat_order(table: Any) -> None:
    votes = {1: 2, 2: 1, 3: 1, 4: None}
    found = []
    for order in ((1, 2, 3, 4), (4, 2, 3, 1), (3, 1, 4, 2)):
        t = table()
        t.say_all()
        for seat in order:
            t.vote(seat, votes[seat])
        revealed = t.last("votes_revealed")
        assert [vote["voter_id"] for vote in revealed.data["votes"]] == [1, 2, 3, 4]
        found.append((GAME.dump(t.state), revealed))
    assert found[0] == found[1] == found[2]


def test_the_reasons_stay_with_their_voters_until_the_end(table: Any) -> None:
    t = table()
    t.say_all()
    t.vote(1, 3, "a secret thought")
    assert (t.events[-1].kind, t.events[-1].visible_to) == ("vote_accepted", ("a1",))
    t.vote_all({2: 4, 3: 4, 4: 3})
    assert "secret" not in str(t.last("votes_revealed"))
    assert "secret" not in str(t.view(2))
    assert t.view(1)["me"]["votes_cast"][0]["reason"] == "a secret thought"
    t.round({1: 3, 2: 3, 3: 4, 4: 3})
    assert t.view(2)["all_votes_history"][0]["votes"][0]["reason"] == "a secret thought"


def test_a_forfeited_description_is_silence_and_a_forfeited_vote_an_abstention(table: Any) -> None:
    t = table()
    t.forfeit(1, ForfeitCause.DISCONNECTED)
    assert t.events[-1].data == {
        "round": 1,
        "player_id": 1,
        "name": "a1",
        "description": "",
        "cause": "disconnected",
    }
    t.say_all()
    t.vote_all({2: 3, 3: 2, 4: 3})
    t.forfeit(1, ForfeitCause.INVALID)
    assert GAME.dump(t.state)["all_votes_history"][0]["votes"][0] == {
        "voter_id": 1,
        "target_id": None,
        "voter_name": "a1",
        "target_name": None,
        "reason": "",
        "cause": "invalid",
    }
    outcome = GAME.outcome(t.state)
    assert outcome is not None
    assert outcome.metrics["forfeits"] == {"invalid": 1, "disconnected": 1}
    assert outcome.metrics["blanks"] == 1


def test_forfeiting_what_is_not_owed_is_refused(table: Any) -> None:
    t = table()
    t.say(1)
    with pytest.raises(IllegalAction) as caught:
        GAME.forfeit(t.state, "a1", ForfeitCause.TIMEOUT)
    assert caught.value.code == "not_pending"


def test_the_start_of_a_rotating_order_moves_by_one_living_seat(table: Any) -> None:
    t = table(6, (6,), speaking_order="rotate")
    assert t.state.order == (1, 2, 3, 4, 5, 6)
    t.round({1: 2, 2: 1, 3: 2, 4: 2, 5: 2, 6: 2})
    assert t.state.order == (3, 4, 5, 6, 1)  # seat 2 is out
    t.round(dict.fromkeys((1, 3, 4, 5, 6)))
    assert t.state.order == (4, 5, 6, 1, 3)
    t.round(dict.fromkeys((1, 3, 4, 5, 6)))
    t.round(dict.fromkeys((1, 3, 4, 5, 6)))
    assert t.state.order == (6, 1, 3, 4, 5)
    t.round(dict.fromkeys((1, 3, 4, 5, 6)))
    assert t.state.order == (1, 3, 4, 5, 6)


def test_a_random_order_is_drawn_from_the_living_every_round(table: Any) -> None:
    t = table(6, (6,), speaking_order="random")
    assert t.state.order == tuple(Draw(t.seed, "order:1").shuffled((1, 2, 3, 4, 5, 6)))
    assert GAME.pending(t.state) == tuple(f"a{seat}" for seat in t.state.order)
    t.round({1: 2, 2: 1, 3: 2, 4: 2, 5: 2, 6: 2})
    assert t.state.order == tuple(Draw(t.seed, "order:2").shuffled((1, 3, 4, 5, 6)))


def test_stages_are_the_viewers_own(table: Any) -> None:
    t = table(5, (5,))
    t.say(1)
    stages = {viewer: GAME.info(t.state, viewer).stage for viewer in ("a1", "a2", SPECTATOR, HOST, "nobody")}
    assert stages == {"a1": "wait", "a2": "describe", SPECTATOR: "watch", HOST: "watch", "nobody": "watch"}
    assert GAME.info(t.state, "a1").active_agent_ids == ("a2", "a3", "a4", "a5")
    t.say_all()
    assert (GAME.info(t.state, "a1").stage, GAME.info(t.state, "a1").phase) == ("vote", "voting")
    t.vote_all({1: 2, 2: 1, 3: 2, 4: 2, 5: 2})
    assert (GAME.info(t.state, "a2").stage, GAME.info(t.state, "a2").turn) == ("watch", 2)
    t.round({1: 5, 3: 5, 4: 5, 5: 1})
    done = GAME.info(t.state, "a2")
    assert (done.status, done.stage, done.phase, done.active_agent_ids) == ("ended", "done", "end", ())


def test_legal_actions_are_there_for_those_who_owe_one_and_say_what_is_accepted(table: Any) -> None:
    t = table(max_description=50)
    (describe,) = GAME.legal(t.state, "a1")
    assert describe.schema["properties"] == {"description": {"type": "string", "minLength": 1, "maxLength": 50}}
    t.say(1)
    assert GAME.legal(t.state, "a1") == ()
    assert GAME.legal(t.state, "nobody") == ()
    t.say_all()
    (vote,) = GAME.legal(t.state, "a2")
    assert vote.schema["properties"]["vote_number"] == {"enum": [1, 3, 4, None]}
    strict = table(allow_abstain=False)
    strict.say_all()
    assert GAME.legal(strict.state, "a2")[0].schema["properties"]["vote_number"] == {"enum": [1, 3, 4]}


def test_the_role_of_the_eliminated_is_announced_only_where_it_is_to_be(table: Any) -> None:
    votes = {1: 2, 2: 1, 3: 2, 4: 2, 5: 2}
    told, silent = table(5, (5,), reveal="role"), table(5, (5,))
    told.round(votes)
    silent.round(votes)
    assert told.last("votes_revealed").data["role"] == "civilian"
    assert told.view(1)["elimination_history"][0]["role"] == "civilian"
    assert "civilian" in told.last("votes_revealed").text
    assert "role" not in silent.last("votes_revealed").data
    assert "role" not in silent.view(1)["elimination_history"][0]


def test_the_end_shows_everything_or_as_little_as_is_asked_for(table: Any) -> None:
    votes = {1: 3, 2: 3, 3: 1, 4: 3}
    t, closed = table(), table(reveal_at_end=False)
    t.round(votes)
    closed.round(votes)
    assert t.last("game_over").data["word_pair"] == {"civilian": t.word(1), "undercover": t.word(3)}
    assert [player["role"] for player in t.view(1)["players"]] == ["civilian", "civilian", "undercover", "civilian"]
    assert t.view(4)["word_pair"] == {"civilian": t.word(1), "undercover": t.word(3)}
    assert t.last("game_over").text == (
        "The civilian side wins: no undercover player is left. "
        f"The civilians' word was {t.word(1)}, the other one {t.word(3)}. Undercover: a3."
    )
    assert closed.last("game_over").data == {"round": 1, "winner": "civilian", "reason": "all_undercover_out"}
    assert closed.view(1)["winner"] == "civilian"
    assert '"role"' not in str(closed.view(1)).replace("'", '"')
    assert closed.word(3) not in str(closed.view(1))


def test_announcements_are_in_the_matchs_language(table: Any) -> None:
    t = table(lang="zh", names={"a1": "小明"})
    t.say(1, "灰色的")
    assert t.events[-1].text == "小明：灰色的"
    t.say_all()
    t.vote_all({1: 3, 2: 3, 3: 1, 4: 3})
    assert t.last("votes_revealed").text == "票数：小明 1、a3 3。a3出局。"
    assert t.last("game_over").text.startswith("平民方获胜：卧底已全部出局。")
    assert t.refusal(1, "vote", {}).message == "本局已经结束。"


@pytest.mark.parametrize(
    ("agents", "config", "path"),
    [
        (["a1", "a2"], {}, "agents"),
        ([f"a{n}" for n in range(13)], {}, "agents"),
        (["a1", "a2", "a1"], {}, "agents[2]"),
        (["a1", "a2", "host"], {}, "agents[2]"),
        (["a1", "a2", "a3", "a4"], {"num_undercover": 2}, "num_undercover"),
        (["a1", "a2", "a3"], {"names": {"a9": "Ann"}}, "names"),
        (["a1", "a2", "a3"], {"names": {"a1": "Ann", "a2": "ANN "}}, "names.a2"),
        (["a1", "a2", "a3"], {"names": {"a1": "a2"}}, "names.a2"),
    ],
)
def test_a_table_that_cannot_be_played_is_refused(agents: list[str], config: dict[str, Any], path: str) -> None:
    with pytest.raises(ConfigError) as caught:
        GAME.setup(config, agents, 1)
    assert caught.value.path == path


@pytest.mark.parametrize("seed", [True, 1.0, "7", None, 1 << 64])
def test_a_seed_is_a_64_bit_integer(seed: Any) -> None:
    with pytest.raises(ConfigError, match="seed"):
        GAME.setup({}, SIX, seed)
