"""The market at a terminal: a price a round, with a sentence if sellers may speak."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from league_agents.games.game import Action, Event, LegalAction
from league_agents.games.market.words import said
from league_agents.games.person import Reader, Unclear, View, number_and_words

_WORDS: Final[Mapping[str, Mapping[str, str]]] = {
    "en": {
        "round": "Round {round} of {max_rounds}. {balances}. A customer costs {cost} to serve.",
        "prompt": "{me}, your price, {least} to {most}?{speech} [{usual}] ",
        "speech": " Words to the others may follow it.",
        "unclear": "Write a price from {least} to {most}.",
        "only": "Write the price alone; this market is silent.",
        "long": "Say it in at most {most} characters.",
    },
    "zh": {
        "round": "第 {round} 轮，共 {max_rounds} 轮。{balances}。每位顾客成本 {cost}。",
        "prompt": "{me}，请报价（{least} 到 {most}）{speech}：[{usual}] ",
        "speech": "，后面可以写给其他人的话",
        "unclear": "请输入 {least} 到 {most} 的价格。",
        "only": "请只输入价格；这个市场不许说话。",
        "long": "最多 {most} 个字符。",
    },
}


def told(event: Event, reader: Reader) -> Sequence[str]:
    """Return the lines of an event."""
    if event.kind == "price_submitted" and not reader.sees_all:
        return ()  # the person's own, or one that it is shown before it answers
    if event.kind == "market_result" and not reader.sees_all:
        return (*_offers(event.data["prices"], event.data["speeches"], reader), event.text)
    return (event.text,)


def shown(view: View, legal: Sequence[LegalAction], reader: Reader) -> Sequence[str]:  # noqa: ARG001
    """Return the round, all balances and the offers made so far."""
    balances = [
        said(reader.lang, "has", seller=reader.called(each["agent_id"]), balance=each["balance"])
        for each in view["sellers"]
    ]
    line = _WORDS[reader.lang]["round"].format(
        round=view["round"] + 1,
        max_rounds=view["max_rounds"],
        balances=said(reader.lang, "join").join(balances),
        cost=view["terms"]["marginal_cost"],
    )
    prices = {each["agent_id"]: each["price"] for each in view["offers"]}
    speeches = {each["agent_id"]: each["speech"] for each in view["offers"]}
    return ("", line, *_offers(prices, speeches, reader))


def prompt(view: View, legal: Sequence[LegalAction], advice: Action, reader: Reader) -> str:  # noqa: ARG001
    """Return the prompt for a price."""
    words = _WORDS[reader.lang]
    price = legal[0].schema["properties"]["price"]
    speech = words["speech"] if "speech" in legal[0].schema["properties"] else ""
    return words["prompt"].format(
        me=reader.me, least=price["minimum"], most=price["maximum"], speech=speech, usual=advice.data["price"]
    )


def list_of(advice: Action) -> None:
    """Return ``None``: an answer is one line."""


def read(
    lines: Sequence[str],
    view: View,  # noqa: ARG001
    legal: Sequence[LegalAction],
    advice: Action,
    reader: Reader,
) -> Action:
    """Return the action for a price with words; an empty line takes the scripted seller's price."""
    words, properties, typed = _WORDS[reader.lang], legal[0].schema["properties"], lines[0].strip()
    least, most = properties["price"]["minimum"], properties["price"]["maximum"]
    if not typed:
        return advice
    found = number_and_words(typed)
    if found is None or not least <= found[0] <= most:
        raise Unclear(words["unclear"].format(least=least, most=most))
    price, speech = found
    if speech and "speech" not in properties:
        raise Unclear(words["only"])
    if speech and len(speech) > properties["speech"]["maxLength"]:
        raise Unclear(words["long"].format(most=properties["speech"]["maxLength"]))
    return Action(type=legal[0].type, data={"price": price, **({"speech": speech} if speech else {})})


def _offers(prices: Mapping[str, int | None], speeches: Mapping[str, str], reader: Reader) -> list[str]:
    """Return the others' prices and speeches as lines."""
    lines = []
    for seller, price in prices.items():
        speech = speeches.get(seller, "")
        if price is not None and seller != reader.viewer:
            key = "price_with_speech" if speech else "price"
            lines.append(said(reader.lang, key, seller=reader.called(seller), price=price, speech=speech))
    return lines
