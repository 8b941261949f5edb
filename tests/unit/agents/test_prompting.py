"""Prompts from files."""

from __future__ import annotations

from importlib import resources

import jinja2
import pytest

from league_agents.agents import prompting
from league_agents.agents.fence import whole_words
from league_agents.agents.library import Knowledge
from league_agents.agents.llm_player import LlmPlayer
from league_agents.agents.prompting import DIVIDER, render
from league_agents.agents.secrecy import canary_of
from league_agents.games.q21.rules import COURSE, PRD, RuleSet
from league_agents.kit.tokens import tokens_in
from league_agents.llm.chat import Chat
from league_agents.llm.exchange import Patience
from league_agents.llm.port import Purpose
from tests.support.scripted_model import ScriptedBackend

PURPOSE = Purpose(match_id="0101001", callback="get_round_start_info", step="referee_hint")
VALUES: dict[str, object] = {
    "title": "Emma",
    "passage": "It was a fine day.",
    "facts": [],
    "words": 15,
    "characters": 200,
    "style": "fair",
    "base": "A hint.",
    "taboo": ["fine"],
    "is_passage": True,
}


def files() -> list[str]:
    folder = resources.files("league_agents.agents").joinpath("prompts")
    return sorted(each.name for each in folder.iterdir() if each.name.endswith(".md"))


def test_every_prompt_has_two_parts_and_fences_whatever_is_put_into_its_material() -> None:
    assert len(files()) >= 3
    for name in files():
        text = resources.files("league_agents.agents").joinpath("prompts", name).read_text(encoding="utf-8")
        system, divider, user = text.partition(DIVIDER)
        assert divider, name
        assert "<<" in system or "fence" in system, f"{name} does not say what fences are"
        values = [part.partition("}}")[0] for part in user.split("{{")[1:]]
        # What an arena's own schema says is no stranger's text, nor is a number.
        values = [value for value in values if "| length" not in value and value.strip() != "pool_size"]
        unfenced = [value for value in values if "fenced(" not in value and "fenced_lines(" not in value]
        assert [value for value in unfenced if "one_line(" not in value and " each." not in value] == [], name


def test_equal_values_give_equal_prompts_and_a_key_changes_only_the_mark() -> None:
    first, second, other = (render(PURPOSE, key=key, **VALUES) for key in ("a", "a", "b"))
    assert first == second
    assert first.digest == second.digest
    assert first.user == other.user
    assert canary_of(first) != canary_of(other)


def test_a_missing_value_fails_at_once() -> None:
    with pytest.raises(jinja2.UndefinedError):
        render(PURPOSE, key="", **{name: value for name, value in VALUES.items() if name != "title"})


def test_a_value_cannot_be_a_template() -> None:
    shown = render(PURPOSE, key="", **{**VALUES, "passage": "{{ taboo }} {% for x in y %}"})
    assert "{{ taboo }} {% for x in y %}" in shown.user


def test_a_prompt_that_does_not_exist_is_named() -> None:
    with pytest.raises(FileNotFoundError, match="no_such_step"):
        render(Purpose(match_id="", callback="", step="no_such_step"))
    assert prompting.DIVIDER.strip() == "--- user ---"


@pytest.mark.usefixtures("slow_time")
@pytest.mark.parametrize("rules", [PRD, COURSE], ids=lambda rules: rules.name)
def test_the_system_part_is_the_same_in_every_game_and_long_enough_to_be_cached(
    rules: RuleSet, knowledge: Knowledge
) -> None:
    """OpenAI's cache begins at 1,024 tokens, and so does Anthropic's for most models."""
    backend = ScriptedBackend(lambda _request: "no")
    chat = Chat(backend, Patience(retries=0))
    for seed, hint in ((1, "a lantern by the river"), (2, "somebody in the hills")):
        agent = LlmPlayer(rules=rules, knowledge=knowledge, seed=seed, models=lambda _: chat)
        brief = {"book_name": "The Village Book" if seed == 1 else "", "book_hint": hint, "association_word": "tree"}
        agent.get_questions({"dynamic": {"match_id": "0101001", **brief}, "service": {}})
    prompts = [request.prompt for request in backend.requests if request.correction is None]
    stable = {prompt.system[: prompt.stable] for prompt in prompts}
    assert (len({prompt.user for prompt in prompts}), len(stable)) == (2, 1)
    assert tokens_in(stable.pop()) >= 1_150  # the estimate is rather high
    assert all(str(canary_of(prompt)) not in prompt.system[: prompt.stable] for prompt in prompts)


@pytest.mark.parametrize("name", files())
def test_every_prompt_of_a_step_shows_a_worked_example(name: str) -> None:
    text = resources.files("league_agents.agents").joinpath("prompts", name).read_text(encoding="utf-8")
    system = text.partition(DIVIDER)[0]
    assert name == "arena.md" or "An example, from another game" in system


def test_a_text_that_is_cut_ends_with_a_whole_word() -> None:
    text = "Does the opening sentence mention an umbrella, or anything like it?"
    assert whole_words(text, 200) == text
    assert whole_words(text, len(text)) == text
    for most in range(12, len(text)):
        cut = whole_words(text, most)
        assert len(cut) <= most
        assert cut.endswith("…")
        assert text.startswith(cut[:-1])
        assert text[len(cut) - 1] in " ,"
