"""How often the offline referee answers rightly what can be checked: questions about passages of real novels."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from league_agents.agents.library import Knowledge
from league_agents.agents.offline_referee import OfflineReferee
from league_agents.evaluation.checkable import YES_NO_KEYS, Checkable, checkable_questions
from league_agents.evaluation.checkable_subject import CheckableSubject
from league_agents.games.q21.rules import COURSE, AnswerKey, RuleSet
from league_agents.kit.draw import Draw
from tests.support.books import cached_books

NOVELS = ("Adventures of Huckleberry Finn", "Emma", "Frankenstein", "Moby-Dick", "Persuasion")
PAIRS = 500
_A_BATCH = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One question, its truth, and what the referee said."""

    question: Checkable
    sentence: str
    answer: str

    @property
    def is_right(self) -> bool:
        return self.answer == self.question.letter


@dataclass(frozen=True, slots=True, kw_only=True)
class Accuracy:
    """What came out of a series of questions."""

    asked: tuple[Asked, ...]

    @property
    def right(self) -> float:
        """The share of right answers, those that could not be told counted as wrong."""
        return sum(each.is_right for each in self.asked) / len(self.asked)

    @property
    def wrong_kinds(self) -> Mapping[str, int]:
        """How many of each kind were not answered rightly."""
        return Counter(each.question.kind for each in self.asked if not each.is_right)


def measure_answers(
    *, pairs: int = PAIRS, seed: int | str = 1, rules: RuleSet = COURSE, novels: Sequence[str] = NOVELS
) -> Accuracy:
    """Ask the offline referee ``pairs`` questions about passages of the novels. Raises ``BooksMissing``."""
    knowledge = Knowledge(documents=cached_books(list(novels)))
    referee = OfflineReferee(rules=rules, knowledge=knowledge, seed=seed)
    # A fixed key is the same for all players, so no player writes another.
    keys = (rules.fixed_options,) if rules.answer_key is AnswerKey.FIXED else YES_NO_KEYS
    asked: list[Asked] = []
    match = 0
    while len(asked) < pairs:
        match += 1
        draw = Draw(seed, f"checkable/{match}")
        subject, secret = _target(knowledge, novels[match % len(novels)], draw)
        questions = list(checkable_questions(subject, draw, keys))[: min(_A_BATCH, pairs - len(asked))]
        listed = [
            {"question_number": n, "question_text": q.text, "options": list(q.options)}
            for n, q in enumerate(questions, start=1)
        ]
        reply = referee.get_answers(
            {"dynamic": {"match_id": f"C{match:04}", "player_id": "p", **secret, "questions": listed}, "service": {}}
        )
        answers = reply["answers"]
        assert isinstance(answers, list)
        asked += [
            Asked(question=question, sentence=subject.sentence, answer=row["answer"])
            for question, row in zip(questions, answers, strict=True)
        ]
    return Accuracy(asked=tuple(asked))


def _target(knowledge: Knowledge, title: str, draw: Draw) -> tuple[CheckableSubject, dict[str, object]]:
    volume, work = knowledge.volume(title), knowledge.work(title)
    assert volume is not None
    assert work is not None
    place = draw.below(len(volume.passages))
    passage = volume.passages[place]
    domain = draw.choice(sorted(knowledge.catalogue.domains))
    word = draw.choice([each for each in knowledge.words_of(domain) if each.isascii() and each.isalpha()])
    others = tuple(
        volume.passages[i].opening_sentence for i in draw.sample(range(len(volume.passages)), 12) if i != place
    )
    subject = CheckableSubject(
        sentence=passage.opening_sentence,
        paragraph=passage.text,
        word=word,
        domain=domain,
        author=work.author,
        year=work.year,
        others=others,
        domains=knowledge.catalogue.domains,
    )
    secret: dict[str, object] = {
        "book_name": title,
        "book_hint": "",
        "association_word": domain,
        "actual_opening_sentence": passage.opening_sentence,
        "actual_associative_word": word,
    }
    return subject, secret
