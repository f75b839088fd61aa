"""Noisy views of a message: typos, dropped words, chatter before and after it.

People write in a hurry and around the point. A view keeps what the message asks for; the words around it
come from the phrases below and from messages that need no skill.
"""
import random
import re

BEFORE = """hey|hi|hello there|ok so|quick one|morning!|sorry to bother you again|one more thing|long day, but|
so I was talking to my colleague about this yesterday and|before I forget|not sure if you can do this but|
my boss just walked in and asked for this|this is probably a stupid question|we tried this last year and gave up|
I have been at this since breakfast and my coffee is cold|ignore what I said earlier, that is sorted|
the build took ages again, anyway|context: small team, old laptop, too many tabs open|forwarding this from the chat|
long story short|as discussed|for the third time this week|I am on the train so excuse the typing|bear with me|
the intern left on Friday and nobody wrote anything down, so now it is mine|honestly I have no idea where to begin|
you helped me with something else this morning, thanks for that|FYI this is for the Tuesday meeting|urgent-ish|
budget is tight and the deadline was moved, which is why I ask""".replace("\n", "").split("|")
AFTER = """thanks|thx!|cheers|no rush|asap please|if that makes sense|let me know|any ideas?|need it by tonight|
the rest can wait until next week|and then I am off for lunch|my manager wants to see it on Monday|
oh and the office is closed on Thursday|not a big deal if it is not perfect|I promise this is the last one today|
we can talk about the other stuff later|sent from my phone|sorry for the wall of text|does that work?|
last time it took two people a whole day|please keep it simple, I am tired|hope that is clear|
the cat just walked over the keyboard so ignore any odd characters|that is all for now""".replace("\n", "").split("|")
KEYS = {a: b for a, b in zip("abcdefghijklmnopqrstuvwxyz", (
    "sqz", "vng", "xvd", "sfe", "wrd", "dgr", "fht", "gjy", "uok", "hkn", "jli", "kop", "njk", "bmh", "ipl", "ol",
    "wa", "etf", "adw", "ryg", "yij", "cbg", "qes", "zcs", "tuh", "xas"))}


STORIES = """{who} from {where} asked for it {when} and then went on holiday|the {thing} has been broken since {when} and nobody fixes it|
we had {n} people in the meeting and not one of them had read the {thing}|{who} says it is easy, but {who} says that about everything|
the last person who knew about this was {who}, who left {when}|I tried for {n} hours {when} and gave up, then my {thing} died|
our {where} is {n} people, two of them part time|there is a spreadsheet from {who} with {n} tabs but please do not look at it|
{who} wrote a {n} page mail about it, mostly about the coffee|it worked {when}, I swear|we pay {n} euros a month for this and I get nothing but mails from {where}|
{who} brought a {thing} to the office, do not ask|the train is full and my battery is at {n} percent|
budget for {where} is {n}k until {when}, so no new licences|I am {who}, the new one in {where}, they gave me this on my first day|
last time {who} did it by hand and it took {n} days|the {where} wants it {when}, of course|my {thing} is on a call with {where} in the next room so I type quietly|
it is not urgent but {who} asks every day|somebody wrote 'fix later' next to it in {when}|the folder is called final_{n} and there is also final_{n}_new|
I know I should have asked {when}|{who} and {who} do not agree on anything, so I decide|we moved from {where} to the new building and half of it got lost|
{n} tickets about this {when}, {n} of them from {who}|the old {thing} was better, everybody says so|I have a photo of the whiteboard but {who} stood in front of it|
please do not tell {who}, it is a surprise for {where}|the customer is nice but calls {n} times a day|
I wrote the first half myself and then the {thing} crashed|as you know from {when}, or maybe you do not|Monday {who} is back and wants to see something""".replace("\n", "").split("|")
FILLERS = {"who": "Marta Piotr Aylin Jonas Priya Kwame Ingrid Tom Beatriz Yusuf Chloe Dmitri Hana Lars my_boss the_intern our_CTO the_client".split(),
           "where": "finance sales marketing legal support the_warehouse the_Lisbon_office HR the_board procurement ops the_agency".split(),
           "when": "yesterday last_Tuesday in_March two_years_ago this_morning before_the_reorg on_Friday over_the_summer last_quarter".split(),
           "thing": "laptop printer projector coffee_machine phone guitar doorbell old_server whiteboard fridge chair dog".split(),
           "n": "3 7 12 14 40 60 200 1.5 9".split()}


