"""Word lists and syllables that values are drawn from."""

# (starts, middles, ends) of invented words; the last two sets carry accents.
ALPHABETS = (
    (
        "ma re lo vi na ti zo ra be ca do fe ga li mo ne pa ri sa ta vo la ki du".split(),
        "ra li no ve ta mi so ne da ri lu co ma ze ni va".split(),
        "na ra lo ti sa nte ro lia vi do ne mar lis zo rin della ta cci".split(),
    ),
    (
        "bren grim holm ulf ar hal thor sig wald stein eld brun kar lind berg nor ost ros vin frei".split(),
        "a e en er o ing el ar und in".split(),
        "berg wald stein holm dorf mar rik gard heim sen mund bert wig stad feld brand ven".split(),
    ),
    (
        "dra mir slav bog zla ka vla stan ra lju pet no kra jar ves do ze bla".split(),
        "di mi go sla o a ne be i va re".split(),
        "mir slav ko vic nik ska na ta dan lev gorod rin nov ja sha nka".split(),
    ),
    (
        "ha ki yu sa to mi ka shi ren ao ni tsu kei jun wei lin xia tan ye bao".split(),
        "ka mi ro na shi ri ko yo to su ha".split(),
        "ko ru shi to mi na ya ki ra sen zu wa ling mei tang hao yan".split(),
    ),
    (
        "quen bel tal fin mor gal ith cal syl tar wyn eri oss lun pell hesk dov crum tib".split(),
        "a i o e or an il um ad et".split(),
        "dor ra wen las rond thir bar nax low mere ford wick ley ton by combe dale".split(),
    ),
    (
        "zé jo bre lou hé né ña ço sé å ø lé má íri".split(),
        "ra li ño ré ta ní so ã ö ü é".split(),
        "né lia ção ón és ström ård ñez ière í rø ška dóttir mão".split(),
    ),
    (
        "mü jör dö fä ka sö be gür øy čer łu ře žil".split(),
        "ri na lle mä ve si ka de".split(),
        "ller lä nen ğlu en sson holt ün kić wić ská by".split(),
    ),
)

NAMES = """Ada Ahmed Aiko Alice Amir Ana Anna Ben Bruno Carla Carlos Chen Clara Daniel David Diego Dina Elena Elif Emma
Erik Eva Fatima Felix Finn Frida George Grace Hana Hannah Henry Hugo Ines Isaac Ivan Ivy Jack Jakob James Jan Jana Joe
John Jonas Julia Kai Karim Kate Kenji Lara Laura Lea Leo Lena Lily Lina Lisa Louis Luca Lucy Maja Marco Maria Mark
Marta Max Maya Mia Mina Mira Mohamed Nadia Nico Nina Noah Nora Olga Oliver Omar Oscar Paul Pedro Peter Priya Rafael
Ravi Rita Robin Rosa Ruth Sam Samir Sara Sofia Sven Tariq Theo Tim Tom Uma Vera Victor Wei Yara Yusuf Zoe""".split()

CITIES = """Amsterdam|Athens|Bangkok|Barcelona|Beijing|Berlin|Bern|Bogotá|Boston|Brussels|Budapest|Cairo|Chicago
Copenhagen|Dakar|Delhi|Dublin|Florence|Geneva|Hamburg|Hanoi|Havana|Helsinki|Istanbul|Jakarta|Kraków|Kyoto|Lagos|Lima
Lisbon|London|Lyon|Madrid|Manila|Marseille|Milan|Montreal|Mumbai|Munich|Nairobi|Naples|New York|Nice|Osaka|Oslo|Paris
Porto|Prague|Quito|Reykjavik|Riga|Rome|San Diego|Santiago|São Paulo|Seattle|Seoul|Seville|Shanghai|Singapore|Sofia
Stockholm|Sydney|Taipei|Tallinn|Tokyo|Toronto|Tunis|Turin|Valencia|Venice|Vienna|Vilnius|Warsaw|Zürich""".replace(
    "\n", "|"
).split("|")
CITY_PREFIXES = ("San", "Santa", "New", "Port", "Upper", "East", "North", "Saint", "Bad", "El")

