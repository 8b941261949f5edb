"""The scripted player's hints for the built-in words.

Rule: a hint does not contain its word, a shared hint contains neither word, and the hints of a pair are all different.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from msgspec import Struct

from league_agents.games.undercover.words import DEFAULT_PAIRS, Pair

_ZH: Final[tuple[tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]], ...]] = (
    (
        ("面皮包着馅料", "下锅煮熟就能吃", "北方南方都有人爱吃"),
        ("过年一家人围着包", "常蘸着醋吃", "形状像小元宝"),
        ("多半连汤一起端上来", "皮薄得透光", "汤里常撒紫菜和虾皮"),
    ),
    (
        ("女生包里常见的小东西", "用在嘴上的", "细细的一支，可以旋出来"),
        ("颜色有很多种可以选", "会在杯子上留下印子", "晚宴妆少不了"),
        ("主要是为了滋润", "冬天干燥时用得最多", "男生也会随身带一支"),
    ),
    (
        ("城市里的出行方式", "上下班时人特别多", "刷卡或扫码就能坐"),
        ("不怕路上堵车", "要先过安检", "大部分时间在地底下跑"),
        ("会在路边的站牌停", "遇到红灯要等", "司机就坐在最前面"),
    ),
    (
        ("里面很安静", "有许多书架", "爱学习的人常去"),
        ("凭证件可以把东西带走几周", "期末时座位很难抢", "逾期不还要罚款"),
        ("看中了要付钱", "门口摆着畅销榜", "常常附带一个咖啡角"),
    ),
    (
        ("下大雨时用得上", "用完要晾干", "出门前看天气决定带不带"),
        ("撑开来是个圆顶", "要用一只手举着", "大太阳的时候也有人撑"),
        ("穿在身上的", "骑车的人更喜欢它", "有帽子也有袖子"),
    ),
    (
        ("家里用来坐的", "搬家时要搬的东西", "有木头的也有皮的"),
        ("软得可以躺上去睡一觉", "一般摆在客厅对着电视", "能坐好几个人"),
        ("吃饭时每人一把", "有四条腿", "上课的时候人人坐着它"),
    ),
    (
        ("放在卫生间里", "用来擦干的", "棉做的比较吸水"),
        ("洗脸时天天用", "运动员常搭在脖子上", "一般挂在洗手台旁边"),
        ("洗完澡用来裹身体", "比较大，能围一圈", "酒店会叠好放在床上"),
    ),
    (
        ("夏天的时候多", "有翅膀会飞", "小孩喜欢追着它跑"),
        ("从毛毛虫变来的", "停在花上吸蜜", "翅膀花纹很漂亮"),
        ("常在水面上点一下就飞走", "翅膀透明", "飞得低就要下雨"),
    ),
    (
        ("四川人很喜欢", "热气腾腾的", "里面可以放很多种菜"),
        ("大家围着一个锅边涮边吃", "要自己调蘸料", "可以点鸳鸯的"),
        ("选好菜按重量算钱", "厨师替你煮好端过来", "一个人吃一大碗正好"),
    ),
    (
        ("能告诉你几点了", "有指针的也有电子的", "怕迟到的人离不开它"),
        ("早上把人吵醒", "多半放在床头", "很多人伸手把它按掉接着睡"),
        ("戴在身上的", "有的很名贵，是身份的象征", "有一根带子"),
    ),
    (
        ("圆圆的水果", "酸酸甜甜，维生素多", "冬天很常见"),
        ("常用来榨汁", "皮厚，多半要用刀切", "进口的很多，也叫脐什么的"),
        ("用手就能剥开", "一瓣一瓣很容易分", "皮晒干了可以泡水喝"),
    ),
    (
        ("有黑白两种键", "小孩学音乐常从它开始", "两只手一起弹"),
        ("很重，搬上楼要请好几个人", "里面有许多弦和小锤子", "音乐厅的舞台中央放着它"),
        ("要插电", "可以换成别的乐器的音色", "能戴着耳机练，不吵邻居"),
    ),
)

_EN: Final[tuple[tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]], ...]] = (
    (
        ("It has four strings", "You move a bow across it", "An orchestra has many of them"),
        ("It is held under the chin", "It often carries the melody", "Small enough to run with"),
        ("You sit down to play it", "It stands on a spike", "Its voice is deep and warm"),
    ),
    (
        ("It goes on bread", "It melts in a hot pan", "Keep it in the fridge"),
        ("It is made from cream", "Cows have a part in it", "Croissants are full of it"),
        ("It comes from plants", "It was invented as the cheap one", "It spreads even when it is cold"),
    ),
    (
        ("It has feathers", "It hunts mice and other small animals", "Its eyes are famous"),
        ("It is awake at night", "It can turn its head almost all the way round", "People call it wise"),
        ("It is on the arms of many countries", "It circles high over the mountains", "Some of them are bald"),
    ),
    (
        ("You sit on it at home", "It is soft", "It stands in the living room"),
        ("Three people fit on it", "You can lie down on it", "Guests sometimes sleep there"),
        ("There is room for one person", "Grandfather has his own", "It is nice beside a fireplace"),
    ),
    (
        ("It keeps you warm in winter", "You need two of them", "Children lose them all the time"),
        ("Each finger has its own place", "Surgeons and boxers wear it", "You can still type with it on"),
        ("Four fingers share one room", "It is good for snowballs", "Small children wear it on a string"),
    ),
    (
        ("There is water in it", "Ducks like it", "In winter it may freeze over"),
        ("You can sail across it", "Some are so big that you do not see the other shore", "Ferries cross it"),
        ("It may lie in a garden", "Frogs lay their eggs there", "You could wade through it"),
    ),
    (
        ("It is sour", "It is good in a drink", "A citrus fruit"),
        ("It is yellow", "It goes with tea and fish", "When life gives you some, make a drink of them"),
        ("It is green", "It belongs in a mojito", "Sailors ate it against scurvy"),
    ),
    (
        ("Kings lived there", "Tourists pay to get in", "It has very many rooms"),
        ("It has thick walls and towers", "It was built to keep enemies out", "There may be a moat around it"),
        ("It is all gold and mirrors", "It was built to impress", "It has wide gardens and ballrooms"),
    ),
    (
        ("It runs on rails", "You buy a ticket for it", "It stops at fixed places"),
        ("It goes from one city to another", "It leaves from a platform", "There may be a dining car"),
        ("It rings its bell in the street", "It stays inside the city", "It shares the road with cars"),
    ),
    (
        ("It is soft and stuffed", "It has a cover that can be washed", "People throw them at each other"),
        ("It lies on the bed", "Your head rests on it all night", "Some are filled with down"),
        ("It decorates the couch", "You put it on a hard chair", "It is often embroidered"),
    ),
    (
        ("You keep money in it", "A thief would like it", "You look for it when you pay"),
        ("It fits into a back pocket", "It folds in the middle", "It holds cards and notes"),
        ("It has a little clasp", "Coins jingle in it", "A lady may carry it on a strap"),
    ),
    (
        ("It may rhyme", "It has verses", "It is often about love"),
        ("You read it quietly", "Schoolchildren learn it by heart", "A sonnet is one"),
        ("You hear it on the radio", "It has a melody", "People join in at the chorus"),
    ),
)


class WordHints(Struct, frozen=True, kw_only=True):
    """The hints for one word."""

    shared: tuple[str, ...]
    """Hints that fit the other word of the pair as well."""

    own: tuple[str, ...]
    others: tuple[str, ...]
    """Hints that fit only the other word of the pair."""


def _by_word() -> dict[str, WordHints]:
    found: dict[str, WordHints] = {}
    for lang, table in (("zh", _ZH), ("en", _EN)):
        pairs: tuple[Pair, ...] = DEFAULT_PAIRS[lang]
        for (first, second), (shared, of_first, of_second) in zip(pairs, table, strict=True):
            found[first] = WordHints(shared=shared, own=of_first, others=of_second)
            found[second] = WordHints(shared=shared, own=of_second, others=of_first)
    return found


HINTS: Final[Mapping[str, WordHints]] = _by_word()

GENERIC: Final[Mapping[str, tuple[str, ...]]] = {
    "zh": (
        "平时不难见到",
        "大家应该都知道",
        "我小时候就认识它",
        "提起它会想到一些具体的场合",
        "不同的人对它的看法不太一样",
        "它有大有小",
        "价钱有高有低",
        "说得太细就会露馅",
        "没有它也能过日子，但会不方便",
        "我上个星期还遇到过",
        "问十个人有九个说得出来",
        "电影里也出现过",
        "小朋友也能认出它",
        "它的样子这些年变化不大",
        "我家里人比我更熟悉它",
        "写作文时可以拿来当题目",
        "第一次见到时觉得很新鲜",
        "不用解释大家也明白",
        "猜谜语时常用到它",
        "换一个地方，叫法可能不同",
    ),
    "en": (
        "Most people have come across it",
        "I have known it since I was small",
        "It makes me think of certain days",
        "People do not all feel the same about it",
        "There are bigger and smaller ones",
        "One would notice if it were gone",
        "I could point at one",
        "If I said more, I would give it away",
        "One can do without it, but not gladly",
        "I came across it only last week",
        "Nine people in ten could name it",
        "It has been in films",
        "A child would know it",
        "It has not changed much over the years",
        "My family knows more about it than I do",
        "One could write a school essay about it",
        "The first time was something special",
        "It needs no explaining",
        "It would make a good riddle",
        "Elsewhere they may have another name for it",
    ),
}
"""Hints that fit nearly every word."""

NUMBERED: Final[Mapping[str, str]] = {
    "zh": "我（{player_id}号）第{round}轮要补充的第{count}点，和前面说的不同",
    "en": "What I, number {player_id}, would add in round {round}, remark {count}, is something new",
}
