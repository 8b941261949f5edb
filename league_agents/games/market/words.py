"""The rules of the market in words, made from the configuration in force, and the lines that tell what happened."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from league_agents.games.market.state import MarketConfig

MOST_WORDS: Final = 500
"""Characters of a speech in a line; the event's data contain all of it."""

_LINES: Final[Mapping[str, Mapping[str, str]]] = {
    "en": {
        "opened": "The market opens: {sellers} sellers, {rounds} rounds, prices {least} to {most}, cost {cost}, "
        "{customers} customers.",
        "price": "{seller} asks {price}.",
        "price_with_speech": "{seller} asks {price}. “{speech}”",
        "missing": "{seller} names no price ({cause}) and sells nothing in this round.",
        "settled": "Round {round}: {winners} at {price}, {each} customers each.",
        "no_price": "Round {round}: nobody names a price, nobody sells.",
        "closed": "The market closes: {balances}.",
        "has": "{seller} has {balance}",
        "join": ", ",
    },
    "zh": {
        "opened": "市场开市：{sellers}位卖家，{rounds}轮，价格{least}到{most}，成本{cost}，{customers}位顾客。",
        "price": "{seller}报价{price}。",
        "price_with_speech": "{seller}报价{price}。“{speech}”",
        "missing": "{seller}没有报价（{cause}），本轮不成交。",
        "settled": "第{round}轮：{winners}以{price}成交，各得{each}位顾客。",
        "no_price": "第{round}轮：没有人报价，没有成交。",
        "closed": "市场收市：{balances}。",
        "has": "{seller}有{balance}",
        "join": "、",
    },
}


def said(lang: str, key: str, **values: object) -> str:
    """Return the line ``key`` in a language, with ``values`` filled in."""
    return _LINES[lang][key].format(**values)


def rules_text(config: MarketConfig, lang: str = "en") -> str:
    """Return the rules. Languages: ``en``, ``zh``; any other gives English."""
    return _chinese(config) if lang == "zh" else _english(config)


def _english(config: MarketConfig) -> str:
    least, most = config.price_range
    how = (
        "All prices of a round are sealed and opened together."
        if config.simultaneous
        else "Sellers name their prices in turn; each price is heard at once."
    )
    speech = f"A speech of up to {config.max_speech} characters may go with a price. " if config.allow_speech else ""
    return (
        f"You sell the same goods as the others for {config.max_rounds} rounds. In each round every seller names a "
        f"price, a whole number from {least} to {most}. {how} {speech}"
        f"The lowest price gets all {config.num_customers} customers; sellers with the same lowest price share them "
        f"evenly, and what cannot be shared is lost. Serving a customer costs {config.marginal_cost}: a winner earns "
        f"price minus {config.marginal_cost} for each customer, everybody else nothing. A seller that names no price "
        f"in time sells nothing in that round. Every seller starts with {config.initial_balance}; the highest balance "
        "at the end wins, and equal balances share the win."
    )


def _chinese(config: MarketConfig) -> str:
    least, most = config.price_range
    how = "同一轮的报价先密封，全部报完后同时公开。" if config.simultaneous else "卖家依次报价，每个报价立即公开。"
    speech = f"报价时可附一段不超过{config.max_speech}个字符的话。" if config.allow_speech else ""
    return (
        f"你与其他卖家出售同样的商品，共{config.max_rounds}轮。每轮每位卖家报一个价，须为{least}到{most}之间的整数。{how}{speech}"
        f"报价最低者得到全部{config.num_customers}位顾客；最低价相同者平分顾客，分不尽的顾客流失。"
        f"每服务一位顾客的成本是{config.marginal_cost}：胜者每位顾客赚得售价减去{config.marginal_cost}，其他人本轮收益为零。"
        f"未按时报价者本轮不成交。每位卖家的初始余额为{config.initial_balance}；结束时余额最高者获胜，余额相同则并列获胜。"
    )