ADJECTIVES = """blue red green warm crooked old new quiet loud shiny cold bright dark round flat heavy light wooden
silver golden broken clean dusty early empty fresh gentle hidden honest huge late lazy lonely lost lucky narrow odd
plain proud quick rare rough sharp short silent simple slow soft steep strange strong sweet tall thin tiny wide wild
winter summer spring paper glass stone yellow purple orange""".split()
NOUNS = """anchor apple bag ball basket bell bicycle bird blanket boat book bottle box bread bridge brush bucket button
candle cat chair cheese clock cloud coat coin cup curtain desk dog door drum engine fence field flag flower folder
forest fork garden gate guitar hammer harbor hat hill horse island jacket journal kettle key kite ladder lake lamp
leaf lemon letter library map market mirror moon mountain needle notebook ocean office oven package paint parcel
pencil piano picture pillow pipe plate pocket puzzle radio rain report ribbon river road roof rope sail salad school
screw shadow shelf ship shoe spoon station stone storm stove suitcase sun table ticket tower tree umbrella valley
wheel whistle window wire""".split()
VERBS = """clean fix paint find bring carry check close collect count cut draw fold hang hide move open order pack pick
print read repair return save sell send sew sort store test wash weigh wrap""".split()
GROCERIES = """apples bananas bread butter milk eggs flour sugar salt pepper rice pasta tomatoes onions garlic carrots
potatoes cheese yoghurt honey tea coffee juice olives lemons oranges pears plums beans lentils oats almonds soap
candles batteries towels napkins spinach mushrooms chocolate biscuits""".split()
COMMON = (
    NOUNS
    + ADJECTIVES
    + VERBS
    + """the the the a a and and of to in on with for from at by is are was will can we you they it he she my your our
about after again all almost also always another any around ask away back because been before begin behind best better
between both bring call came change come could day did do each end enough even every far few first follow found friend
give go good great group grow hand happy hard have head hear help here high hold home hope hour house how idea just keep
kind know last later learn leave left less let life like line list little live long look made make many may mean meet
mind money more morning most much must name near need never next night no not nothing now number off often only other
out over own page part people perhaps play please point put question ready really right room run said same say second
see seem should show side since so some soon start still stop such sure take talk tell than thank that their them then
there these thing think this those thought three through time today together too took turn two under until up us use
very wait walk want water way week well went what when where which while who why without word work world would write
year yes yesterday yet young""".split()
)

MESSAGES = (
    "I am running {k} minutes late",
    "the {a} {n} is on the {m}",
    "please bring the {a} {n} and the {m}",
    "we are meeting at the {n} near the {a} {m}",
    "happy birthday, {p}!",
    "the code for the {n} is {k}",
    "dinner is ready",
    "can you {v} the {n} before the {m} opens?",
    "I found your {a} {n} behind the {m}",
    "don't forget the {n}, it's under the {a} {m}",
    "the meeting with {p} moved to room {k}",
    "thanks for the {a} {n}, I really like it",
    "{p} and I will {v} the {n} tomorrow",
    "see you at {i}",
    "the {n} costs {k} euros, shall I buy it?",
    "my train is late, start without me",
    "I left the {n} at {p}'s place",
    "did you {v} the {a} {n}?",
    "we need {k} more {n}s for the {m}",
    "{i} called and asked about the {n}",
)
TASKS = (
    "{v} the {n}",
    "{v} the {a} {n}",
    "call {p}",
    "call {p} about the {n}",
    "buy {g}",
    "buy {g} and {g2}",
    "water the {n}s",
    "pay the {n} bill",
    "book the {a} {n}",
    "send {p} the {n}",
    "{v} the {n} for {p}",
    "take the {n} out of the {m}",
    "feed the {a} {n}",
    "renew the {n} pass",
    "pick up {p} from the {n}",
)
TITLES = ("{a} {n}", "The {n} of {i}", "{i}", "{n} and {m}", "{a} {n}, {a2} {m}", "Letters to {i}")
EVENTS = (
    "{n} review",
    "lunch with {p}",
    "{a} {n} workshop",
    "meeting with {p}",
    "{i} planning",
    "dentist",
    "{n} training",
    "call with {p} and {i}",
    "{a} {n} party",
    "visit to {i}",
    "interview with {p}",
    "project {i}",
)
TOPICS = (
    "{a} {n}",
    "how to {v} a {n}",
    "history of {i}",
    "{i} {n}",
    "best {n} for a {m}",
    "{n} with {m}",
    "why is the {n} {a}",
    "{p} {i}",
    "cheap {a} {n}s",
    "{g} recipe with {g2}",
    "{n} repair near {i}",
    "{i}",
)

