"""Hints worded by a model, with the same checks as hints made by code.

Rule 1: the model proposes before it reads any untrusted text. Code takes the first proposal that names nothing secret,
copies nothing, and with which a search finds the target at a rank that the difficulty allows; otherwise it keeps its
own hint.
Rule 2: a proposal is a line of plain words. Text that could be an encoded secret is rejected.
"""

from __future__ import annotations

import re

from pydantic import BaseModel, Field

from league_agents.agents.asking import CallbackRun
from league_agents.agents.difficulty import Demands
from league_agents.agents.fence import one_line
from league_agents.agents.hints import breaks_hint, fits_hint, rank_of
from league_agents.agents.library import Knowledge
from league_agents.agents.questions.reading import Text
from league_agents.agents.referee_chain.evidence import sources_of
from league_agents.agents.secrecy import tells, tells_any
from league_agents.agents.targets import Secret
from league_agents.agents.word_forms import stands_in
from league_agents.games.q21.rules import RuleSet, TargetKind
from league_agents.games.q21.similarity import all_words, sentence_similarity
from league_agents.kit.model_work import ModelWorkUse, Why
from league_agents.kit.tokens import cut_to_tokens
from league_agents.knowledge.words import STOP_WORDS, words_of

STEP = "referee_hint"
MOST_OUTPUT_TOKENS = 300
PASSAGE_TOKENS = 420
FACTS_TOKENS = 200
_MOST_PROPOSALS = 5
_COPIED_WORDS = 3
_MOST_SIMILAR = 25.0
_LONGEST_WORD = 20
_SPELLED_OUT = re.compile(r"(?:(?<!\w)\w(?!\w)[\W_]*){3}")


class ProposedHints(BaseModel):
    """Hints as a model proposes them, the best first."""

    hints: list[str] = Field(description="three hints, the best first")


def hint_by_model(
    turn: CallbackRun, secret: Secret, knowledge: Knowledge, rules: RuleSet, demands: Demands
) -> str | None:
    """Return the first proposal that passes; ``None`` if there is none."""
    if not turn.may_ask(STEP):
        return None
    sources = sources_of(secret)
    reply = turn.ask(
        STEP,
        ProposedHints,
        max_output_tokens=MOST_OUTPUT_TOKENS,
        title=secret.brief.book_name,
        passage=cut_to_tokens(sources.passage, PASSAGE_TOKENS),
        facts=cut_to_tokens("\n".join(secret.facts.statements), FACTS_TOKENS).splitlines(),
        words=rules.hint_most_words,
        characters=rules.hint_characters[1],
        style=demands.hint_style,
        base=secret.brief.book_hint,
        taboo=_taboo(secret),
        is_passage=rules.target_kind is TargetKind.PASSAGE_OPENING,
    )
    if reply is None:
        return None
    proposals = [one_line(each, 300).strip("\"'“”‘’ ") for each in reply.hints[:_MOST_PROPOSALS]]
    hint = next((each for each in proposals if passes(each, secret, knowledge, rules, demands)), None)
    if hint is None:
        turn.settle(STEP, ModelWorkUse.REPLACED, Why.BROKE_RULES if proposals else Why.UNUSED)
    else:
        turn.settle(STEP, ModelWorkUse.USED)
    return hint


def passes(hint: str, secret: Secret, knowledge: Knowledge, rules: RuleSet, demands: Demands) -> bool:
    """Whether the hint keeps the rules, reveals nothing, and leads a search to an allowed rank."""
    if not fits_hint(hint, rules) or gives_away(hint, secret, knowledge) or not _is_plain(hint):
        return False
    is_passage = rules.target_kind is TargetKind.PASSAGE_OPENING
    sentence = secret.target.opening_sentence if is_passage else None
    rank = rank_of(knowledge, hint, secret.target.book_name, sentence)
    first, last = demands.hint_ranks
    if rank is None:
        return last is None
    return first <= rank and (last is None or rank <= last)


def gives_away(hint: str, secret: Secret, knowledge: Knowledge) -> bool:
    """Whether the hint names or copies the target, openly or in disguise."""
    target = secret.target
    work = knowledge.work(target.book_name)
    taboo = (target.book_name, secret.facts.title, secret.facts.author, (work and work.english_title) or "")
    if breaks_hint(hint, (target.opening_sentence, *taboo)):
        return True
    if stands_in(target.associative_word, Text(hint).vocabulary):
        return True
    words = [word for word in words_of(target.opening_sentence) if word not in STOP_WORDS and len(word) >= 5]
    if tells(hint, target.opening_sentence) or tells_any(hint, (target.associative_word, *words)):
        return True
    if sentence_similarity(hint, target.opening_sentence) > _MOST_SIMILAR:
        return True
    said, passage = all_words(hint), all_words(sources_of(secret).passage)
    runs = {tuple(passage[i : i + _COPIED_WORDS]) for i in range(len(passage) - _COPIED_WORDS + 1)}
    return any(tuple(said[i : i + _COPIED_WORDS]) in runs for i in range(len(said) - _COPIED_WORDS + 1))


def _is_plain(hint: str) -> bool:
    if any(character.isdigit() for character in hint) or _SPELLED_OUT.search(hint):
        return False
    return all(len(word) <= _LONGEST_WORD for word in hint.split()) or not hint.isascii()


def _taboo(secret: Secret) -> list[str]:
    """Return the words that the prompt forbids the model to use."""
    texts = (secret.target.book_name, secret.facts.author, secret.target.opening_sentence)
    words = [word for text in texts for word in words_of(text) if word not in STOP_WORDS]
    return list(dict.fromkeys([*words, *words_of(secret.target.associative_word)]))[:60]
