"""Lesson 10: thirty questions in a learner's words, and where in the course each is answered.

An answer is a lesson, or several, and a pattern: every section of that lesson that holds the pattern answers the
question. So it stays right when a heading changes or a paragraph is rewritten.
"""

import re

QUESTIONS = (
    ("How can I find something when no key fits exactly?", "01", r"\bdict\b"),
    ("What are the three roles that every word plays?", "01", r"three roles|Three projections"),
    ("Who came up with attention first?", "01", r"Bahdanau"),
    ("Why are recurrent networks bad at remembering the beginning?", "01", r"\bRNN\b|recurrent"),
    ("My exponentials become infinite and I get nan", "02", r"overflow"),
    ("Along which axis do the shares have to add up to one?", "02", r"column.*\bsum|\bsum.*column|softmax down"),
    ("Is my own code equal to what PyTorch computes?", "02 04", r"PyTorch"),
    ("There are several bugs in my function at once", "02", r"[Dd]ebug clinic"),
    ("Why the square root and not the number of dimensions itself?", "03", r"standard deviation"),
    ("The network stops learning because softmax is too sure", "03", r"[Jj]acobian|saturat"),
    ("How uncertain is a distribution, in nats?", "03", r"[Ee]ntropy"),
    ("How do I get the gradient without a huge matrix?", "03", r"[Bb]ackward"),
    ("Why is one head not enough?", "04", r"One row|one row|two look-?ups"),
    ("view mixes up my words when I cut the features into pieces", "04", r"transpose|[Dd]eal"),
    ("How many parameters does the layer have with eight heads?", "04", r"parameters"),
    ("How do I copy trained weights out of the library's module?", "04", r"from_torch|packed|same as PyTorch"),
    ("How can I check that nothing from later in the sentence is used?", "05", r"[Ll]eak|look at the past"),
    ("Sentences in one batch have different lengths", "05", r"[Pp]adding (token|mask)|filled up"),
    ("What if every word is hidden from a query?", "05", r"all −∞|Nothing left|safe softmax|A safe"),
    ("A translator has to look at the source sentence", "05", r"[Cc]ross-attention"),
    ("Does True mean hidden or visible in the library?", "05", r"True means|What True"),
    ("Does the model notice when I shuffle the words?", "06", r"[Ee]quivarian|shuffle"),
    ("Sine and cosine waves for the place in the sentence", "06", r"[Ss]inus"),
    ("Rotate vectors so that only the distance counts", "06", r"RoPE"),
    ("What happens with texts longer than in training?", "06", r"[Ll]onger than"),
    ("Punish words that are far away", "06", r"ALiBi"),
    ("How many multiplications does it take?", "07", r"FLOPs"),
    ("How much memory do the scores of a whole book need?", "07", r"[Bb]ytes"),
    ("How does the run time grow when the text gets twice as long?", "07", r"[Ee]xponent|slope"),
    ("From which length on does the quadratic part dominate?", "07", r"cross(es|ing|over)?\b|percentage of|overtak"),
)


def answering(lessons, pattern, found):
    """The sections (lesson, heading) of some Paragraphs that answer a question."""
    return {
        paragraph.place
        for paragraph in found
        if paragraph.lesson in lessons.split() and re.search(pattern, f"{paragraph.section} {paragraph.text}")
    }
