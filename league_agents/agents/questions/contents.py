"""Checks of a claim against the words of a text and the known facts of its book.

Rule: a word that occurs means yes. A word that does not occur means no only if the question is about the word itself,
and only for a text that is known completely.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from league_agents.agents.questions.asked import MaskedQuestion
from league_agents.agents.questions.facts import Facts
from league_agents.agents.questions.reading import CandidateReading, Text, fold
from league_agents.agents.word_forms import stands_in
from league_agents.knowledge.words import content_words, stem, words_of

# The book.

_NAME = r"((?:[A-Z][\w.'’-]{0,30}|de|von|van|of)(?: (?:[A-Z][\w.'’-]{0,30}|de|von|van|of)){0,4})"
_AUTHORS = tuple(
    re.compile(pattern)
    for pattern in (
        rf"\b(?:written|penned|authored|novel|book|work|story|text) by {_NAME}",
        rf"\b(?:Did|did) {_NAME} (?:write|author|pen)\b",
        rf"\bIs {_NAME} the (?:author|writer)\b",
        rf"\b(?:author|writer)(?: of (?:the|this) \w+)? {_NAME} ?\?",
    )
)
_NOT_OF_THE_BOOK = r"\b(?:set|takes? place|happens?|born|died?|lived?|events?|early|late|mid|half|quarter|decade)\b"


def on_book(asked: MaskedQuestion, reading: CandidateReading, facts: Facts) -> bool | None:  # noqa: ARG001
    """Check claims about author and year."""
    if facts.author and facts.author != "Anonymous" and not asked.has(r"\b(?:century|before|after)\b"):
        for pattern in _AUTHORS:
            if named := pattern.search(asked.text):
                return _same_author(named[1], facts.author, is_surely_name=pattern is not _AUTHORS[-1])
    if facts.year is not None and asked.has(
        r"\b(?:publish|written|wrote|appear|released?|came? out|century|date|from)"
    ):
        return _on_year(asked, facts.year) if not asked.has(_NOT_OF_THE_BOOK) else None
    return None


def _same_author(named: str, author: str, *, is_surely_name: bool) -> bool | None:
    given, known = words_of(named), words_of(author)
    if not given or not known:
        return None
    if given[-1] == known[-1]:
        # Several authors may share a surname (the Brontës), so compare the initial of a given name too.
        return len(given) == 1 or given[0][0] == known[0][0]
    # "Is the author British" contains no name; "by Jane" is not enough of a name.
    return False if len(given) > 1 or (is_surely_name and given[0] not in known) else None


def _on_year(asked: MaskedQuestion, year: int) -> bool | None:
    if century := re.search(r"\b(1[0-9]|20|21)(?:st|nd|rd|th)[ -]century\b", asked.lowered):
        return (year - 1) // 100 + 1 == int(century[1])
    if hundreds := re.search(r"\b(1\d|20)00s\b", asked.lowered):
        return year // 100 == int(hundreds[1])
    named = [int(each) for each in re.findall(r"\b(1\d{3}|20\d\d)\b", asked.lowered)]
    if len(named) == 2 and asked.has(r"\bbetween\b|\bfrom\b"):
        return min(named) <= year <= max(named)
    if len(named) != 1:
        return None
    if asked.has(r"\bin or before\b|\bno later than\b|\bby\b"):
        return year <= named[0]
    if asked.has(r"\bbefore\b|\bearlier than\b|\bprior to\b"):
        return year < named[0]
    if asked.has(r"\bsince\b|\bin or after\b|\bor later\b"):
        return year >= named[0]
    if asked.has(r"\bafter\b|\blater than\b"):
        return year > named[0]
    return year == named[0] if asked.has(r"\bin\b") else None


# Words that occur.

_VERB = re.compile(
    r"\b(?:contain|include|use|feature|mention|name|have|has|refer to|speak of|talk about)s? (?:the |an? |any )?"
    r"(?:words? |names? |terms? |phrases? )?([^\W\d_][\w'’-]{1,40})[?.]?$",
    re.IGNORECASE,
)
_LITERAL = re.compile(r"\b(?:words?|names?|terms?|phrases?|contain|include)s?\b", re.IGNORECASE)


def on_words(asked: MaskedQuestion, reading: CandidateReading, facts: Facts) -> bool | None:
    """Check whether a word, a phrase or a word of a domain occurs."""
    if asked.is_about_word:
        return _on_associative_word(asked, reading, facts)
    text = asked.scope(reading)
    if text is None or asked.place is not None:
        return None
    found = _on_quotes(asked, text) if asked.quotes else _on_mention(asked, text, facts)
    return None if found is False and asked.may_mean_more(reading) else found


def _on_quotes(asked: MaskedQuestion, text: Text) -> bool | None:
    if asked.is_about_start or asked.is_about_end or asked.has(r"\b(?:before|after|mean|synonym|rhyme)"):
        return None
    present = [occurs(quote, text) for quote in asked.quotes]
    if asked.has(r"\b(?:more than once|at least twice|twice|repeated(?:ly)?|several times)\b"):
        wanted = [fold(word) for word in Text(asked.quotes[0]).words]
        return text.folded.count(wanted[0]) > 1 if len(present) == len(wanted) == 1 else None
    if len(present) == 1:
        return present[0]
    if asked.has(r"\beither\b|\bany of\b|\bor\b") and not asked.has(r"\band\b|\bboth\b"):
        return any(present)
    return all(present) if asked.has(r"\bboth\b|\band\b|\ball of\b") and not asked.has(r"\bor\b") else None


def _on_mention(asked: MaskedQuestion, text: Text, facts: Facts) -> bool | None:
    found = _VERB.search(asked.text)
    if found is None:
        return None
    wanted = fold(found[1])
    if words := list_for(wanted, facts):
        return any(occurs(word, text) for word in words)
    if occurs(wanted, text) or stem(wanted) in {stem(word) for word in text.vocabulary}:
        return True
    # "Mention the sea" may be true without the word; "contain the word sea" is not.
    return False if _LITERAL.search(asked.text) else None


def occurs(phrase: str, text: Text) -> bool:
    """Whether the words of the phrase occur in the text, adjacent and in this order."""
    words = [fold(word) for word in Text(phrase).words]
    if len(words) <= 1:
        return bool(words) and words[0] in text.vocabulary
    folded = text.folded
    return any(list(folded[i : i + len(words)]) == words for i in range(len(folded) - len(words) + 1))


def _on_associative_word(asked: MaskedQuestion, reading: CandidateReading, facts: Facts) -> bool | None:
    if (
        reading.word is None
        or asked.is_about_start
        or asked.is_about_end
        or asked.has(r"\bletters?\b|\bbefore\b|\bafter\b")
    ):
        return None
    word = fold(reading.word)
    if asked.has(_WORD_OCCURS) and not asked.quotes:
        text = None if asked.names_book else asked.scope(reading)
        if text is None or asked.is_partly_known(reading) or asked.place is not None:
            return None
        return stands_in(word, text.vocabulary)
    if asked.quotes:
        return any(fold(quote) == word for quote in asked.quotes) if asked.has(r"\bis\b|\bor\b") else None
    tail = _TAIL.search(asked.text)
    named = words_of(tail[1]) if tail else []
    if word in named:
        return True
    if len(named) > _MOST_DOMAIN_WORDS:
        return None
    for name in named:
        if words := list_for(name, facts):
            return word in {fold(each) for each in words}
    # Only another word of a known list decides: "Is the secret word silver?"
    is_known = len(named) == 1 and any(named[0] == fold(each) for words in facts.lists.values() for each in words)
    return False if is_known else None


_WORD_OCCURS = (
    r"\bword (?:itself )?(?:appear|occur|found|present|mentioned|used|stand)"
    r"|\bword in the (?:opening|first|sentence|paragraph|passage)"
    r"|\b(?:contain|include|mention|use)s? the \w+ word\b"
)
_TAIL = re.compile(r"\bword (?:is |be )?(?:an? |the |one of:? )?([^?.]{1,400})[?.]?$")
_MOST_DOMAIN_WORDS = 4
"""A longer phrase describes more than the domain of the word ("something that stands in a building")."""


def on_statements(asked: MaskedQuestion, reading: CandidateReading, facts: Facts) -> bool | None:  # noqa: ARG001
    """Check whether a known fact confirms the claim. A fact can only give a yes."""
    wanted = content_words(asked.text) - _ASKING
    if len(wanted) < 2 or asked.is_denied or asked.quotes:
        return None
    best = max((len(wanted & content_words(fact)) / len(wanted) for fact in facts.statements), default=0.0)
    return True if best >= 0.8 else None


_ASKING = content_words(
    "book novel story work sentence opening paragraph passage narrator character main involve mention"
)


def list_for(name: str, facts: Facts) -> Sequence[str]:
    """Return the words of the domain with this name in a question: ``colour``, ``colors``, ``animal``."""
    trunk = _SAME.get(stem(name), stem(name))
    if trunk == "animal":
        return [word for domain, words in facts.lists.items() if domain in _ANIMALS for word in words]
    return next((words for domain, words in facts.lists.items() if stem(domain.casefold()) == trunk), ())


_SAME = {stem("color"): stem("colour"), stem("creature"): stem("animal"), stem("relative"): stem("kinship")}
_ANIMALS = frozenset({"sea animal", "bird", "land animal", "insect"})
