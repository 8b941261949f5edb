"""Secret words with the domains that people would announce for them, for measuring how domains are understood.

Rule: the agents are tuned on ``TUNED`` alone. ``HELD_OUT`` is for figures; whoever looks at its single losses has to
replace it.
"""

from __future__ import annotations

Pairs = tuple[tuple[str, str], ...]


def _pairs(lines: str) -> Pairs:
    rows = (line.partition(":") for line in lines.strip().splitlines())
    return tuple((word.strip(), domain.strip()) for domain, _, words in rows for word in words.split(","))


TUNED = _pairs("""
sea creatures: whale, lobster
kitchen tools: spatula, knife
feelings: envy, nostalgia
things in the sky: cloud, kite
farm animals: pig, goose
parts of a house: chimney, door
professions: carpenter, judge
means of transport: train, rowboat
musical instruments: cello
fruits: mango, cherry
vegetables: carrot
clothes: glove, shirt
family: aunt
weather phenomena: hail
things you find in a classroom: blackboard
precious stones: sapphire
time: century
jobs: plumber
tools: chisel, saw
places in a city: market, bridge
drinks: lemonade
parts of the body: elbow
mythology: dragon
royalty: crown, queen
school supplies: eraser
light: candle
war: trench, cannon
natural disasters: earthquake
birds of prey: falcon
spices: cinnamon
dairy products: butter
pets: hamster
geometric shapes: triangle
materials: leather
containers: bucket
emotions and moods: boredom
landscape: meadow
medicine: fever, bandage
religion: altar
money: debt, coin
nautical things: anchor, mast
crime and punishment: prison
winter: sled
garden: rake, hedge
music: melody
reading and writing: novel, ink
sleep: pillow
footwear: sandal
desserts: pudding
""")

HELD_OUT = _pairs("""
ocean animals: squid, dolphin
cooking utensils: ladle, whisk
human emotions: grief, jealousy
celestial bodies: comet
wild animals: wolf, bear
rooms in a house: attic, pantry
occupations: baker, shoemaker
vehicles: wagon, tram
string instruments: harp
things that grow on trees: pear
root vegetables: turnip
articles of clothing: scarf, bonnet
relatives: nephew
bad weather: thunder
office equipment: stapler
jewellery: necklace
units of time: fortnight
trades: weaver
carpenter's tools: hammer
buildings: lighthouse, barn
hot drinks: cocoa
facial features: chin
legendary creatures: unicorn
nobility: duchess
stationery: envelope
sources of light: lantern
weapons: dagger, musket
bodies of water: pond, canal
garden birds: robin
herbs: thyme
baked goods: biscuit
rodents: squirrel
shapes: oval
fabrics: velvet
kitchenware: kettle
virtues: patience, courage
geography: glacier
illnesses: measles
church: pulpit
finance: loan
parts of a ship: rudder, sail
criminals: burglar
seasons: autumn
flowers: daffodil
dances: waltz
things to read: newspaper
furniture: wardrobe, stool
headgear: helmet
sweets: toffee
games: chess
insects: wasp
""")

OTHER_LANGUAGES = _pairs("""
מאכלים: לחם
בעלי חיים: סוס
רגשות: שמחה
כלי מטבח: סכין
מזג אוויר: שלג
Tiere: Pferd
Küchengeräte: Löffel
Gefühle: Angst
Möbel: Tisch
Wetter: Regen
动物: 马
食物: 面包
情感: 爱
颜色: 红
天气: 雪
""")

CATEGORIES = tuple(
    tuple(each.strip() for each in line.split("|"))
    for line in """
yes | rose | flower | plant
yes | lily | flower | plant
yes | bat | land animal | mammal
yes | crane | bird | animal
yes | seal | sea animal | animal
yes | palm | tree | plant
yes | mint | herb | plant
yes | date | fruit | fruit
yes | turkey | bird | animal
yes | mole | land animal | animal
yes | organ | musical instrument | musical instrument
yes | bass | sea animal | fish
yes | pike | sea animal | fish
yes | bow | weapon | weapon
yes | lead | metal | metal
yes | iron | metal | metal
yes | ray | sea animal | fish
yes | cherry | fruit | fruit
yes | cherry | tree | tree
yes | plum | tree | plant
yes | violet | flower | flower
yes | olive | tree | tree
yes | gold | metal | metal
yes | chicken | bird | animal
yes | pitcher | kitchen tool | container
yes | nail | tool | tool
yes | cricket | insect | animal
yes | duck | bird | animal
yes | swallow | bird | bird
yes | mouse | land animal | animal
no | rose | flower | animal
no | crane | bird | plant
no | seal | sea animal | plant
no | bat | land animal | bird
no | palm | tree | animal
no | mint | herb | animal
no | date | fruit | animal
no | turkey | bird | mammal
no | organ | musical instrument | animal
no | bass | sea animal | plant
no | bow | weapon | plant
no | lead | metal | animal
no | ray | sea animal | bird
no | cherry | tree | animal
no | violet | flower | animal
no | gold | metal | plant
no | chicken | bird | plant
no | nail | tool | animal
no | cricket | insect | plant
no | mouse | land animal | vehicle
""".strip().splitlines()
)
"""Words that mean several things: (is it one?, secret word, announced domain, category of the question). Tuned on."""
