# Notes: what a reader decided about its input, as text with a kind.


class Note(str):
    """One decision about an input: a sentence that is also typed.

    kind : "unit", "columns", "insertions", "atoms", ...: what it is about
    option : the keyword or option that decides otherwise, as the program writes it; may be empty
    is_warning : whether the result is probably not what was wanted
    """

    kind: str
    option: str
    is_warning: bool

    def __new__(cls, text, kind="assumption", option="", is_warning=False):
        note = super().__new__(cls, text)
        note.kind, note.option, note.is_warning = kind, option, is_warning
        return note

    def __getnewargs__(self):
        return str(self), self.kind, self.option, self.is_warning