def story(rng):
    """A sentence around the point, with made-up people and places."""
    out = rng.choice(STORIES)
    for name, words in FILLERS.items():
        while "{" + name + "}" in out:
            out = out.replace("{" + name + "}", rng.choice(words).replace("_", " "), 1)
    return out


def wall(message, chatter, rng):
    """The message inside a wall of 30 to 80 words of stories and small talk, its sentences sometimes apart."""
    size, end = rng.randint(30, 80), rng.choice((". ", ". ", ", ", " - "))
    parts = re.split(r"(?<=[.!?])\s+", message) if rng.random() < 0.5 else [message]
    words = 0
    while words < size:
        said = story(rng) if rng.random() < 0.65 else rng.choice((BEFORE + AFTER) if rng.random() < 0.5 else chatter)
        parts.insert(rng.randint(0, len(parts)), said)
        words += len(said.split())
    out = end.join(p.rstrip(".") if end != " - " else p for p in parts)
    out = out.lower() if rng.random() < 0.3 else out
    return " ".join(typo(w, rng) if rng.random() < 0.03 else w for w in out.split(" "))


def typo(word, rng):
    """One slip of the fingers in a word of at least four letters."""
    if len(word) < 4 or not word.isascii():
        return word
    at = rng.randrange(1, len(word) - 1)
    kind = rng.randrange(4)
    if kind == 0:
        return word[:at] + word[at + 1] + word[at] + word[at + 2:]
    if kind == 1:
        return word[:at] + word[at + 1:]
    if kind == 2:
        return word[:at] + word[at] + word[at:]
    near = KEYS.get(word[at].lower())
    return word[:at] + rng.choice(near) + word[at + 1:] if near else word


def noisy(message, chatter, rng, long=True):
    """A view of the message: one or more of typos, dropped words and chatter from `chatter`."""
    words = message.split()
    kinds = rng.sample(("typos", "drop", "around"), rng.choice((1, 1, 2)))
    if "typos" in kinds:
        share = rng.uniform(0.03, 0.15)
        words = [typo(w, rng) if rng.random() < share else w for w in words]
    if "drop" in kinds and len(words) > 6:
        share = rng.uniform(0.05, 0.2)
        words = [w for w in words if rng.random() >= share] or words
    text = " ".join(words)
    if "around" in kinds:
        room = rng.choice((8, 20, 45)) if long else 8

        def some(phrases):
            out = []
            while len(" ".join(out).split()) < room and len(out) < 4:
                out.append(rng.choice(phrases if rng.random() < 0.6 else chatter))
                if rng.random() < 0.4:
                    break
            return rng.choice((". ", ", ", " ")).join(out)

        where = rng.choice(("before", "after", "both"))
        if where != "after":
            text = f"{some(BEFORE)}{rng.choice(('. ', ', ', ' - ', ' '))}{text}"
        if where != "before":
            text = f"{text}{rng.choice(('. ', ' ', ', '))}{some(AFTER)}"
    return text


def chatter_rows(rows):
    """Short messages that need no skill; every fifth row is left to evaluation."""
    return [r["message"] for n, r in enumerate(rows) if n % 5 and len(r["message"].split()) <= 25
            and r["kind"] in ("chat", "knowledge", "simple", "odd")]


def held_out_views(messages, rows, seed=5):
    """Messages inside 40 to 120 words of chatter that no training step saw, for measuring."""
    rng = random.Random(seed)
    other = [r["message"] for n, r in enumerate(rows) if n % 5 == 0 and len(r["message"].split()) <= 30]
    out = []
    for message in messages:
        size, parts = rng.randint(40, 120), [message]
        while sum(len(p.split()) for p in parts) < size:
            parts.insert(rng.randint(0, len(parts)), rng.choice(other))
        words = " ".join(parts).split()
        out.append(" ".join(typo(w, rng) if rng.random() < 0.04 else w for w in words))
    return out
