"""Closed classes of English words, and open ones that can only prove that something is there."""

from __future__ import annotations


def _set_of(words: str) -> frozenset[str]:
    return frozenset(words.split())


FIRST_PERSON = _set_of("i me my mine myself we us our ours ourselves i'm i've i'll i'd we're we've we'll we'd let's")
FIRST_PLURAL = _set_of("we us our ours ourselves we're we've we'll we'd let's")
SECOND_PERSON = _set_of("you your yours yourself yourselves thou thee thy thine thyself ye you're you've you'll you'd")
MALE_PRONOUNS = _set_of("he him his himself he's he'd he'll")
FEMALE_PRONOUNS = _set_of("she her hers herself she's she'd she'll")
THIRD_PERSON = (
    MALE_PRONOUNS
    | FEMALE_PRONOUNS
    | _set_of("it its itself they them their theirs themselves it's they're they've they'd they'll")
)
DEMONSTRATIVES = _set_of("this that these those")
QUESTION_WORDS = _set_of("who whom whose what which when where why how")
INDEFINITE_PRONOUNS = _set_of(
    "somebody someone something anybody anyone anything everybody everyone everything nobody none nothing"
)
PERSONAL_PRONOUNS = FIRST_PERSON | SECOND_PERSON | THIRD_PERSON
PRONOUNS = PERSONAL_PRONOUNS | INDEFINITE_PRONOUNS
MAYBE_PRONOUNS = DEMONSTRATIVES | QUESTION_WORDS | _set_of("one all some any both each few many others")
DEFINITE, INDEFINITE = frozenset({"the"}), frozenset({"a", "an"})
ARTICLES = DEFINITE | INDEFINITE
DETERMINERS = ARTICLES | DEMONSTRATIVES | _set_of("my your his her its our their")
PREPOSITIONS = _set_of(
    "of in to for with on at from by about into through during including until against among throughout despite "
    "towards toward upon concerning beneath amid amidst beside besides beyond within without behind above across "
    "near under around between along past like"
)
MAYBE_PREPOSITIONS = _set_of("before after since as but over off down up out than")
CONJUNCTIONS = _set_of("and but or nor although because if unless whereas lest though while")
MAYBE_CONJUNCTIONS = _set_of("for yet so when since as before after until than once whether that where")
NEGATIONS = _set_of("not no never none nothing nobody nowhere neither nor cannot without ain't hardly scarcely barely")
SURE_NEGATIONS = NEGATIONS - _set_of("without hardly scarcely barely")
ADVERBS = _set_of(
    "very then there here now never always often sometimes soon once twice again nevertheless however therefore "
    "moreover perhaps quite rather too almost already still yet ever thus hence meanwhile seldom instead indeed "
    "otherwise furthermore nonetheless somewhat everywhere nowhere together away afterwards hardly scarcely"
)
NO_ADVERBS_IN_LY = _set_of(
    "family only early lovely ugly friendly lonely july italy fly reply belly lily jelly folly holy silly ally rely "
    "supply apply kindly daily sly bully elderly likely butterfly assembly homely manly"
)
AUXILIARIES = _set_of(
    "am is are was were be been being has have had do does did will would shall should can could may might must"
)
BE_FORMS = _set_of("am is are was were be been being i'm it's he's she's we're they're you're 'tis 'twas isn't wasn't")
TITLES = _set_of(
    "mr mrs miss ms dr sir lady lord captain colonel general major lieutenant sergeant professor king queen prince "
    "princess duke duchess count countess baron saint st aunt uncle judge admiral madame monsieur herr frau"
)
RANKS = _set_of("captain colonel general major lieutenant sergeant admiral corporal commodore marshal")
MONTHS = _set_of("january february april june july august september october november december")
MAYBE_MONTHS = _set_of("may march")
WEEKDAYS = _set_of("monday tuesday wednesday thursday friday saturday sunday")
SEASONS = _set_of("winter summer autumn midsummer midwinter springtime wintertime summertime")
MAYBE_SEASONS = _set_of("spring fall")
DAY_TIMES = _set_of(
    "morning noon afternoon evening night midnight dawn dusk twilight sunrise sunset midday nightfall daybreak"
    " forenoon tonight o'clock"
)
MAYBE_DAY_TIMES = _set_of(
    "day days hour hours evenings nights mornings moonlight lamplight sunlight light dark darkness clock today time "
    "breakfast supper"
)
CARDINALS = _set_of(
    "two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen "
    "nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred hundreds thousand thousands million "
    "dozen zero"
)
ORDINALS = _set_of(
    "first third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth fifteenth "
    "sixteenth seventeenth eighteenth nineteenth twentieth thirtieth hundredth thousandth"
)
MAYBE_NUMBERS = _set_of("one second once twice half quarter score pair couple double thrice both")
MEN = _set_of(
    "man men boy boys father fathers son sons brother brothers uncle husband gentleman gentlemen king prince duke lord"
    " nephew grandfather lad lads fellow monk widower papa baron mr sir"
)
WOMEN = _set_of(
    "woman women girl girls mother mothers daughter daughters sister sisters aunt wife wives lady ladies queen princess"
    " duchess niece grandmother maid widow mamma mama mrs miss madam mistress nun"
)
CHILDREN = _set_of("child children boy boys girl girls baby babies infant infants lad lads kid kids youngster")
RELATIVES = _set_of(
    "father mother brother sister son daughter uncle aunt cousin nephew niece husband wife grandfather grandmother "
    "parent parents family papa mamma mama mother-in-law father-in-law brother-in-law sister-in-law stepmother "
    "grandson granddaughter sons daughters brothers sisters cousins aunts uncles"
)
FEMALE_NAMES = _set_of(
    "mary jane anne anna emma elizabeth lizzy lydia kitty charlotte harriet isabella catherine alice elinor marianne "
    "lucy margaret eleanor sophia henrietta louisa fanny maria julia caroline georgiana susan sarah ellen helen emily "
    "agnes martha rebecca becky polly betty rose ruth rachel laura clara irene violet lily matilda amelia victoria "
    "justine safie jo beth amy meg dorothy wendy hester cathy nelly molly penelope"
)
MALE_NAMES = _set_of(
    "john james william george henry charles edward thomas tom robert richard frederick frank walter harry jack jim "
    "huck joe ben sid peter paul david daniel samuel sam joseph jacob abraham isaac elijah ahab ishmael queequeg "
    "starbuck stubb victor felix ernest algernon sherlock watson bob fred tim timothy ebenezer louis philip arthur "
    "alexander andrew simon stephen michael gregor sandy nicolo niccolo bernardo antonio cesare hamlet oliver "
    "edmund hugh ralph albert alfred adam noah moses jonah josef hans"
)
GIVEN_NAMES = FEMALE_NAMES | MALE_NAMES
COUNTRIES = _set_of(
    "france england scotland ireland wales britain germany italy spain portugal greece turkey russia china india japan"
    " egypt america persia austria prussia holland denmark sweden norway switzerland poland hungary mexico canada "
    "brazil australia africa"
) - {"africa"}
CITIES = _set_of(
    "london paris rome florence venice milan naples genoa geneva vienna berlin hamburg moscow petersburg madrid "
    "lisbon dublin edinburgh oxford cambridge bath bristol liverpool manchester york boston philadelphia chicago "
    "jerusalem athens constantinople baltimore nantucket davos munich prague petersburgh"
)
PLACES = COUNTRIES | CITIES | _set_of("europe asia africa atlantic pacific thames nile rhine danube alps")
PLACE_NOUNS = _set_of(
    "house park hall street road square river lake mount mountain bay castle abbey cape island sea ocean"
)
SPEECH_VERBS = _set_of(
    "said says cried replied answered asked exclaimed added returned whispered shouted continued observed remarked "
    "called muttered murmured began repeated interrupted"
)
PAST_FORMS = _set_of(
    "was were had did said came went saw stood took made knew felt thought told gave found left kept met fell began "
    "ran sat lay rose spoke wrote broke drew grew threw held led brought bought caught taught sought fought got lost "
    "sent spent built heard slept swept wept dealt meant became forgot forgave woke bore wore swore tore chose froze "
    "shook hid bit rode drove strove flew blew sang rang drank swam sprang shone hung stuck struck dug won sold paid "
    "laid crept leapt understood withdrew wasn't weren't hadn't didn't"
)
PRESENT_FORMS = _set_of(
    "is are am has have does do says isn't aren't hasn't haven't doesn't don't i'm it's there's that's"
)
FUTURE_FORMS = _set_of("will shall won't shan't i'll we'll you'll he'll she'll they'll")
MODALS = _set_of("can could may might must would should will shall cannot")
NO_PAST_IN_ED = _set_of("indeed hundred bed red need seed speed weed feed deed breed naked wicked sacred")
GRAMMAR_WORDS = _set_of(
    "sentence sentences paragraph passage text opening line word words mentioned named first second third last "
    "name names number question specific explicit particular any main same longer shorter more fewer kind type "
    "sort "
)
"""Words that a question uses about texts; they are not things that a text mentions."""
NO_PHRASE = _set_of("a an the or and not nor of that which to in with for longer shorter one kind type sort ")
"""Words that join or limit a category, so that the phrase is no longer its name."""
