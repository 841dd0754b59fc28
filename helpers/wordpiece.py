"""Lesson 10: text cut into the pieces that a BERT encoder knows, as its authors cut it (WordPiece).

A text is cleaned, split at spaces and punctuation, and each word is cut from the left into the longest pieces
that stand in the vocabulary. Source: Devlin et al. 2019; Wu et al. 2016, section 4.1.
"""

import unicodedata

UNKNOWN, START, END = "[UNK]", "[CLS]", "[SEP]"
LONGEST_WORD = 100  # characters; a longer word becomes [UNK], as in the original
IDEOGRAPHS = (  # each of these characters is a word by itself
    (0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0xF900, 0xFAFF), (0x20000, 0x2A6DF),
    (0x2A700, 0x2B73F), (0x2B740, 0x2B81F), (0x2B920, 0x2CEAF), (0x2F800, 0x2FA1F),
)  # fmt: skip


class WordPiece:
    """The pieces of a vocabulary, and texts as their numbers.

    vocabulary: list of pieces; a piece's number is its place in it. "##" marks a piece that continues a word.
    """

    def __init__(self, vocabulary):
        self.pieces = list(vocabulary)
        self.numbers = {piece: number for number, piece in enumerate(self.pieces)}

    def encode(self, text, longest=256):
        """Numbers of a text's tokens, [CLS] first and [SEP] last.

        longest: tokens kept, those two included. Returns a list of int.
        """
        tokens = [START, *self.tokens(text)[: longest - 2], END]
        return [self.numbers[token] for token in tokens]

    def decode(self, numbers):
        """The pieces that some numbers stand for, as a list of str."""
        return [self.pieces[number] for number in numbers]

    def tokens(self, text):
        """The pieces of a text, as a list of str."""
        return [piece for word in words(text) for piece in self.cut(word)]

    def cut(self, word):
        """One word as the longest pieces that the vocabulary has, from the left; ["[UNK]"] where it cannot be cut."""
        pieces, start = [], 0
        while start < len(word):
            mark = "##" if start else ""
            ends = range(len(word), start, -1)
            end = next((end for end in ends if mark + word[start:end] in self.numbers), None)
            if end is None or len(word) > LONGEST_WORD:
                return [UNKNOWN]
            pieces.append(mark + word[start:end])
            start = end
        return pieces


def words(text):
    """A text in lower case without accents, split at spaces and around each punctuation mark, as a list of str."""
    spaced = "".join(_spaced(character) for character in text)
    plain = unicodedata.normalize("NFD", spaced)
    plain = "".join(c for c in plain if unicodedata.category(c) != "Mn").lower()
    return "".join(f" {c} " if _is_punctuation(c) else c for c in plain).split()


def _spaced(character):
    """A character as the original cleans it: nothing, a space, or itself, ideographs between spaces."""
    if character in "\t\n\r" or unicodedata.category(character) == "Zs":
        return " "
    if character in "\0\ufffd" or unicodedata.category(character) in ("Cc", "Cf", "Co"):
        return ""
    if any(first <= ord(character) <= last for first, last in IDEOGRAPHS):
        return f" {character} "
    return character


def _is_punctuation(character):
    """Whether a character stands for itself: ASCII's marks and symbols, and all that Unicode calls punctuation."""
    ascii_mark = character.isascii() and character.isprintable() and not character.isalnum() and character != " "
    return ascii_mark or unicodedata.category(character).startswith("P")