CURRENCIES = (
    ("EUR", "euros", "€"),
    ("USD", "dollars", "US dollars"),
    ("GBP", "pounds", "British pounds"),
    ("JPY", "yen", "Japanese yen"),
    ("CHF", "francs", "Swiss francs"),
    ("SEK", "Swedish kronor"),
    ("INR", "rupees", "Indian rupees"),
    ("CNY", "yuan", "Chinese yuan"),
    ("PLN", "zloty", "Polish zloty"),
    ("CAD", "Canadian dollars"),
    ("MXN", "Mexican pesos"),
    ("BRL", "reais", "Brazilian reais"),
)
LANGUAGES = (
    ("English", "en"), ("French", "fr"), ("German", "de"), ("Spanish", "es"), ("Italian", "it"), ("Portuguese", "pt"),
    ("Dutch", "nl"), ("Polish", "pl"), ("Swedish", "sv"), ("Turkish", "tr"), ("Japanese", "ja"), ("Korean", "ko"),
    ("Chinese", "zh"), ("Arabic", "ar"), ("Hindi", "hi"), ("Greek", "el"), ("Czech", "cs"), ("Finnish", "fi"),
)
UNITS = (
    ("kilometres", "km"), ("km", "km"), ("miles", "mi"), ("metres", "m"), ("feet", "ft"), ("inches", "in"),
    ("centimetres", "cm"), ("kilograms", "kg"), ("kg", "kg"), ("pounds", "lb"), ("grams", "g"), ("ounces", "oz"),
    ("litres", "l"), ("gallons", "gal"), ("hours", "h"), ("seconds", "s"), ("kilometers", "km"), ("liters", "l"),
)
ROOMS = """kitchen|bedroom|bathroom|living room|hallway|office|garage|garden|attic|cellar|dining room|nursery
guest room|balcony|studio|library|workshop|laundry room""".replace("\n", "|").split("|")
COLORS = "red green blue white yellow orange purple pink turquoise amber violet teal".split()
GENRES = "jazz|rock|classical|folk|techno|reggae|blues|pop|soul|ambient|hip hop|metal|country|disco".split("|")
CUISINES = "Italian|Thai|Indian|Mexican|Greek|Japanese|Turkish|French|Korean|Spanish|vegan|Lebanese|Chinese".split("|")
DAYS = "today tomorrow tonight Monday Tuesday Wednesday Thursday Friday Saturday Sunday tomorrow today".split()
MONTHS = "January February March April May June July August September October November December".split()

EMOJI = "🎉 🙂 👍 🚀 🌧️ 🍕 ❤️ 😀 🐙 🎂 🌻 👩‍🍳 🏔️ ☕ 📦 🎸 🦊 👨‍👩‍👧 🇫🇷 🔑".split()
CJK = "会议改到周五请带文件明天见你好谢谢我们在车站等雨天猫今日は東京駅で待つ水山川空花月火木金土本人大小上下中"
