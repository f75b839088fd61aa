"""Noisy views of a message: typos, dropped words, chatter before and after it.

People write in a hurry and around the point. A view keeps what the message asks for; the words around it
come from the phrases below and from messages that need no skill.
"""
import random

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
